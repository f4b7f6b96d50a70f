//! A network: a specification, its layout, and the weights.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use afterstate_game::Afterstate;

use crate::{
    Encoding, Isa, Kernel, Layout, Level, Lookup, Mapped, MemoryError, NetworkSpec, Positions, SpecError,
    Stages, TableId, dispatch, memory, prefetch,
    weight_promotion::{self, Promotion, Source},
};

/// A set of tables with more weights does not fit into a core's own caches: weights are asked for before they are
/// needed. In smaller ones that would take longer than they do.
const LARGE: u64 = 1 << 20;

/// The weights, as f32 bits in relaxed atomics: threads share them without locks.
pub type Weights = Mapped<AtomicU32>;

/// An n-tuple network.
pub struct Network {
    spec: NetworkSpec,
    layout: Layout,
    /// The number of areas for threads in each set of tables.
    areas: u64,
    /// V_init of each set of tables: weights are kept as what has been learned on top of it, so that optimistic
    /// tables need not be written before they are used.
    initial: Vec<f32>,
    weights: Weights,
}

/// Why a network could not be made.
#[derive(Debug, thiserror::Error)]
pub enum NetworkError {
    /// The specification is wrong.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The memory is not there.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

impl Network {
    /// A network whose weights are all 0.
    ///
    /// # Errors
    /// When the specification is wrong, or the weights do not fit into memory.
    pub fn new(spec: NetworkSpec) -> Result<Self, NetworkError> {
        spec.check()?;
        let layout = Layout::new(&spec);
        let sets = spec.sets() as u64;
        memory::check_fits("the network", sets * layout.len() * size_of::<f32>() as u64)?;
        // Areas that only training uses cost nothing until then.
        let areas = std::thread::available_parallelism().map_or(1, usize::from) as u64;
        let weights = Mapped::zeroed((sets * (layout.len() + areas * layout.private_len())) as usize)?;
        let initial = (0..spec.sets()).map(|set| spec.initial(set / spec.values.sets())).collect();
        Ok(Network { spec, layout, areas, initial, weights })
    }

    /// What the network is.
    pub fn spec(&self) -> &NetworkSpec {
        &self.spec
    }

    /// Where the weights of each set of tables stand.
    #[inline(always)]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// All weights, set by set in the order of the layout; behind each set the areas of threads.
    #[inline(always)]
    pub fn weights(&self) -> &[AtomicU32] {
        self.weights.as_slice()
    }

    /// The number of weights from one set of tables to the next.
    #[inline(always)]
    pub fn set_len(&self) -> usize {
        (self.layout.len() + self.areas * self.layout.private_len()) as usize
    }

    /// How exponents become positions.
    #[inline(always)]
    fn encoding(&self) -> Encoding {
        if self.spec.has_nibbles() { Encoding::Nibbles } else { Encoding::Labels }
    }

    /// The positions of a table's weights, in the order of the paper's Eq. 3: the first cell counts 1.
    pub fn positions(&self, table: usize) -> impl Iterator<Item = usize> + '_ {
        let TableId { set, .. } = self.spec.table_id(table);
        let first = set * self.set_len();
        self.layout.positions(table % self.spec.tables_per_set()).map(move |position| first + position)
    }

    /// A table, in the order of the paper's Eq. 3. Its weights are counted from V_init on, which is no part
    /// of them.
    pub fn table(&self, table: usize) -> impl Iterator<Item = f32> + '_ {
        self.positions(table).map(|p| f32::from_bits(self.weights()[p].load(Relaxed)))
    }

    /// Fills a table, in the order of the paper's Eq. 3.
    pub fn set_table(&self, table: usize, values: impl IntoIterator<Item = f32>) {
        for (position, value) in self.positions(table).zip(values) {
            self.weights()[position].store(value.to_bits(), Relaxed);
        }
    }

    /// The value of an afterstate, in a network of afterstates.
    ///
    /// # Panics
    /// When the board is not of the network's side.
    pub fn value<const N: usize>(&self, afterstate: Afterstate<N>) -> f32 {
        self.value_at(Level::best(), afterstate)
    }

    /// The value of an afterstate, by a given instruction set: the same for all of them.
    ///
    /// # Panics
    /// When the board is not of the network's side, or the processor has no such instructions.
    pub fn value_at<const N: usize>(&self, level: Level, afterstate: Afterstate<N>) -> f32 {
        assert_eq!(N, self.spec.side, "the board and the network differ in size");
        self.view().positions_at(level, &afterstate.board().bytes()).1
    }

    /// The network as everyone sees it.
    #[inline(always)]
    pub fn view(&self) -> View<'_> {
        View {
            weights: self.weights(),
            lookups: self.layout.lookups(),
            encoding: self.encoding(),
            stages: &self.spec.stages,
            sets_per_stage: self.spec.values.sets(),
            set_len: self.set_len(),
            initial: &self.initial,
            promotion: Promotion::Read,
            promoted_from: if self.spec.promotion { self.spec.values.sets() } else { usize::MAX },
            is_large: self.layout.len() > LARGE,
        }
    }

    /// The network as training sees it: weights that are promoted stay so.
    pub fn training_view(&self) -> View<'_> {
        View { promotion: Promotion::Write, ..self.view() }
    }

    /// The network as a thread sees it that keeps the weights of small tiles for itself, and where
    /// its area begins in each set of tables. `None` when the network has no such area (its tables are not plain
    /// ones with c = 16, or too large), or not so many.
    pub fn private_lookups(&self, thread: usize) -> Option<(usize, Vec<Lookup>)> {
        let (area_len, thread) = (self.layout.private_len(), thread as u64);
        let area = self.layout.len() + area_len * thread;
        let exists = area_len > 0 && thread < self.areas;
        if exists { self.layout.private_lookups(area).map(|lookups| (area as usize, lookups)) } else { None }
    }
}

