//! The layout of a stage's weights in memory.
//!
//! Files hold one table for each tuple and value range, indexed by the paper's Eq. 3. In memory, tuples that share
//! most cells (in some image of one of them) are paired: the shared cells are the most significant digits of the index,
//! the other cells the least significant, and the weights of the two tuples alternate. Accessing a weight of one tuple
//! then mostly loads the other's weight in the same cache line, and always in the same page.

use afterstate_game::Symmetry;

use crate::{LANES, Lookup, NetworkSpec, TableId, Tuple, lookup::scatter};

/// The alignment of tables: a cache line.
const ALIGNMENT: u64 = 64;

/// Shorter tuples are not paired: their tables stay in the caches anyway.
const SHORTEST_PAIRED: usize = 5;

/// Tables with more weights are not paired: 32-bit indices could not address them.
const LARGEST_PAIRED: u64 = 1 << 30;

/// The maximum number of cells that the tuples of a pair do not share.
const MOST_OWN_CELLS: usize = 2;

/// The number of small exponents: tiles up to 128.
const SMALL: u64 = 8;

/// Tables of labels up to this size are private as a whole: every board reads the table of a low value range, and a
/// larger table would take too long to merge.
const LARGEST_PRIVATE: u64 = 1 << 20;

/// The location of a table.
#[derive(Clone, Debug)]
struct Table {
    /// The index of its first weight.
    offset: u64,
    /// The stride between its weights: 1, or 2 in a pair.
    stride: u32,
    /// The image in which the tuple shares cells with the other one of its pair.
    image: Symmetry,
    /// The tuple's cells in index order, least significant first.
    order: Vec<usize>,
    /// The index of its first weight in a thread's private area, if it has one.
    private: Option<u64>,
}

/// The layout of a network: tables in memory, and the lookups that find a board's weights in them.
#[derive(Clone, Debug)]
pub struct Layout {
    tables: Vec<Table>,
    lookups: Vec<Lookup>,
    len: u64,
    private_len: u64,
    /// The number of labels in each table.
    labels: Vec<u64>,
    /// Whether indices are scattered nibbles.
    is_scattered: bool,
}

/// The locations of a table's weights.
pub(crate) struct Places {
    /// The contribution of each label of each cell to the code of a weight, which is their sum.
    pub(crate) cells: Vec<Vec<u64>>,
    offset: u64,
    stride: u64,
    is_scattered: bool,
}

impl Places {
    /// The index of the weight with this code.
    #[inline(always)]
    pub(crate) fn at(&self, code: u64) -> u64 {
        let code = if self.is_scattered { scatter(code) } else { code };
        self.offset + self.stride * code
    }
}

/// Two tuples that share cells, and the symmetry that maps the second one onto them.
struct Pair {
    first: usize,
    second: usize,
    symmetry: Symmetry,
}

impl Layout {
    /// Lays out the tables of a stage.
    pub fn new(spec: &NetworkSpec) -> Self {
        let tuples = spec.tuples.as_slice();
        let single = |table: usize| Table {
            offset: 0,
            stride: 1,
            image: Symmetry::ALL[0],
            order: (0..spec.tuple(table).len()).collect(),
            private: None,
        };
        let mut tables: Vec<Table> = (0..spec.tables_per_set()).map(single).collect();
        let mut second_of = vec![None; tables.len()];
        for Pair { first, second, symmetry } in pairs(spec) {
            let orders = shared_last(&tuples[first], &tuples[second].image(symmetry, spec.side), spec.side);
            // Tuples of one length have the same value ranges.
            for (first, second) in spec.tables_of(first).zip(spec.tables_of(second)) {
                (tables[first].order, tables[second].order) = orders.clone();
                (tables[first].stride, tables[second].stride) = (2, 2);
                tables[second].image = symmetry;
                second_of[second] = Some(first);
            }
        }
        let (mut len, mut private_len) = (0, 0);
        // Range by range, plain tables last, so that tables of one range are adjacent.
        let mut by_range: Vec<usize> = (0..tables.len()).collect();
        by_range.sort_by_key(|&i| {
            let TableId { tuple, range, .. } = spec.table_id(i);
            (spec.ranges_of(tuple).is_none(), range)
        });
        for i in by_range {
            if let Some(first) = second_of[i] {
                tables[i].offset = tables[first].offset + 1;
                tables[i].private = tables[first].private.map(|place| place + 1);
            } else {
                let stride = u64::from(tables[i].stride);
                tables[i].offset = len;
                len = (len + stride * spec.table_len(i)).next_multiple_of(ALIGNMENT);
                if let Some(own) = private_weights(spec, i) {
                    tables[i].private = Some(private_len);
                    private_len = (private_len + stride * own).next_multiple_of(ALIGNMENT);
                }
            }
        }
        let lookups = lookups(spec, &tables);
        let labels = (0..tables.len()).map(|table| spec.labels(table) as u64).collect();
        Layout { tables, lookups, len, private_len, labels, is_scattered: spec.has_nibbles() }
    }

