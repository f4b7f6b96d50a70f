//! A network: a specification, its layout, and the weights.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use afterstate_game::Afterstate;

use crate::{
    Encoding, Isa, Kernel, Layout, Level, Lookup, Mapped, MemoryError, NetworkSpec, Positions, SpecError,
    dispatch, memory,
};

/// The weights, as f32 bits in relaxed atomics: threads share them without locks.
pub type Weights = Mapped<AtomicU32>;

/// An n-tuple network.
pub struct Network {
    spec: NetworkSpec,
    layout: Layout,
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
        memory::check_fits("the network", layout.len() * size_of::<f32>() as u64)?;
        // Areas that only training uses cost nothing until then.
        let areas = std::thread::available_parallelism().map_or(1, usize::from) as u64;
        let weights = Mapped::zeroed((layout.len() + areas * layout.private_len()) as usize)?;
        Ok(Network { spec, layout, weights })
    }

    /// What the network is.
    pub fn spec(&self) -> &NetworkSpec {
        &self.spec
    }

    /// Where its weights stand.
    #[inline(always)]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// All weights, in the order of the layout, and behind them the areas of threads.
    #[inline(always)]
    pub fn weights(&self) -> &[AtomicU32] {
        self.weights.as_slice()
    }

    /// How exponents become positions.
    #[inline(always)]
    fn encoding(&self) -> Encoding {
        match self.spec.tile_values {
            16 => Encoding::Nibbles,
            c => Encoding::Linear(c as u8 - 1),
        }
    }

    /// The table of a tuple, in the order of the paper's Eq. 3: the first cell counts 1.
    pub fn table(&self, tuple: usize) -> impl Iterator<Item = f32> + '_ {
        self.layout.positions(tuple).map(|p| f32::from_bits(self.weights()[p].load(Relaxed)))
    }

    /// Fills the table of a tuple, in the order of the paper's Eq. 3.
    pub fn set_table(&self, tuple: usize, values: impl IntoIterator<Item = f32>) {
        for (position, value) in self.layout.positions(tuple).zip(values) {
            self.weights()[position].store(value.to_bits(), Relaxed);
        }
    }

    /// The value of an afterstate.
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
        View { weights: self.weights(), lookups: self.layout.lookups(), encoding: self.encoding() }
    }

    /// The network as a thread sees it that keeps the weights of small tiles for itself, and where
    /// its area begins among the weights. `None` when the network has no such area (c is not 16, or
    /// it is too large), or not so many.
    pub fn private_lookups(&self, thread: usize) -> Option<(u64, Vec<Lookup>)> {
        let (area_len, thread) = (self.layout.private_len(), thread as u64);
        let area = self.layout.len() + area_len * thread;
        let exists = area_len > 0 && area + area_len <= self.weights().len() as u64;
        if exists { self.layout.private_lookups(area).map(|lookups| (area, lookups)) } else { None }
    }
}

/// Weights and the lookups that find a board's among them.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// All weights.
    pub weights: &'a [AtomicU32],
    /// The lookups.
    pub lookups: &'a [Lookup],
    encoding: Encoding,
}

impl<'a> View<'a> {
    /// The same weights, found by other lookups.
    pub fn with_lookups(self, lookups: &'a [Lookup]) -> Self {
        View { lookups, ..self }
    }

    /// The positions of a board's weights, lookup by lookup, and their sum, the value.
    ///
    /// # Safety
    /// The instruction set must be there (see [`Kernel`]).
    #[inline(always)]
    pub unsafe fn find<I: Isa>(&self, board: &[u8; 16], positions: &mut [Positions]) -> f32 {
        // SAFETY: as the caller; the lookups are those of the weights.
        unsafe {
            let mut sums = I::zero();
            for (lookup, positions) in self.lookups.iter().zip(positions) {
                *positions = I::positions(board, self.encoding, lookup);
                sums = I::add(sums, self.weights, lookup, positions);
            }
            I::total(sums)
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
            let mut sums = I::zero();
            for lookup in self.lookups {
                sums = I::add(sums, self.weights, lookup, &I::positions(board, self.encoding, lookup));
            }
            I::total(sums)
        }
    }

    /// The sum of the weights at positions of this view.
    ///
    /// # Safety
    /// The instruction set must be there (see [`Kernel`]), and the positions must be this view's.
    #[inline(always)]
    pub unsafe fn sum<I: Isa>(&self, positions: &[Positions]) -> f32 {
        // SAFETY: as the caller.
        unsafe {
            let mut sums = I::zero();
            for (lookup, positions) in self.lookups.iter().zip(positions) {
                sums = I::add(sums, self.weights, lookup, positions);
            }
            I::total(sums)
        }
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
                let value = unsafe { self.0.find::<I>(self.1, &mut positions) };
                (positions, value)
            }
        }
        dispatch(level, Find(*self, board))
    }
}
