//! The tables that a player asks: boards as they are, in any orientation, with the tiles that are walls in them.

use std::{
    cmp::Reverse,
    fmt, fs, io,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use afterstate_game::{Move, State, Symmetry};

use crate::{Endgame, Position, Table, TableError, Window};

/// The extension of table files.
pub const EXTENSION: &str = "endgame";

/// Neighbouring walls that need not stand beside each other while they are displaced.
const BREAKS: u32 = 2;

/// All tables of a directory.
pub struct Tables {
    /// In the order in which they are asked.
    tables: Vec<Table>,
    /// For each table, which of its shapes every mask of cells is.
    shapes: Vec<Vec<Shape>>,
}

/// Which shape of a table a mask is, seen through which symmetry.
#[derive(Clone, Copy, Default)]
struct Shape {
    /// Whether it is one.
    is_shape: bool,
    symmetry: u8,
    /// Whether the walls stand where they belong.
    is_home: bool,
}

/// An endgame that a game is in, or gets into by making the target.
pub struct Region<'a> {
    table: &'a Table,
    shapes: &'a [Shape],
    /// The exponent of the smallest tile that is a wall or a target that is none yet.
    least: u8,
    /// The walls: bit `e` for the tile of exponent `e`.
    walls: u32,
    /// The sum of the free tiles at the root.
    sum: u32,
    window: Window,
}

/// An endgame that a game is in or comes to, before its layers are loaded.
#[derive(Clone, Copy)]
pub struct Near<'a> {
    number: usize,
    table: &'a Table,
    shapes: &'a [Shape],
    least: u8,
    walls: u32,
    sum: u32,
}

impl<'a> Near<'a> {
    /// The number of the table among [`Tables::all`].
    pub fn number(&self) -> usize {
        self.number
    }

    /// The table.
    pub fn table(&self) -> &'a Table {
        self.table
    }

    /// The walls: bit `e` for the tile of exponent `e`.
    pub fn walls(&self) -> u32 {
        self.walls
    }

    /// The sum of the free tiles, once the walls are these.
    pub fn sum(&self) -> u32 {
        self.sum
    }

    /// The endgame with the layers of all boards that are so many spawns away at most. Waits for those that are not in memory.
    ///
    /// # Errors
    /// When a layer is damaged.
    pub fn load(&self, spawns: usize) -> Result<Region<'a>, TableError> {
        Ok(self.with(self.table.window(self.sum, layers(spawns))?))
    }

    /// The same without waiting: nothing unless all of these layers are in memory.
    pub fn loaded(&self, spawns: usize) -> Option<Region<'a>> {
        Some(self.with(self.table.window_in_memory(self.sum, layers(spawns))?))
    }

    fn with(self, window: Window) -> Region<'a> {
        let Near { table, shapes, least, walls, sum, .. } = self;
        Region { table, shapes, least, walls, sum, window }
    }
}

/// The layers of all boards that are so many spawns away at most, each of which adds 2 or 4 to the sum.
fn layers(spawns: usize) -> usize {
    2 * spawns + 1
}

/// A table that knows a board.
pub struct Match<'a> {
    /// The table.
    pub table: &'a Table,
    /// The chance of the afterstate of each move, by number; `None` where the move is illegal or leaves the endgame.
    pub chances: [Option<f32>; 4],
}

impl Match<'_> {
    /// The chance of the best move.
    pub fn best(&self) -> Option<f32> {
        self.chances.into_iter().flatten().reduce(f32::max)
    }
}

impl Tables {
    /// Opens all tables of a directory.
    ///
    /// # Errors
    /// When the directory cannot be read, or a table is damaged.
    pub fn open(directory: &Path) -> Result<Self, TableError> {
        let io = |source: io::Error| TableError::Io { path: directory.to_owned(), source };
        let entries = fs::read_dir(directory).map_err(io)?;
        let paths =
            entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<PathBuf>>>().map_err(io)?;
        let mut paths: Vec<_> =
            paths.into_iter().filter(|path| path.extension().is_some_and(|e| e == EXTENSION)).collect();
        paths.sort();
        Ok(Tables::new(paths.iter().map(|path| Table::open(path)).collect::<Result<_, _>>()?))
    }

