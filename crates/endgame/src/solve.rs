//! Chances by layers of the sum of the free tiles: forward to find the positions, then back with their chances.
//!
//! A move adds nothing and a spawn adds 2 or 4, so a layer leads to the next two alone, and only three are in memory.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicU64, mpsc::Receiver},
    time::{Duration, Instant},
};

use crate::{
    Endgame, Position, PositionError, Precision,
    background::{Background, read_ahead},
    bitmap::{Bitmap, set},
    board::half_sum,
    bound::most_positions,
    code::{Angle, Code},
    file::{Header, Writer},
    layer::Layer,
    lock,
    output::{Done, Output},
    pass::{GoalValues, Live, Walk},
    space::Space,
    store::Store,
};

/// Every layout whose tiles sum to this, in units of 2, is a position to start from: everything later is reached from them.
const SEED_SUM: usize = 4;

/// Why an endgame was not solved.
#[derive(Debug, thiserror::Error)]
pub enum SolveError {
    /// A start position outside the endgame.
    #[error(transparent)]
    Position(#[from] PositionError),
    /// The halves of the board have too many layouts to be numbered.
    #[error("{endgame} is too large: half of its free cells have {layouts} layouts")]
    Large {
        /// The endgame.
        endgame: Endgame,
        /// The number of layouts.
        layouts: u64,
    },
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
    /// A layer cannot be kept or read again.
    #[error("a layer cannot be kept: {source}")]
    Kept {
        /// What went wrong.
        source: io::Error,
    },
    /// Another process writes the same table.
    #[error("another process is writing to {}", .0.display())]
    Busy(PathBuf),
    /// What is there is no table, or not what a solver leaves beside one.
    #[error("{} is no endgame table, and is left as it is", .0.display())]
    Foreign(PathBuf),
    /// It was stopped.
    #[error("stopped")]
    Stopped,
}

/// How far a solver is.
#[derive(Clone, Copy, Debug)]
pub struct SolveProgress {
    /// Whether positions are found, before their chances are computed.
    pub is_forward: bool,
    /// The sum of the free tiles in the layer that is done.
    pub sum: u32,
    /// The number of positions found so far, or of those whose chances are known.
    pub positions: u64,
    /// The share of the work that is done, from 0 to 1, by estimate.
    pub share: f64,
    /// How long the rest takes, by estimate.
    pub left: Option<Duration>,
}

/// A solved endgame.
#[derive(Clone, Debug)]
pub struct Solved {
    /// The number of positions, mirror images counted.
    pub positions: u64,
    /// The number of positions of each layer, by half the sum of the free tiles.
    pub layers: Vec<u64>,
    /// The chances of the requested positions, as exactly as those of live layers are kept.
    pub chances: Vec<f64>,
    /// The most bytes that layers and tables took at a time.
    pub peak_bytes: u64,
    /// How long it took.
    pub time: Duration,
}

/// Solves an endgame.
pub struct Solver<'a> {
    endgame: Endgame,
    space: Space,
    from: Vec<u64>,
    threads: usize,
    goal: Option<GoalValues<'a>>,
    start: Instant,
    peak: usize,
}

/// Half the board may have so many layouts.
pub(crate) const MAX_LAYOUTS: u64 = 1 << 23;

impl<'a> Solver<'a> {
    /// A solver with one thread for which reaching the goal is worth 1.
    ///
    /// # Errors
    /// When the endgame is too large.
    pub fn new(endgame: &Endgame) -> Result<Self, SolveError> {
        let start = Instant::now();
        let layouts = Space::largest_half(endgame);
        if layouts > MAX_LAYOUTS {
            return Err(SolveError::Large { endgame: endgame.clone(), layouts });
        }
        let space = Space::new(endgame);
        let peak = space.bytes();
        Ok(Solver { endgame: endgame.clone(), space, from: Vec::new(), threads: 1, goal: None, start, peak })
    }

    /// The same with positions whose chances are wanted; they are solved wherever they are reached from.
    ///
    /// # Errors
    /// When one is no position of the endgame.
    pub fn from(mut self, positions: &[Position]) -> Result<Self, SolveError> {
        for position in positions {
            let word = self.space.orient(position.0);
            self.space.check(word)?;
            self.from.push(word);
        }
        Ok(self)
    }

    /// The same with so many threads; the chances are the same for all numbers.
    pub fn threads(self, threads: usize) -> Self {
        Solver { threads: threads.max(1), ..self }
    }

    /// The same with a value for each board on which the goal is reached.
    pub fn goals(self, values: GoalValues<'a>) -> Self {
        Solver { goal: Some(values), ..self }
    }

