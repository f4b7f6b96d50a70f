//! Where the weights stand in memory.
//!
//! Files hold one table for each tuple, indexed by the paper's Eq. 3. In memory, tuples that share
//! cells stand next to each other: where two tuples of six cells share five (in some image of the
//! one), the sixteen weights for the sixth cell of both are two neighbouring cache lines, and where
//! tuples share four, their weights are in one page. An access to the one then brings the other.
//!
//! The layout is a forest: a cluster of tuples takes the digits that its members share once, as its
//! most significant ones, and holds the members side by side.
//!
//! With c = 16 a digit is split: its three lower bits are the digit, and the upper bits of all
//! cells choose a block. The weights of boards with small tiles, which most of the accesses go to,
//! are then dense: tiles up to 128 in one block, and one larger tile in six others.

use afterstate_game::Symmetry;

use crate::{LANES, Lookup, NetworkSpec, Tuple};

/// Weights before the first table: position 0 stays 0 for idle lanes, and the rest keeps tables
/// aligned to cache lines.
const HEADER: u64 = 64;

/// Tuples below this length have tables that stay in the caches anyway.
const SHORTEST_CLUSTERED: usize = 5;

/// Members of a cluster share all but this many cells at least.
const MOST_OWN_CELLS: usize = 2;

/// A digit of a position: the board byte it is read from, and what it counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Digit {
    pub(crate) byte: u8,
    pub(crate) stride: u64,
}

/// How an exponent is split: its lower part is a digit, its upper part chooses the block.
#[derive(Clone, Copy, Debug)]
struct Split {
    /// The number of values of the lower part.
    radix: u64,
    low_bits: u8,
    block_bit: u8,
}

impl Split {
    fn of(spec: &NetworkSpec) -> Self {
        match spec.tile_values {
            16 => Split { radix: 8, low_bits: 7, block_bit: 8 },
            c => Split { radix: c as u64, low_bits: 31, block_bit: 0 },
        }
    }
}

/// Where the table of one tuple stands: weight (e₁ … eₙ) is at `offset + Σ lowⱼ·strides[j]`, and the
/// upper parts, as a binary number of the digits in the order of their strides, count `block`.
#[derive(Clone, Debug, Default)]
struct Table {
    offset: u64,
    strides: Vec<u64>,
    block: u64,
}

impl Table {
    /// What each exponent of each cell adds to the position.
    fn contributions(&self, split: Split, c: u64) -> Vec<Vec<u64>> {
        let rank = |stride: u64| self.strides.iter().filter(|&&other| other < stride).count();
        let contribution = |stride: u64, e: u64| {
            let upper = u64::from(e & u64::from(split.block_bit) != 0);
            (e & u64::from(split.low_bits)) * stride + (upper << rank(stride)) * self.block
        };
        let of_cell = |&stride: &u64| (0..c).map(|e| contribution(stride, e)).collect();
        self.strides.iter().map(of_cell).collect()
    }
}

/// The layout of a network: tables in memory, and the lookups that find a board's weights in them.
#[derive(Clone, Debug)]
pub struct Layout {
    tables: Vec<Table>,
    lookups: Vec<Lookup>,
    len: u64,
    split: Split,
    tile_values: u64,
}

/// Some tuples, each seen through a symmetry, that share cells.
struct Cluster {
    shared: Vec<u8>,
    kind: Kind,
}

enum Kind {
    Tuple(usize),
    Pair(Box<Cluster>, Box<Cluster>),
}

impl Layout {
    /// Lays out the tables of a network.
    pub fn new(spec: &NetworkSpec) -> Self {
        let split = Split::of(spec);
        let tuples = spec.tuples.as_slice();
        // The image of every tuple in which it shares cells with the others of its cluster.
        let mut images = vec![Symmetry::ALL[0]; tuples.len()];
        let clusters = cluster(spec, &mut images);
        let mut tables = vec![Table::default(); tuples.len()];
        let mut len = HEADER;
        for cluster in &clusters {
            let placing = Placing { spec, images: &images, radix: split.radix };
            let block = placing.place(cluster, &[], len, &mut tables);
            members(cluster).into_iter().for_each(|i| tables[i].block = block);
            let blocks = if split.block_bit == 0 { 1 } else { 1 << longest(cluster, spec) };
            len = (len + block * blocks).next_multiple_of(HEADER);
        }
        let lookups = lookups(spec, split, &images, &tables);
        Layout { tables, lookups, len, split, tile_values: spec.tile_values as u64 }
    }

    /// The number of weights in memory, padding included.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are no weights; never so.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The lookups that give all positions of a board.
    #[inline(always)]
    pub fn lookups(&self) -> &[Lookup] {
        &self.lookups
    }

    /// Where the table of a tuple begins, and what each exponent of each cell adds to that.
    pub(crate) fn contributions(&self, tuple: usize) -> (u64, Vec<Vec<u64>>) {
        let table = &self.tables[tuple];
        (table.offset, table.contributions(self.split, self.tile_values))
    }

    /// The positions of a tuple's weights, in the order of the paper's Eq. 3: the first cell counts 1,
    /// the next c, and so on.
    pub fn positions(&self, tuple: usize) -> impl Iterator<Item = usize> + '_ {
        let table = &self.tables[tuple];
        let c = self.tile_values;
        let contributions = table.contributions(self.split, c);
        let runs = c.pow(table.strides.len() as u32 - 1);
        (0..runs).flat_map(move |run| {
            let mut rest = run;
            let mut base = table.offset;
            for cell in &contributions[1..] {
                base += cell[(rest % c) as usize];
                rest /= c;
            }
            let first = contributions[0].clone();
            first.into_iter().map(move |e| (base + e) as usize)
        })
    }
}

