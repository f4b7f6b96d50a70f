//! A table: the chances of an endgame, from a file, layer by layer.

use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, Mutex},
};

use crate::{
    Endgame, Position, PositionError, Precision, TableError, bitmap::Bitmap, board::half_sum, file::Reader,
    layer::Layer, solve::MAX_LAYOUTS, space::Space,
};

/// The chances of an endgame, in a file.
pub struct Table {
    reader: Reader,
    endgame: Endgame,
    space: Space,
    /// The chance of each code, where there are few.
    chances: Vec<f32>,
    /// The layers in memory.
    layers: Mutex<Cache>,
}

/// The layers of a table in memory, the least recently used dropped first.
#[derive(Default)]
struct Cache {
    layers: HashMap<usize, (Option<Arc<TableLayer>>, u64)>,
    bytes: usize,
    uses: u64,
}

/// The bytes of layers that a table keeps in memory; those that are in use stay as long as they are.
const CACHE_BYTES: usize = 2 << 30;

impl Cache {
    fn get(&mut self, sum: usize) -> Option<Option<Arc<TableLayer>>> {
        self.uses += 1;
        let (layer, used) = self.layers.get_mut(&sum)?;
        *used = self.uses;
        Some(layer.clone())
    }

    fn insert(&mut self, sum: usize, layer: Option<Arc<TableLayer>>) {
        self.bytes += layer.as_ref().map_or(0, |layer| layer.bytes());
        if let Some((Some(before), _)) = self.layers.insert(sum, (layer, self.uses)) {
            self.bytes -= before.bytes();
        }
        while self.bytes > CACHE_BYTES {
            let Some(oldest) = self.layers.iter().min_by_key(|(_, (_, used))| *used).map(|(sum, _)| *sum)
            else {
                return;
            };
            self.remove(oldest);
        }
    }

    fn remove(&mut self, sum: usize) {
        if let Some((Some(layer), _)) = self.layers.remove(&sum) {
            self.bytes -= layer.bytes();
        }
    }
}

/// A layer in memory.
struct TableLayer {
    layer: Layer,
    bitmap: Bitmap,
    codes: Vec<u8>,
}

impl TableLayer {
    fn bytes(&self) -> usize {
        self.bitmap.bytes() + self.codes.len() + size_of_val(&self.layer.segments[..])
    }
}

/// The numbers of positions by their chances: 0, then tenths, then 1, in this order.
pub type Histogram = [u64; 12];

impl Table {
    /// Opens a table; every byte of it is checked.
    ///
    /// # Errors
    /// When it is no table, or damaged: the error names the layer.
    pub fn open(path: &Path) -> Result<Self, TableError> {
        let reader = Reader::open(path)?;
        reader.check()?;
        Self::of(reader)
    }

    /// Opens a table without a look at its layers, which are checked when they are loaded.
    ///
    /// # Errors
    /// When it is no table, or its header or index is damaged.
    pub fn open_unchecked(path: &Path) -> Result<Self, TableError> {
        Self::of(Reader::open(path)?)
    }

    fn of(reader: Reader) -> Result<Self, TableError> {
        let damaged = || TableError::Damaged { path: reader.path.clone(), part: "header" };
        let endgame = reader.header.endgame().ok_or_else(damaged)?;
        if Space::largest_half(&endgame) > MAX_LAYOUTS {
            return Err(damaged());
        }
        let space = Space::new(&endgame);
        let precision = reader.header.precision;
        let codes = if precision == Precision::F32 { 0 } else { 1 << (8 * precision.bytes()) };
        let chances = (0..codes).map(|code| precision.chance(code)).collect();
        Ok(Table { reader, endgame, space, chances, layers: Mutex::default() })
    }

    /// The endgame.
    pub fn endgame(&self) -> &Endgame {
        &self.endgame
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.reader.path
    }

    /// The number of positions; where the shapes are their own mirror images, one stands for its image too.
    pub fn positions(&self) -> u64 {
        self.reader.positions()
    }

    /// The bytes of its file.
    pub fn bytes(&self) -> u64 {
        self.reader.length
    }

    /// How exactly it keeps chances.
    pub fn precision(&self) -> Precision {
        self.reader.header.precision
    }

    /// What a reached goal counts: 1, or the value of the network of this name.
    pub fn goal(&self) -> &str {
        &self.reader.header.goal
    }

    /// The walls beside which goals were valued, bit `e` for the tile of exponent `e`; `None` where all goals count 1 and the walls may
    /// be any.
    pub fn tiles(&self) -> Option<u32> {
        Some(self.reader.header.tiles).filter(|&tiles| tiles != 0)
    }

    /// The number of positions of each layer, by the sum of the free tiles.
    pub fn layers(&self) -> Vec<(u32, u64)> {
        let entries = self.reader.entries.iter().enumerate();
        entries.filter_map(|(sum, entry)| Some((2 * sum as u32, entry.as_ref()?.1.count.into()))).collect()
    }

    /// The chance of a position; `None` when it does not come up in this endgame.
    ///
    /// # Errors
    /// When its layer is damaged, or it is no position of the endgame.
    pub fn chance(&self, position: Position) -> Result<Option<f32>, ChanceError> {
        let word = self.space.orient(position.0);
        self.space.check(word)?;
        let window = self.window(position.sum(), 1)?;
        Ok(window.chance(self, position))
    }