    /// The given tables. Those with the larger target are asked first; of several, those that value goals beside the walls at hand, then
    /// those with more shapes.
    pub fn new(mut tables: Vec<Table>) -> Self {
        tables.sort_by_key(|table| {
            let endgame = table.endgame();
            Reverse((endgame.target(), table.tiles().is_some(), endgame.shapes().len()))
        });
        let shapes = tables.iter().map(|table| shapes_of(table.endgame())).collect();
        Tables { tables, shapes }
    }

    /// The tables.
    pub fn all(&self) -> &[Table] {
        &self.tables
    }

    /// The endgames that a board is in, those with the larger target first, and those that it gets into by making the target: with the
    /// layers of all boards that are so many spawns away at most.
    ///
    /// # Errors
    /// When a layer is damaged.
    pub fn regions(&self, board: &[u8; 16], spawns: usize) -> Result<Vec<Region<'_>>, TableError> {
        self.near(board).iter().map(|near| near.load(spawns)).collect()
    }

    /// The same endgames, with nothing loaded.
    pub fn near(&self, board: &[u8; 16]) -> Vec<Near<'_>> {
        let (mut found, mut carried) = (Vec::new(), Vec::new());
        for (number, (table, shapes)) in self.tables.iter().zip(&self.shapes).enumerate() {
            let target = table.endgame().target();
            // Most boards of a game are far from any endgame: they cost next to nothing.
            let (count, walls_needed) = (at_least(board, target).count_ones(), table.endgame().walls());
            if count + 1 < walls_needed || count > walls_needed + 2 {
                continue;
            }
            let made = 1 << target;
            let add = |found: &mut Vec<_>, least, walls, sum| {
                if walls_fit(table, walls) {
                    found.push(Near { number, table, shapes, least, walls, sum });
                }
            };
            if let Some(walls) = walls(board, target) {
                let free = sum_below(board, target);
                add(&mut found, target, walls, free);
                if walls & made == 0 && free >= made {
                    add(&mut found, target, walls | made, free - made);
                }
            }
            // The target is carried as a tile: whoever knows it as a wall is asked first.
            let limit = table.endgame().limit();
            if let Some(walls) = walls(board, limit).filter(|_| limit > target) {
                add(&mut carried, limit, walls, sum_below(board, limit));
            }
        }
        found.append(&mut carried);
        found
    }

    /// The endgames that a board is one wall away from: the walls are what comes of its large tiles, merged, or of one more target.
    pub fn ahead(&self, board: &[u8; 16]) -> Vec<Near<'_>> {
        let mut found = Vec::new();
        for (number, (table, shapes)) in self.tables.iter().zip(&self.shapes).enumerate() {
            let target = table.endgame().target();
            if at_least(board, target).count_ones() + 1 < table.endgame().walls() {
                continue;
            }
            // Tiles that merge are numbers that carry.
            let free = sum_below(board, target);
            let large = board.iter().filter(|&&e| e >= target).map(|&e| 1u64 << e).sum::<u64>();
            let is_merged = large.count_ones() == at_least(board, target).count_ones();
            let ways = [(large, free), (large + (1 << target), free.saturating_sub(1 << target))];
            for (walls, sum) in ways.into_iter().skip(usize::from(is_merged)) {
                let walls = u32::try_from(walls).ok().filter(|&walls| walls_fit(table, walls));
                found.extend(walls.map(|walls| Near { number, table, shapes, least: target, walls, sum }));
            }
        }
        found
    }

    /// What the tables know of the moves of a state: for each that knows one, in the order in which a search asks them.
    ///
    /// # Errors
    /// When a layer is damaged.
    pub fn probe(&self, state: State<4>) -> Result<Vec<Match<'_>>, TableError> {
        let regions = self.regions(&state.board().bytes(), 0)?;
        let afterstates = Move::ALL.map(|a| state.slide(a).map(|slide| slide.afterstate.board().bytes()));
        let mut matches: Vec<Match<'_>> = Vec::new();
        for region in &regions {
            let chances = afterstates.map(|board| board.and_then(|board| region.chance(&board)));
            // A target that one move makes and another does not is two regions of one table.
            match matches.iter_mut().find(|known| std::ptr::eq(known.table, region.table)) {
                Some(known) => known.chances = std::array::from_fn(|a| known.chances[a].or(chances[a])),
                None => matches.push(Match { table: region.table, chances }),
            }
        }
        matches.retain(|known| known.best().is_some());
        Ok(matches)
    }
}