    /// The size of a thread's private area: the weights of tiles up to 128 in plain tables with c = 16, and small tables of
    /// labels as a whole; 0 if there are none.
    pub fn private_len(&self) -> u64 {
        self.private_len
    }

    /// The lookups of a thread with a private area at this offset; `None` if indices cannot reach that far.
    pub fn private_lookups(&self, area: u64) -> Option<Vec<Lookup>> {
        let mut lookups = self.lookups.clone();
        for lookup in lookups.iter_mut().filter(|lookup| lookup.private_lanes != 0) {
            let first = area as i64 - lookup.base;
            if first + self.private_len as i64 > i64::from(i32::MAX) {
                return None;
            }
            lookup.private_offset.iter_mut().for_each(|offset| *offset = offset.wrapping_add(first as u32));
            if self.is_scattered {
                lookup.is_private = true;
            } else {
                // The whole table is private: its lanes read nothing else.
                let lanes = (0..LANES).filter(|lane| lookup.private_lanes >> lane & 1 == 1);
                lanes.for_each(|lane| lookup.offset[lane] = lookup.private_offset[lane]);
            }
        }
        Some(lookups)
    }

    /// The weights of a private area: their indices in the area, and among all weights.
    pub fn private_indices(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.tables.len()).filter_map(|i| Some((i, self.tables[i].private?))).flat_map(
            move |(i, first)| {
                let table = &self.tables[i];
                let places = self.places(i);
                let base = if self.is_scattered { SMALL } else { self.labels[i] };
                (0..base.pow(table.order.len() as u32)).map(move |digits| {
                    let digit = |rank: usize| (digits / base.pow(rank as u32) % base) as usize;
                    let cells = table.order.iter().enumerate();
                    let code = cells.map(|(rank, &cell)| places.cells[cell][digit(rank)]).sum();
                    ((first + digits * u64::from(table.stride)) as usize, places.at(code) as usize)
                })
            },
        )
    }

    /// The number of weights in memory, padding included.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are no weights; never true.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The lookups that compute all indices of a board.
    #[inline(always)]
    pub fn lookups(&self) -> &[Lookup] {
        &self.lookups
    }

    /// The locations of a table's weights.
    pub(crate) fn places(&self, table: usize) -> Places {
        let c = self.labels[table];
        let table = &self.tables[table];
        let rank = |cell: usize| table.order.iter().position(|&other| other == cell).unwrap_or(0);
        let counts = |cell| (0..c).map(|label| label * c.pow(rank(cell) as u32)).collect();
        let cells = (0..table.order.len()).map(counts).collect();
        Places { cells, offset: table.offset, stride: table.stride.into(), is_scattered: self.is_scattered }
    }

    /// The indices of a table's weights, in the order of the paper's Eq. 3: the first cell has factor 1,
    /// the next c, and so on.
    pub fn indices(&self, table: usize) -> impl Iterator<Item = usize> + '_ {
        let c = self.labels[table];
        let places = self.places(table);
        let runs = c.pow(places.cells.len() as u32 - 1);
        (0..runs).flat_map(move |run| {
            let mut rest = run;
            let mut code = 0;
            for cell in &places.cells[1..] {
                code += cell[(rest % c) as usize];
                rest /= c;
            }
            let first = places.cells[0].iter().map(|count| places.at(code + count) as usize);
            first.collect::<Vec<_>>()
        })
    }
}

/// The number of a table's weights in a private area, if any.
fn private_weights(spec: &NetworkSpec, table: usize) -> Option<u64> {
    if spec.has_nibbles() {
        return Some(SMALL.saturating_pow(spec.tuple(table).len() as u32));
    }
    // Plain tables have no low range: boards of small tiles are spread over the whole table.
    let is_split = spec.ranges_of(spec.table_id(table).tuple).is_some();
    Some(spec.table_len(table)).filter(|&len| is_split && len <= LARGEST_PRIVATE)
}

/// Greedily pairs the tuples that share the most cells, as long as they share enough.
fn pairs(spec: &NetworkSpec) -> Vec<Pair> {
    let mut free: Vec<usize> = (0..spec.tuples.as_slice().len()).collect();
    let mut pairs = Vec::new();
    while spec.symmetric
        && let Some(pair) = closest(&free, spec)
    {
        free.retain(|&i| i != pair.first && i != pair.second);
        pairs.push(pair);
    }
    pairs
}