/// Joins the tuples that share most cells, as long as they share enough.
fn cluster(spec: &NetworkSpec, images: &mut [Symmetry]) -> Vec<Cluster> {
    let tuples = spec.tuples.as_slice();
    let leaf = |i: usize| Cluster { shared: tuples[i].cells().to_vec(), kind: Kind::Tuple(i) };
    let mut clusters: Vec<Cluster> = (0..tuples.len()).map(leaf).collect();
    while spec.symmetric
        && let Some((a, b, symmetry)) = closest(&clusters, spec)
    {
        let mut other = clusters.remove(b);
        turn(&mut other, symmetry, spec.side, images);
        let first = clusters.remove(a);
        let shared = first.shared.iter().copied().filter(|cell| other.shared.contains(cell)).collect();
        clusters.insert(a, Cluster { shared, kind: Kind::Pair(Box::new(first), Box::new(other)) });
    }
    clusters
}

/// The two clusters that share most, and the symmetry by which the second one does.
fn closest(clusters: &[Cluster], spec: &NetworkSpec) -> Option<(usize, usize, Symmetry)> {
    let mut best: Option<(usize, usize, usize, Symmetry)> = None;
    for b in 1..clusters.len() {
        for a in 0..b {
            let n = longest(&clusters[a], spec);
            if n < SHORTEST_CLUSTERED || n != longest(&clusters[b], spec) {
                continue;
            }
            for symmetry in Symmetry::ALL {
                let image = image(&clusters[b].shared, symmetry, spec.side);
                let common = image.iter().filter(|cell| clusters[a].shared.contains(cell)).count();
                if common + MOST_OWN_CELLS >= n && best.is_none_or(|(most, ..)| common > most) {
                    best = Some((common, a, b, symmetry));
                }
            }
        }
    }
    best.map(|(_, a, b, symmetry)| (a, b, symmetry))
}

fn longest(cluster: &Cluster, spec: &NetworkSpec) -> usize {
    match &cluster.kind {
        Kind::Tuple(i) => spec.tuples.as_slice()[*i].len(),
        Kind::Pair(a, b) => longest(a, spec).max(longest(b, spec)),
    }
}

fn image(cells: &[u8], symmetry: Symmetry, side: usize) -> Vec<u8> {
    let tuple: String = cells.iter().map(|cell| format!("{cell:x}")).collect();
    let tuple: Tuple = tuple.parse().expect("distinct cells of a board");
    tuple.image(symmetry, side).cells().to_vec()
}

/// Sees a cluster through a symmetry, and all its tuples.
fn turn(cluster: &mut Cluster, symmetry: Symmetry, side: usize, images: &mut [Symmetry]) {
    cluster.shared = image(&cluster.shared, symmetry, side);
    match &mut cluster.kind {
        Kind::Tuple(i) => images[*i] = symmetry.after(images[*i]),
        Kind::Pair(a, b) => {
            turn(a, symmetry, side, images);
            turn(b, symmetry, side, images);
        }
    }
}

/// What placing a cluster needs to know.
struct Placing<'a> {
    spec: &'a NetworkSpec,
    images: &'a [Symmetry],
    radix: u64,
}

impl Placing<'_> {
    /// Gives the tables of a cluster their places from `offset` on, below the `outer` cells that are
    /// already digits of the position. Returns the number of weights, all digits included.
    fn place(&self, cluster: &Cluster, outer: &[u8], offset: u64, tables: &mut [Table]) -> u64 {
        let own: Vec<u8> = cluster.shared.iter().copied().filter(|cell| !outer.contains(cell)).collect();
        let inner = [outer, &own].concat();
        let tuples = self.spec.tuples.as_slice();
        let mut len = match &cluster.kind {
            Kind::Tuple(i) => {
                tables[*i] = Table { offset, strides: vec![0; tuples[*i].len()], block: 0 };
                1
            }
            Kind::Pair(a, b) => {
                let first = self.place(a, &inner, offset, tables);
                first + self.place(b, &inner, offset + first, tables)
            }
        };
        for &cell in &own {
            for i in members(cluster) {
                let tuple = tuples[i].image(self.images[i], self.spec.side);
                let digit = tuple.cells().iter().position(|&c| c == cell).expect("a shared cell");
                tables[i].strides[digit] = len;
            }
            len *= self.radix;
        }
        len
    }
}

fn members(cluster: &Cluster) -> Vec<usize> {
    match &cluster.kind {
        Kind::Tuple(i) => vec![*i],
        Kind::Pair(a, b) => [members(a), members(b)].concat(),
    }
}

/// One lookup for each tuple's eight images, or for each eight tuples without symmetric sampling.
fn lookups(spec: &NetworkSpec, split: Split, images: &[Symmetry], tables: &[Table]) -> Vec<Lookup> {
    let symmetries = if spec.symmetric { &Symmetry::ALL[..] } else { &Symmetry::ALL[..1] };
    let mut lookups: Vec<Lookup> = Vec::new();
    for ((tuple, table), &image) in spec.tuples.as_slice().iter().zip(tables).zip(images) {
        for &symmetry in symmetries {
            let cells = tuple.image(image, spec.side).image(symmetry, spec.side);
            let byte = |&cell: &u8| cell / spec.side as u8 * 4 + cell % spec.side as u8;
            let digit = |(cell, &stride)| Digit { byte: byte(cell), stride };
            let mut digits: Vec<Digit> = cells.cells().iter().zip(&table.strides).map(digit).collect();
            digits.sort_by_key(|digit| digit.stride);
            if lookups.last().is_none_or(|lookup| lookup.live == LANES) {
                lookups.push(Lookup::idle(split.low_bits, split.block_bit));
            }
            let lookup = lookups.last_mut().expect("just pushed");
            lookup.add_lane(table.offset, table.block, &digits);
        }
    }
    lookups
}