impl fmt::Debug for Tables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.tables.iter().map(Table::path)).finish()
    }
}

impl<'a> Region<'a> {
    /// The table.
    pub fn table(&self) -> &'a Table {
        self.table
    }

    /// The walls: bit `e` for the tile of exponent `e`.
    pub fn walls(&self) -> u32 {
        self.walls
    }

    /// The sum of the free tiles of the board that the region was requested for.
    pub fn sum(&self) -> u32 {
        self.sum
    }

    /// The chance of an afterstate; `None` unless its walls are those of the region, in a shape of the table, and in order: each
    /// beside the next larger one, but for some while they are displaced.
    #[inline]
    pub fn chance(&self, board: &[u8; 16]) -> Option<f32> {
        let mask = at_least(board, self.least);
        let shape = self.shapes[usize::from(mask)];
        if !shape.is_shape {
            return None;
        }
        let allowed = if shape.is_home { 0 } else { BREAKS };
        if breaks(board, mask, self.walls)? > allowed {
            return None;
        }
        let position = Position::of(board, mask).through(&SYMMETRIES[usize::from(shape.symmetry)]);
        self.window.chance(self.table, position)
    }
}

/// The shapes of an endgame, through all symmetries, by their masks.
fn shapes_of(endgame: &Endgame) -> Vec<Shape> {
    let mut shapes = vec![Shape::default(); 1 << 16];
    // A shape may be an image of another one: home comes last and stays.
    for (i, walls) in endgame.shapes().iter().enumerate().rev() {
        for (symmetry, cells) in SYMMETRIES.iter().enumerate() {
            let image = (0..16).fold(0, |mask, cell| mask | (walls.0 >> cell & 1) << cells[cell]);
            shapes[usize::from(image)] = Shape { is_shape: true, symmetry: symmetry as u8, is_home: i == 0 };
        }
    }
    shapes
}

/// Whether a table is about so many walls, and these if it is about certain ones.
fn walls_fit(table: &Table, walls: u32) -> bool {
    table.endgame().walls() == walls.count_ones() && table.tiles().is_none_or(|tiles| tiles == walls)
}

/// The sum of the tiles below an exponent.
fn sum_below(board: &[u8; 16], exponent: u8) -> u32 {
    board.iter().filter(|&&e| e != 0 && e < exponent).map(|&e| 1 << e).sum()
}

/// The tiles from a target on, each a bit; `None` when one is there twice, since then they are no walls.
fn walls(board: &[u8; 16], target: u8) -> Option<u32> {
    let mut walls = 0;
    for &exponent in board.iter().filter(|&&exponent| exponent >= target) {
        if walls >> exponent & 1 == 1 {
            return None;
        }
        walls |= 1 << exponent;
    }
    Some(walls)
}