    /// The most bytes that layers and tables will take at a time, [`Solved::peak_bytes`], with a table of this precision: a bound, by the
    /// layouts that a slide can lead to. Without a table, the positions of all layers are kept in memory; as that does not count on
    /// their compression, little of it is needed.
    pub fn planned_bytes(&self, table: Option<Precision>) -> u64 {
        let slid = most_positions(&self.endgame, self.space.largest);
        let code = if table.is_some_and(keeps_angles) { Angle::BYTES } else { f32::BYTES } as u64;
        let most = |sum: usize| {
            let bits = Layer::new(&self.space, sum).bits;
            let slid = slid.get(sum).copied().unwrap_or_default().saturating_add(self.from.len() as u64);
            let positions = if sum <= SEED_SUM { bits } else { bits.min(slid) };
            (Bitmap::most_bytes(bits, positions), code * positions)
        };
        let most: Vec<_> = self.layers().map(most).collect();
        // Three layers with their chances, and the one that is read ahead.
        let back = |sum: usize| {
            let live = most[sum..].iter().take(3).map(|(bitmap, chances)| bitmap + chances).sum::<u64>();
            live + sum.checked_sub(1).map_or(0, |ahead| most[ahead].0)
        };
        // A layer that is found while the one before it is kept, and the marks of the next two.
        let forward = |sum: usize| most[sum..].iter().take(2).map(|(bitmap, _)| bitmap).sum::<u64>();
        let back = self.layers().map(back).max().unwrap_or_default();
        let forward = self.layers().map(forward).max().unwrap_or_default();
        let forward = forward + 16 * self.largest_layer().div_ceil(64);
        let kept = |(bitmap, _): &(u64, u64)| bitmap + bitmap / 128 + 512;
        let kept = if table.is_none() { most.iter().map(kept).sum() } else { 0 };
        self.space.bytes() as u64 + forward.max(back) + kept
    }

    /// Solves; `watch` sees every layer, and stops the solver by returning `false`.
    ///
    /// # Errors
    /// When it is stopped.
    pub fn solve(self, watch: &mut dyn FnMut(SolveProgress) -> bool) -> Result<Solved, SolveError> {
        self.run::<f32>(Store::in_memory(), None, watch)
    }

    /// Solves, and writes a table. What is done is kept beside it until it is complete: the same call continues from there.
    ///
    /// # Errors
    /// When it is stopped, another process writes the same table, something else stands in its place, or files cannot be read
    /// or written.
    pub fn solve_to(
        self,
        path: &Path,
        precision: Precision,
        watch: &mut dyn FnMut(SolveProgress) -> bool,
    ) -> Result<Solved, SolveError> {
        if keeps_angles(precision) {
            self.write::<Angle>(path, precision, watch)
        } else {
            self.write::<f32>(path, precision, watch)
        }
    }

    /// The same with these codes in live layers.
    pub(crate) fn write<C: Code>(
        self,
        path: &Path,
        precision: Precision,
        watch: &mut dyn FnMut(SolveProgress) -> bool,
    ) -> Result<Solved, SolveError> {
        let header = Header::new(&self.endgame, precision, self.goal.as_ref());
        let in_file = |source| SolveError::File { path: path.to_owned(), source };
        let mut key = header.to_bytes();
        self.from.iter().for_each(|word| key.extend(word.to_le_bytes()));
        // Held until all is in its place and the rest is removed: the layers' file is the last one to go.
        let lock = lock::take(path)?;
        let store = lock.try_clone().and_then(|file| Store::open(file, &key)).map_err(in_file)?;
        let output = Output::<C>::open(path, &header, key, store.is_complete()).map_err(in_file)?;
        let solved = self.run(store, Some(output), watch)?;
        for side in ["live", "layers"] {
            // What is left behind does no harm.
            let _ = std::fs::remove_file(Writer::part(path, side));
        }
        drop(lock);
        Ok(solved)
    }

    fn run<C: Code>(
        mut self,
        mut store: Store,
        output: Option<Output<C>>,
        watch: &mut dyn FnMut(SolveProgress) -> bool,
    ) -> Result<Solved, SolveError> {
        self.forward(&mut store, watch)?;
        let chances = self.backward(&mut store, output, watch)?;
        let layers = self.counts(&mut store)?;
        let (positions, peak_bytes) = (layers.iter().sum(), self.peak as u64);
        Ok(Solved { positions, layers, chances, peak_bytes, time: self.start.elapsed() })
    }