/// Whether pairing a tuple with another one is possible and worthwhile.
fn can_pair(spec: &NetworkSpec, tuple: usize) -> bool {
    let largest = spec.tables_of(tuple).map(|table| spec.table_len(table)).max();
    spec.tuples.as_slice()[tuple].len() >= SHORTEST_PAIRED && largest <= Some(LARGEST_PAIRED)
}

/// The two free tuples of equal length that share the most cells.
fn closest(free: &[usize], spec: &NetworkSpec) -> Option<Pair> {
    let tuples = spec.tuples.as_slice();
    let mut best: Option<(usize, Pair)> = None;
    for (i, &first) in free.iter().enumerate() {
        for &second in &free[i + 1..] {
            let n = tuples[first].len();
            if tuples[second].len() != n || !can_pair(spec, first) {
                continue;
            }
            for symmetry in Symmetry::ALL {
                let image = tuples[second].image(symmetry, spec.side);
                let shared = image.cells().iter().filter(|cell| tuples[first].cells().contains(cell)).count();
                if shared + MOST_OWN_CELLS >= n && best.as_ref().is_none_or(|(most, _)| shared > *most) {
                    best = Some((shared, Pair { first, second, symmetry }));
                }
            }
        }
    }
    best.map(|(_, pair)| pair)
}

/// The cell orders of two tuples in which the shared cells come last, in the same order, beginning with those adjacent to
/// the cells that are not shared. Tiles mostly move between neighbours, so that the weights of a game's next boards are
/// then often in the same page.
fn shared_last(a: &Tuple, b: &Tuple, side: usize) -> (Vec<usize>, Vec<usize>) {
    let own = |tuple: &Tuple, other: &Tuple| -> Vec<usize> {
        (0..tuple.len()).filter(|&i| !other.cells().contains(&tuple.cells()[i])).collect()
    };
    let (mut first, mut second) = (own(a, b), own(b, a));
    let own_cells: Vec<u8> =
        first.iter().map(|&i| a.cells()[i]).chain(second.iter().map(|&i| b.cells()[i])).collect();
    let (row, column) = (|cell: u8| cell as usize / side, |cell: u8| cell as usize % side);
    let distance = |x: u8, y: u8| row(x).abs_diff(row(y)) + column(x).abs_diff(column(y));
    let mut shared: Vec<u8> = a.cells().iter().copied().filter(|cell| b.cells().contains(cell)).collect();
    shared.sort_by_key(|&cell| own_cells.iter().map(|&own| distance(own, cell)).sum::<usize>());
    let index_in = |tuple: &Tuple, cell: u8| tuple.cells().iter().position(|&other| other == cell);
    first.extend(shared.iter().filter_map(|&cell| index_in(a, cell)));
    second.extend(shared.iter().filter_map(|&cell| index_in(b, cell)));
    (first, second)
}

/// The lookups: each has the eight images of two tables, or up to sixteen tables without symmetric sampling; all of one
/// value range.
fn lookups(spec: &NetworkSpec, tables: &[Table]) -> Vec<Lookup> {
    let symmetries = if spec.symmetric { &Symmetry::ALL[..] } else { &Symmetry::ALL[..1] };
    let mut lookups: Vec<Lookup> = Vec::new();
    // In memory order, so that pairs are adjacent.
    let mut order: Vec<usize> = (0..tables.len()).collect();
    order.sort_by_key(|&i| tables[i].offset);
    let mut last_range = None;
    for i in order {
        let (table, range, c) = (&tables[i], spec.range(i), spec.labels(i) as u32);
        let end = table.offset + u64::from(table.stride) * spec.table_len(i);
        let within_reach = |lookup: &Lookup| end as i64 - lookup.base <= i64::from(i32::MAX);
        let has_room = |lookup: &Lookup| lookup.live + symmetries.len() <= LANES && within_reach(lookup);
        if last_range != Some(range) || !lookups.last().is_some_and(has_room) {
            // The largest tables begin below their base, since indices are signed.
            let behind = if end - table.offset > i32::MAX as u64 { 1 << 31 } else { 0 };
            lookups.push(Lookup::new(table.offset as i64 + behind, c, range.clamp(spec.tile_values)));
            last_range = Some(range);
        }
        let lookup = lookups.last_mut().expect("just pushed");
        for &symmetry in symmetries {
            let image = spec.tuple(i).image(table.image, spec.side).image(symmetry, spec.side);
            let byte =
                |&j: &usize| image.cells()[j] / spec.side as u8 * 4 + image.cells()[j] % spec.side as u8;
            let bytes: Vec<u8> = table.order.iter().map(byte).collect();
            if let Some(place) = table.private {
                lookup.private_offset[lookup.live] = place as u32;
                lookup.private_lanes |= 1 << lookup.live;
            }
            lookup.add_lane(table.offset, table.stride, c, &bytes);
        }
    }
    lookups
}