    /// The layers from a sum of free tiles on, loaded.
    ///
    /// # Errors
    /// When a layer is damaged.
    pub fn window(&self, sum: u32, layers: usize) -> Result<Window, TableError> {
        let first = sum as usize / 2;
        let layers = (first..first + layers).map(|sum| self.layer(sum)).collect::<Result<_, _>>()?;
        Ok(Window { first, layers })
    }

    /// The same, if all of them are in memory.
    pub(crate) fn window_in_memory(&self, sum: u32, layers: usize) -> Option<Window> {
        let first = sum as usize / 2;
        let mut cache = self.layers.lock().unwrap_or_else(|poison| poison.into_inner());
        let layers = (first..first + layers).map(|sum| cache.get(sum)).collect::<Option<_>>()?;
        Some(Window { first, layers })
    }

    /// Whether the layers from a sum of free tiles on are in memory.
    pub fn is_loaded(&self, sum: u32, layers: usize) -> bool {
        let first = sum as usize / 2;
        let cache = self.layers.lock().unwrap_or_else(|poison| poison.into_inner());
        (first..first + layers).all(|sum| cache.layers.contains_key(&sum))
    }

    /// A layer, from memory or from the file.
    fn layer(&self, sum: usize) -> Result<Option<Arc<TableLayer>>, TableError> {
        let lock = || self.layers.lock().unwrap_or_else(|poison| poison.into_inner());
        if let Some(layer) = lock().get(sum) {
            return Ok(layer);
        }
        let layer = Layer::new(&self.space, sum);
        let loaded = self.reader.layer(&layer)?;
        let loaded = loaded.map(|(bitmap, codes)| Arc::new(TableLayer { layer, bitmap, codes }));
        lock().insert(sum, loaded.clone());
        Ok(loaded)
    }

    /// How many positions have which chances.
    ///
    /// # Errors
    /// When a layer is damaged.
    pub fn histogram(&self) -> Result<Histogram, TableError> {
        let mut histogram = [0; 12];
        for sum in 0..self.reader.entries.len() {
            let Some((bitmap, codes)) = self.reader.layer(&Layer::new(&self.space, sum))? else { continue };
            for rank in 0..bitmap.len {
                let chance = self.decode(&codes, bitmap.len, rank);
                histogram[match chance {
                    0.0 => 0,
                    1.0 => 11,
                    chance => 1 + ((chance * 10.0) as usize).min(9),
                }] += 1;
            }
        }
        Ok(histogram)
    }

    /// Some positions of a layer, with their chances.
    ///
    /// # Errors
    /// When the layer is damaged.
    pub fn sample(&self, sum: u32, every: usize) -> Result<Vec<(Position, f32)>, TableError> {
        let layer = Layer::new(&self.space, sum as usize / 2);
        let Some((bitmap, codes)) = self.reader.layer(&layer)? else { return Ok(Vec::new()) };
        let mut bits = bitmap.bits(0..bitmap.blocks());
        let bits = std::iter::from_fn(|| bits.next()).enumerate().step_by(every.max(1));
        let position = |(rank, index)| {
            (
                Position(self.space.orient(self.space.word(&layer, index))),
                self.decode(&codes, bitmap.len, rank),
            )
        };
        Ok(bits.map(position).collect())
    }

    /// Checks every byte.
    pub(crate) fn check(&self) -> Result<(), TableError> {
        self.reader.check()
    }

    pub(crate) fn space(&self) -> &Space {
        &self.space
    }

    /// Drops a layer from memory.
    pub(crate) fn forget(&self, sum: u32) {
        self.layers.lock().unwrap_or_else(|poison| poison.into_inner()).remove(sum as usize / 2);
    }

    fn decode(&self, codes: &[u8], count: usize, rank: usize) -> f32 {
        let code = self.precision().code_at(codes, count, rank);
        self.chances.get(code as usize).copied().unwrap_or_else(|| self.precision().chance(code))
    }
}

/// Why there is no chance.
#[derive(Debug, thiserror::Error)]
pub enum ChanceError {
    /// No position of the endgame.
    #[error(transparent)]
    Position(#[from] PositionError),
    /// The table is damaged.
    #[error(transparent)]
    Table(#[from] TableError),
}

/// Some neighbouring layers of a table, in memory: looking up does not wait for anything.
pub struct Window {
    first: usize,
    layers: Vec<Option<Arc<TableLayer>>>,
}

impl Window {
    /// The chance of a position of the table's endgame; `None` when it does not come up there, or is in another layer.
    pub fn chance(&self, table: &Table, position: Position) -> Option<f32> {
        let layer = self.layers.get(half_sum(position.0).checked_sub(self.first)?)?.as_ref()?;
        let (shape, first_sum, ranks) = table.space.locate(table.space.orient(position.0))?;
        let rank = layer.bitmap.find(table.space.index(&layer.layer, shape, first_sum, ranks))?;
        Some(table.decode(&layer.codes, layer.bitmap.len, rank))
    }
}