    /// The number of positions of each layer, mirror images counted.
    fn counts(&self, store: &mut Store) -> Result<Vec<u64>, SolveError> {
        if !self.space.is_mirrored {
            return Ok(store.counts());
        }
        let layers = store.layers();
        let count = |sum| {
            let layer = Layer::new(&self.space, sum);
            Ok(self.space.count(&layer, &store.get(&layer).map_err(file_error)?))
        };
        (0..layers).map(count).collect()
    }

    /// Finds the positions of all layers.
    fn forward(
        &mut self,
        store: &mut Store,
        watch: &mut dyn FnMut(SolveProgress) -> bool,
    ) -> Result<(), SolveError> {
        if store.is_complete() {
            return Ok(());
        }
        // What the last layers of a store lead to is found again.
        let first = store.layers().saturating_sub(2);
        let last = first..store.layers();
        let last = last.map(|sum| Ok(Arc::new(store.get(&Layer::new(&self.space, sum))?)));
        let last = last.collect::<io::Result<Vec<_>>>().map_err(file_error)?;
        let (found, kept) = std::thread::scope(|scope| {
            let keeper =
                Background::new(scope, &mut *store, |store, bitmap: Arc<Bitmap>| store.push(&bitmap));
            let found = self.find_layers(first, last, &keeper, watch);
            (found, keeper.join())
        });
        kept.map_err(file_error)?;
        self.note_memory(store.bytes() + found?);
        store.finish().map_err(file_error)
    }

    /// Finds the positions of one layer after the other, from a first one on, and gives them to a thread that keeps them. The positions
    /// of the first layers may be known. Returns the most bytes of memory that this took.
    fn find_layers(
        &self,
        first: usize,
        known: Vec<Arc<Bitmap>>,
        keeper: &Background<'_, Arc<Bitmap>, &mut Store>,
        watch: &mut dyn FnMut(SolveProgress) -> bool,
    ) -> Result<usize, SolveError> {
        let words = self.largest_layer().div_ceil(64) as usize;
        // The marks of the present layer and of the next one: what the present one leads to by a 4 is marked where it was itself.
        let mut plain: [Vec<AtomicU64>; 2] =
            std::array::from_fn(|_| (0..words).map(|_| AtomicU64::new(0)).collect());
        let total: f64 = self.layers().map(|sum| Layer::new(&self.space, sum).bits as f64).sum();
        let (mut done, mut found, mut empty, mut most) = (0.0, 0, 0, 0);
        let seeds = self.seeds();
        let last_seed = seeds.iter().map(|&word| half_sum(word)).max().unwrap_or_default();
        let (mut known, mut before) = (known.into_iter(), Arc::<Bitmap>::default());
        for sum in first..=self.space.largest {
            let layers = [0, 1, 2].map(|i| Layer::new(&self.space, sum + i));
            let [current, next] = &mut plain;
            let bitmap = if let Some(bitmap) = known.next() {
                Bitmap::take(current);
                bitmap
            } else {
                seeds
                    .iter()
                    .filter(|&&seed| half_sum(seed) == sum)
                    .for_each(|&seed| set(current, self.index(&layers[0], seed)));
                let words = layers[0].bits.div_ceil(64) as usize;
                let bitmap = Arc::new(Bitmap::take(&mut current[..words]));
                if keeper.push(Arc::clone(&bitmap)).is_none() {
                    // The thread's error is the reason.
                    return Ok(most);
                }
                bitmap
            };
            let walk = Walk {
                space: &self.space,
                layer: &layers[0],
                next: [&layers[1], &layers[2]],
                bitmap: &bitmap,
                threads: self.threads,
            };
            walk.forward([next, current]);
            plain.swap(0, 1);
            most = most.max(2 * 8 * words + before.bytes() + bitmap.bytes());
            found += bitmap.len as u64;
            done += layers[0].bits as f64;
            empty = if bitmap.len == 0 { empty + 1 } else { 0 };
            before = bitmap;
            let share = FORWARD_SHARE * done / total;
            if !watch(self.progress(true, sum, found, share)) {
                return Err(SolveError::Stopped);
            }
            if empty == 2 && sum >= last_seed {
                break;
            }
        }
        Ok(most)
    }