/// The cells with tiles from an exponent on.
#[inline]
fn at_least(board: &[u8; 16], exponent: u8) -> u16 {
    // Exponents are below 128: adding makes the highest bit of each byte.
    let half = |bytes: &[u8]| {
        let bytes = u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        let high = (bytes + 0x0101_0101_0101_0101 * u64::from(128 - exponent)) & 0x8080_8080_8080_8080;
        ((high >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u16
    };
    half(&board[..8]) | half(&board[8..]) << 8
}

/// How many walls do not stand beside the next larger one; `None` when they are not these.
#[inline]
fn breaks(board: &[u8; 16], mask: u16, walls: u32) -> Option<u32> {
    let mut cells = [0u8; 32];
    let (mut rest, mut found) = (mask, 0);
    while rest != 0 {
        let cell = rest.trailing_zeros() as usize;
        cells[usize::from(board[cell]) & 31] = cell as u8;
        found |= 1u32 << (board[cell] & 31);
        rest &= rest - 1;
    }
    if found != walls {
        return None;
    }
    let (mut breaks, mut last) = (0, None);
    let mut rest = walls;
    while rest != 0 {
        let exponent = rest.ilog2();
        let cell = cells[exponent as usize];
        if let Some(last) = last {
            breaks += u32::from(!are_neighbours(last, cell));
        }
        last = Some(cell);
        rest &= !(1 << exponent);
    }
    Some(breaks)
}

#[inline]
fn are_neighbours(a: u8, b: u8) -> bool {
    a / 4 == b / 4 && a.abs_diff(b) == 1 || a.abs_diff(b) == 4
}

/// Where each symmetry takes each cell.
static SYMMETRIES: LazyLock<[[usize; 16]; 8]> =
    LazyLock::new(|| Symmetry::ALL.map(|symmetry| std::array::from_fn(|cell| symmetry.cell::<4>(cell))));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_those_of_large_tiles() {
        let board = [9, 8, 0, 17, 1, 9, 10, 0, 0, 0, 0, 0, 0, 0, 8, 9];
        assert_eq!(at_least(&board, 9), 0b1000_0000_0110_1001);
        assert_eq!(walls(&board, 9), None);
        assert_eq!(walls(&board, 10), Some(1 << 17 | 1 << 10));
    }

    #[test]
    fn one_more_target_makes_the_walls() {
        let directory = tempfile::tempdir().unwrap();
        let table = |walls: &str| {
            let path = directory.path().join(walls.replace('/', ""));
            let endgame = Endgame::parse(&[walls], 16).unwrap();
            crate::Solver::new(&endgame)
                .unwrap()
                .solve_to(&path, crate::Precision::U8, &mut |_| true)
                .unwrap();
            Table::open(&path).unwrap()
        };
        let tables = Tables::new(vec![table("FFFF/FFF./..../....")]);
        let ahead = |tiles: &[u8]| -> Vec<(u32, u32)> {
            let mut board = [0; 16];
            board[..tiles.len()].copy_from_slice(tiles);
            let near = tables.near(&board);
            let ahead = tables.ahead(&board);
            near.iter().for_each(|near| assert!(near.walls().count_ones() == 7));
            ahead.iter().map(|near| (near.walls(), near.sum())).collect()
        };
        let seven = 0b111_1111_0000;
        // Six walls and no 16 yet; six walls and a 16 that one more makes a 32; two 16s that are still to merge.
        assert_eq!(ahead(&[10, 9, 8, 7, 6, 5, 2, 2]), [(seven, 0)]);
        assert_eq!(ahead(&[11, 10, 9, 8, 7, 6, 4, 3]), [(seven << 1, 0)]);
        assert_eq!(ahead(&[11, 10, 9, 8, 7, 6, 4, 4, 3]), [(seven << 1, 8)]);
        assert_eq!(ahead(&[10, 9, 8, 7, 6, 5, 3, 3, 1]), [(seven, 2)]);
        assert_eq!(ahead(&[10, 9, 8, 7, 6, 3, 3]), []);
        assert_eq!(ahead(&[10, 9, 8, 7, 6, 5, 4, 1]), []);
    }

    #[test]
    fn walls_in_order_have_no_breaks() {
        let count = |tiles: [u8; 6]| {
            let mut board = [0; 16];
            board[..6].copy_from_slice(&tiles);
            breaks(&board, 0x3f, 0b11_1111_0000_0000)
        };
        // FFFF/FF..: down from the right of the first row.
        assert_eq!(count([10, 11, 12, 13, 9, 8]), Some(0));
        assert_eq!(count([11, 10, 12, 13, 9, 8]), Some(2));
        assert_eq!(count([10, 11, 12, 13, 9, 7]), None);
        assert_eq!(count([10, 11, 12, 13, 9, 9]), None);
    }
}