/// The weights that make up the value of a board.
#[derive(Clone, Copy, Debug)]
pub struct Features<'a> {
    /// Which set of tables: that of the board's stage, and of the action where there are several.
    pub set: usize,
    /// The positions of its weights in the set, lookup by lookup.
    pub positions: &'a [Positions],
}

/// What [`View::find`] gives besides positions.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Found {
    /// The set of tables of the board's stage, and of the first action.
    pub set: usize,
    /// V, the value.
    pub value: f32,
}

/// Weights and the lookups that find a board's among them.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// All weights.
    pub weights: &'a [AtomicU32],
    /// The lookups, the same for every set of tables.
    pub lookups: &'a [Lookup],
    pub(crate) encoding: Encoding,
    stages: &'a Stages,
    pub(crate) sets_per_stage: usize,
    set_len: usize,
    initial: &'a [f32],
    promotion: Promotion,
    /// The first set whose weights are promoted.
    promoted_from: usize,
    /// Whether the weights of a set are too many for a core's own caches.
    pub(crate) is_large: bool,
}

impl<'a> View<'a> {
    /// The same weights, found by other lookups.
    pub fn with_lookups(self, lookups: &'a [Lookup]) -> Self {
        View { lookups, ..self }
    }

    /// The place of a set's first weight.
    #[inline(always)]
    pub fn start(&self, set: usize) -> usize {
        set * self.set_len
    }

    /// The set of tables for a board: that of its stage, and of the first action.
    #[inline(always)]
    pub fn set_of(&self, board: &[u8; 16]) -> usize {
        self.stages.of(board) * self.sets_per_stage
    }

    /// The stage of a board.
    #[inline(always)]
    pub fn stage_of(&self, board: &[u8; 16]) -> usize {
        self.stages.of(board)
    }

    /// The positions of a board's weights, lookup by lookup, and their sum, the value; of the first action, where
    /// there are several.
    ///
    /// # Safety
    /// The instruction set must be there (see [`Kernel`]).
    #[inline(always)]
    pub unsafe fn find<I: Isa>(&self, board: &[u8; 16], positions: &mut [Positions]) -> Found {
        let set = self.set_of(board);
        // SAFETY: as the caller.
        Found { set, value: unsafe { self.find_in::<I>(set, board, positions) } }
    }

    /// The positions of a board's weights, lookup by lookup, and their set of tables; the weights are asked for.
    ///
    /// # Safety
    /// The instruction set must be there (see [`Kernel`]).
    #[inline(always)]
    pub unsafe fn look_up<I: Isa>(&self, board: &[u8; 16], positions: &mut [Positions]) -> usize {
        let set = self.set_of(board);
        let weights = self.weights.as_ptr().wrapping_add(self.start(set));
        for (lookup, positions) in self.lookups.iter().zip(positions) {
            // SAFETY: as the caller.
            *positions = unsafe { I::positions(board, self.encoding, lookup) };
            if self.is_large {
                // Lanes that are not in use ask for weights that nobody needs, which does no harm.
                let weights = weights.wrapping_offset(lookup.base());
                positions.0.iter().for_each(|&position| prefetch(weights.wrapping_offset(position as isize)));
            }
        }
        set
    }

