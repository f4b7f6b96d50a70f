//! A network: a specification, its layout, and the weights.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use afterstate_game::Afterstate;

use crate::{
    Encoding, Isa, Kernel, Layout, Level, Mapped, MemoryError, NetworkSpec, Positions, SpecError, dispatch, memory,
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
        let weights = Mapped::zeroed(layout.len() as usize)?;
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

    /// All weights, in the order of the layout.
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
        struct Value<'a>(&'a Network, [u8; 16]);
        impl Kernel for Value<'_> {
            type Output = f32;
            #[inline(always)]
            unsafe fn run<I: Isa>(self) -> f32 {
                let mut positions = vec![Positions::default(); self.0.layout.lookups().len()];
                // SAFETY: inside a kernel.
                unsafe { self.0.find::<I>(&self.1, &mut positions) }
            }
        }
        dispatch(level, Value(self, afterstate.board().bytes()))
    }

    /// The positions of all weights of a board, lookup by lookup, by a given instruction set.
    ///
    /// # Panics
    /// When the processor has no such instructions.
    pub fn positions_at(&self, level: Level, board: &[u8; 16]) -> Vec<Positions> {
        struct All<'a>(&'a Network, &'a [u8; 16]);
        impl Kernel for All<'_> {
            type Output = Vec<Positions>;
            #[inline(always)]
            unsafe fn run<I: Isa>(self) -> Vec<Positions> {
                let mut positions = vec![Positions::default(); self.0.layout.lookups().len()];
                // SAFETY: inside a kernel.
                unsafe { self.0.find::<I>(self.1, &mut positions) };
                positions
            }
        }
        dispatch(level, All(self, board))
    }

    /// The positions of a board's weights, lookup by lookup, and their sum, the value.
    ///
    /// # Safety
    /// The instruction set must be there (see [`Kernel`]).
    #[inline(always)]
    pub unsafe fn find<I: Isa>(&self, board: &[u8; 16], positions: &mut [Positions]) -> f32 {
        let (weights, encoding) = (self.weights(), self.encoding());
        // SAFETY: as the caller; the lookups are this network's.
        unsafe {
            let mut sums = I::zero();
            for (lookup, positions) in self.layout.lookups().iter().zip(positions) {
                *positions = I::positions(board, encoding, lookup);
                sums = I::add(sums, weights, lookup, positions);
            }
            I::total(sums)
        }
    }

    /// The sum of the weights at positions of this network.
    ///
    /// # Safety
    /// The instruction set must be there (see [`Kernel`]), and the positions must be this network's.
    #[inline(always)]
    pub unsafe fn sum<I: Isa>(&self, positions: &[Positions]) -> f32 {
        // SAFETY: as the caller.
        unsafe {
            let mut sums = I::zero();
            for (lookup, positions) in self.layout.lookups().iter().zip(positions) {
                sums = I::add(sums, self.weights(), lookup, positions);
            }
            I::total(sums)
        }
    }
}