    /// Computes the chances of all layers, the largest sum first, and gives the requested ones.
    fn backward<C: Code>(
        &mut self,
        store: &mut Store,
        mut output: Option<Output<C>>,
        watch: &mut dyn FnMut(SolveProgress) -> bool,
    ) -> Result<Vec<f64>, SolveError> {
        let mut way = Way {
            sum: store.layers(),
            after: Default::default(),
            asked: vec![0.0; self.from.len()],
            live: 0,
            most: 0,
        };
        if let Some(kept) = output.as_mut().and_then(|output| output.resumed.take()) {
            (way.sum, way.asked) = (kept.sum, kept.asked);
            let layers = [0, 1].map(|i| Layer::new(&self.space, way.sum + i));
            for ((live, layer), chances) in way.after.iter_mut().zip(&layers).zip(kept.chances) {
                if layer.sum < store.layers() {
                    *live = Arc::new(Live { bitmap: store.get(layer).map_err(file_error)?, chances });
                }
            }
        }
        let (kept, counts) = (store.bytes(), store.counts());
        let (done, output) = std::thread::scope(|scope| {
            let writer = output.map(|output| Background::new(scope, output, Output::push));
            let ahead = read_ahead(scope, &self.space, store, way.sum);
            let done = self.solve_layers(&counts, &mut way, ahead, writer.as_ref(), watch);
            (done, writer.map(Background::join).transpose())
        });
        let output = output.map_err(file_error)?;
        self.note_memory(kept + way.most);
        if !done? {
            let Way { sum, after, asked, .. } = &way;
            output.map_or(Ok(()), |output| output.keep(*sum, after, asked)).map_err(file_error)?;
            return Err(SolveError::Stopped);
        }
        output.map_or(Ok(()), Output::finish).map_err(file_error)?;
        Ok(way.asked)
    }