    /// The positions of a board's weights and their sum in a set of tables, which must be one of its stage.
    ///
    /// # Safety
    /// As for [`Self::find`].
    #[inline(always)]
    pub unsafe fn find_in<I: Isa>(&self, set: usize, board: &[u8; 16], positions: &mut [Positions]) -> f32 {
        // SAFETY: as the caller; the lookups are those of the weights.
        unsafe {
            if set >= self.promoted_from {
                return self.promoted::<I>(set, Source::Board(board, positions));
            }
            let mut sums = I::zero();
            for (lookup, positions) in self.lookups.iter().zip(positions) {
                *positions = I::positions(board, self.encoding, lookup);
                sums = I::add(sums, self.gather::<I>(set, lookup, positions));
            }
            self.initial(set) + I::total(sums)
        }
    }

    /// The value of a board, for those who need no positions.
    ///
    /// # Safety
    /// The instruction set must be there (see [`Kernel`]).
    #[inline(always)]
    pub unsafe fn value<I: Isa>(&self, board: &[u8; 16]) -> f32 {
        // SAFETY: as the caller; the lookups are those of the weights.
        unsafe {
            let set = self.set_of(board);
            if set >= self.promoted_from {
                return self.promoted::<I>(set, Source::Board(board, &mut []));
            }
            let mut sums = I::zero();
            for lookup in self.lookups {
                let positions = I::positions(board, self.encoding, lookup);
                sums = I::add(sums, self.gather::<I>(set, lookup, &positions));
            }
            self.initial(set) + I::total(sums)
        }
    }

    /// The value that these weights make up.
    ///
    /// # Safety
    /// The instruction set must be there (see [`Kernel`]), and the positions must be this view's.
    #[inline(always)]
    pub unsafe fn sum<I: Isa>(&self, features: Features<'_>) -> f32 {
        // SAFETY: as the caller.
        unsafe {
            if features.set >= self.promoted_from {
                return self.promoted::<I>(features.set, Source::Positions(features.positions));
            }
            let mut sums = I::zero();
            for (lookup, positions) in self.lookups.iter().zip(features.positions) {
                sums = I::add(sums, self.gather::<I>(features.set, lookup, positions));
            }
            self.initial(features.set) + I::total(sums)
        }
    }

    /// Calls a function with the place of each of these weights among all, in order.
    #[inline(always)]
    pub fn for_each_position(&self, features: Features<'_>, mut each: impl FnMut(usize)) {
        let start = self.start(features.set) as isize;
        for (lookup, positions) in self.lookups.iter().zip(features.positions) {
            for &position in &positions.0[..lookup.live()] {
                each((start + lookup.base() + position as isize) as usize);
            }
        }
    }

    /// A lookup's weights in a set of tables.
    ///
    /// # Safety
    /// As for [`Isa::gather`]; the set must be one of the network's.
    #[inline(always)]
    unsafe fn gather<I: Isa>(&self, set: usize, lookup: &Lookup, positions: &Positions) -> I::Sums {
        // SAFETY: as the caller.
        unsafe {
            let weights = self.weights.get_unchecked(self.start(set)..);
            I::gather(weights, lookup, positions, lookup.live_lanes())
        }
    }

    /// The value in a set of tables whose weights are promoted.
    ///
    /// # Safety
    /// As for [`Self::sum`].
    #[inline(always)]
    unsafe fn promoted<I: Isa>(&self, set: usize, source: Source<'_>) -> f32 {
        // SAFETY: as the caller.
        unsafe { self.initial(set) + weight_promotion::sum(I::LEVEL, self, self.promotion, set, source) }
    }

    /// V_init of a set's stage.
    ///
    /// # Safety
    /// The set must be one of the network's.
    #[inline(always)]
    unsafe fn initial(&self, set: usize) -> f32 {
        // SAFETY: there is one for each set.
        unsafe { *self.initial.get_unchecked(set) }
    }

    /// The positions of a board's weights, by a given instruction set.
    ///
    /// # Panics
    /// When the processor has no such instructions.
    pub fn positions_at(&self, level: Level, board: &[u8; 16]) -> (Vec<Positions>, f32) {
        struct Find<'a>(View<'a>, &'a [u8; 16]);
        impl Kernel for Find<'_> {
            type Output = (Vec<Positions>, f32);
            #[inline(always)]
            unsafe fn run<I: Isa>(self) -> Self::Output {
                let mut positions = vec![Positions::default(); self.0.lookups.len()];
                // SAFETY: inside a kernel.
                let found = unsafe { self.0.find::<I>(self.1, &mut positions) };
                (positions, found.value)
            }
        }
        dispatch(level, Find(*self, board))
    }
}