    /// Solves one layer after the other, as they are read; `false` when it is stopped.
    fn solve_layers<C: Code>(
        &self,
        counts: &[u64],
        way: &mut Way<C>,
        ahead: Receiver<io::Result<Bitmap>>,
        writer: Option<&Background<'_, Done<C>, Output<C>>>,
        watch: &mut dyn FnMut(SolveProgress) -> bool,
    ) -> Result<bool, SolveError> {
        let total: u64 = counts.iter().sum();
        let mut done = counts[way.sum.min(counts.len())..].iter().sum();
        for bitmap in ahead {
            let (bitmap, sum) = (bitmap.map_err(file_error)?, way.sum - 1);
            // It was read while the three before it were in memory.
            way.most = way.most.max(way.live + bitmap.bytes());
            let layers = [0, 1, 2].map(|i| Layer::new(&self.space, sum + i));
            let walk = Walk {
                space: &self.space,
                layer: &layers[0],
                next: [&layers[1], &layers[2]],
                bitmap: &bitmap,
                threads: self.threads,
            };
            let chances = walk.backward([&way.after[0], &way.after[1]], self.goal);
            for (asked, &word) in
                way.asked.iter_mut().zip(&self.from).filter(|(_, word)| half_sum(**word) == sum)
            {
                *asked = bitmap.find(self.index(&layers[0], word)).map_or(0.0, |rank| chances[rank].chance());
            }
            done += bitmap.len as u64;
            way.add(Live { bitmap, chances });
            if writer.is_some_and(|writer| writer.push(way.done()).is_none()) {
                // The thread's error is the reason.
                return Ok(false);
            }
            let share = FORWARD_SHARE + (1.0 - FORWARD_SHARE) * done as f64 / total.max(1) as f64;
            if !watch(self.progress(false, sum, done, share)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The index of a position in its layer.
    fn index(&self, layer: &Layer, word: u64) -> u64 {
        let (shape, first_sum, ranks) = self.space.locate(word).expect("positions are checked");
        self.space.index(layer, shape, first_sum, ranks)
    }

    /// All positions to start from.
    fn seeds(&self) -> Vec<u64> {
        let mut seeds: Vec<u64> = (0..=SEED_SUM).flat_map(|sum| self.space.layouts(sum)).collect();
        seeds.extend(&self.from);
        seeds
    }

    fn layers(&self) -> std::ops::RangeInclusive<usize> {
        0..=self.space.largest
    }

    /// The number of layouts of the largest layer.
    fn largest_layer(&self) -> u64 {
        self.layers().map(|sum| Layer::new(&self.space, sum).bits).max().unwrap_or_default()
    }

    fn note_memory(&mut self, bytes: usize) {
        self.peak = self.peak.max(self.space.bytes() + bytes);
    }

    fn progress(&self, is_forward: bool, sum: usize, positions: u64, share: f64) -> SolveProgress {
        let left = self.start.elapsed().as_secs_f64() * (1.0 - share) / share.max(1e-9);
        let left = Duration::try_from_secs_f64(left).ok().filter(|_| share > 0.01);
        SolveProgress { is_forward, sum: 2 * sum as u32, positions, share, left }
    }
}

/// How far the way back has come.
struct Way<C> {
    /// The last layer that is done.
    sum: usize,
    /// That layer and the one after it.
    after: [Arc<Live<C>>; 2],
    /// the requested chances.
    asked: Vec<f64>,
    /// The bytes that the last three layers took.
    live: usize,
    /// The most bytes that layers took at a time.
    most: usize,
}

impl<C: Code> Way<C> {
    /// Adds the next layer.
    fn add(&mut self, live: Live<C>) {
        self.live = self.after.iter().map(|live| live.bytes()).sum::<usize>() + live.bytes();
        self.most = self.most.max(self.live);
        self.after.rotate_right(1);
        self.after[0] = Arc::new(live);
        self.sum -= 1;
    }

    /// What is to be written now.
    fn done(&self) -> Done<C> {
        Done { sum: self.sum, live: self.after.clone(), asked: self.asked.clone() }
    }
}

/// Whether live layers keep angles while a table of this precision is made: they are exact enough for one byte.
fn keeps_angles(precision: Precision) -> bool {
    precision == Precision::U8
}

/// The share of the time that the way forward takes.
const FORWARD_SHARE: f64 = 0.4;

fn file_error(source: io::Error) -> SolveError {
    SolveError::Kept { source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_that_is_stated_is_kept() {
        let shapes: [(&[&str], &[u32]); 7] = [
            (&["FFFF/FFFF/FF../...."], &[8, 64, 256]),
            (&["FFFF/FFFF/..../...."], &[8, 32, 128]),
            (&["FFFF/FFF./..../...."], &[8, 64]),
            (&["FFFF/FFF./..../....", "FFFF/FF.F/..../....", "FFF./FFFF/..../...."], &[8, 64]),
            (&["FFFF/FF../..../....", "FFF./FF.F/..../....", "FF.F/FFF./..../...."], &[16, 32]),
            (&["FFFF/F.../..../...."], &[16]),
            (&["FFFF/..../..../...."], &[8]),
        ];
        for (shapes, targets) in shapes {
            for &target in targets {
                let endgame = Endgame::parse(shapes, target).unwrap();
                let from = SolvedFrom::of(&endgame);
                for table in [None, Some(Precision::U8), Some(Precision::F32)] {
                    let planned = from.solver().planned_bytes(table);
                    let directory = tempfile::tempdir().unwrap();
                    let solved = match table {
                        None => from.solver().solve(&mut |_| true),
                        Some(precision) => {
                            from.solver().solve_to(&directory.path().join("t"), precision, &mut |_| true)
                        }
                    };
                    let peak = solved.unwrap().peak_bytes;
                    assert!(peak <= planned, "{endgame}: {peak} bytes, {planned} planned");
                    // Compression is not counted on.
                    let least = if table.is_none() { planned / 12 } else { planned / 4 };
                    assert!(least < peak, "{endgame}: {peak} bytes, {planned} planned");
                }
            }
        }
    }

    #[test]
    fn a_table_takes_four_bytes_a_position_of_three_layers() {
        let endgame = Endgame::parse(&["FFFF/FFF./..../...."], 128).unwrap();
        let directory = tempfile::tempdir().unwrap();
        let bytes = |precision| {
            let solver = Solver::new(&endgame).unwrap();
            let tables = solver.space.bytes() as u64;
            let solved = solver.solve_to(&directory.path().join("t"), precision, &mut |_| true).unwrap();
            let most = solved.layers.windows(3).map(|layers| layers.iter().sum::<u64>()).max();
            (solved.peak_bytes - tables) as f64 / most.unwrap() as f64
        };
        let [angles, exact] = [Precision::U8, Precision::F32].map(bytes);
        assert!(angles < 4.0 && exact < 6.0, "{angles} {exact}");
        assert!(angles < exact - 1.0, "{angles} {exact}");
    }

    /// A solver with a position that none of the others leads to.
    struct SolvedFrom {
        endgame: Endgame,
        from: Vec<Position>,
    }

    impl SolvedFrom {
        fn of(endgame: &Endgame) -> Self {
            let free = (0..16).rev().filter(|cell| endgame.shapes()[0].0 >> cell & 1 == 0);
            let walls = crate::board::spread(endgame.shapes()[0].0);
            // Tiles in every second free cell.
            let word = free.step_by(2).fold(walls, |word, cell| word | 2 << (4 * cell));
            SolvedFrom { endgame: endgame.clone(), from: vec![Position(word)] }
        }

        fn solver(&self) -> Solver<'static> {
            Solver::new(&self.endgame).unwrap().from(&self.from).unwrap()
        }
    }
}
