//! A network: a specification, its layout, and the weights.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use afterstate_game::Afterstate;

use crate::{
    Encoding, FeatureSlots, Layout, Level, Mapped, MemoryError, NetworkSpec, SpecError, TableId, View,
    features::Owner, memory, view::PrivateLookups, weight_promotion::Promotion,
};

/// Sets of tables with more weights exceed a core's private caches, and their weights are prefetched. For smaller sets
/// prefetching costs more than it saves.
const LARGE: u64 = 1 << 20;

/// The weights, as f32 bits in relaxed atomics: threads share them without locks.
pub type Weights = Mapped<AtomicU32>;

/// An n-tuple network.
pub struct Network {
    owner: Owner,
    spec: NetworkSpec,
    layout: Layout,
    /// The number of private areas in each set of tables.
    areas: u64,
    /// V_init of each set of tables. Weights are stored relative to it, so that optimistic tables need not be written before
    /// they are used.
    initial: Vec<f32>,
    weights: Weights,
}

/// Why a network could not be created.
#[derive(Debug, thiserror::Error)]
pub enum NetworkError {
    /// The specification is invalid.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// There is not enough memory.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

impl Network {
    /// Creates a network whose weights are all 0.
    ///
    /// # Errors
    /// If the specification is invalid, or the weights do not fit into memory.
    pub fn new(spec: NetworkSpec) -> Result<Self, NetworkError> {
        spec.check()?;
        let layout = Layout::new(&spec);
        let sets = spec.sets() as u64;
        memory::check_fits("the network", sets * layout.len() * size_of::<f32>() as u64)?;
        // Areas that only training uses cost nothing before that.
        let areas = std::thread::available_parallelism().map_or(1, usize::from) as u64;
        let weights = Mapped::zeroed((sets * (layout.len() + areas * layout.private_len())) as usize)?;
        let initial = (0..spec.sets()).map(|set| spec.initial(set / spec.values.sets())).collect();
        Ok(Network { owner: Owner::new(), spec, layout, areas, initial, weights })
    }

    /// The network's specification.
    pub fn spec(&self) -> &NetworkSpec {
        &self.spec
    }

    /// The layout of the weights of each set of tables.
    #[inline(always)]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// All weights, set by set in the order of the layout; each set is followed by the private areas.
    #[inline(always)]
    pub fn weights(&self) -> &[AtomicU32] {
        self.weights.as_slice()
    }

    /// The distance between the first weights of consecutive sets of tables.
    #[inline(always)]
    pub fn set_len(&self) -> usize {
        (self.layout.len() + self.areas * self.layout.private_len()) as usize
    }

    /// How exponents are encoded as indices.
    #[inline(always)]
    fn encoding(&self) -> Encoding {
        if self.spec.has_nibbles() { Encoding::Nibbles } else { Encoding::Labels }
    }

    /// The indices of a table's weights, in the order of the paper's Eq. 3: the first cell has factor 1.
    pub fn indices(&self, table: usize) -> impl Iterator<Item = usize> + '_ {
        let TableId { set, .. } = self.spec.table_id(table);
        let first = set * self.set_len();
        self.layout.indices(table % self.spec.tables_per_set()).map(move |index| first + index)
    }

    /// A table, in the order of the paper's Eq. 3. Its weights are relative to V_init.
    pub fn table(&self, table: usize) -> impl Iterator<Item = f32> + '_ {
        self.indices(table).map(|p| f32::from_bits(self.weights()[p].load(Relaxed)))
    }

    /// Fills a table, in the order of the paper's Eq. 3.
    pub fn set_table(&self, table: usize, values: impl IntoIterator<Item = f32>) {
        for (index, value) in self.indices(table).zip(values) {
            self.weights()[index].store(value.to_bits(), Relaxed);
        }
    }

    /// The value of an afterstate, in a network of afterstates.
    ///
    /// # Panics
    /// If the board does not have the network's side.
    pub fn value<const N: usize>(&self, afterstate: Afterstate<N>) -> f32 {
        self.value_at(Level::best(), afterstate)
    }

    /// The value of an afterstate by a given instruction set; all give the same bits.
    ///
    /// # Panics
    /// If the board does not have the network's side, or the processor lacks the instructions.
    pub fn value_at<const N: usize>(&self, level: Level, afterstate: Afterstate<N>) -> f32 {
        assert_eq!(N, self.spec.side, "the board and the network differ in size");
        let mut slots = FeatureSlots::new(self, 1);
        self.view().find_at(level, &afterstate.board().bytes(), &mut slots, 0)
    }

    /// The network for evaluation and play.
    #[inline(always)]
    pub fn view(&self) -> View<'_> {
        View {
            owner: self.owner,
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

    /// The network for training: promoted weights are stored.
    pub fn training_view(&self) -> View<'_> {
        View { promotion: Promotion::Write, ..self.view() }
    }

    /// The lookups of a thread that keeps the weights of small tiles private. `None` if the network has no area for
    /// them (its tables are not plain ones with c = 16, or too large), or not enough areas.
    pub fn private_lookups(&self, thread: usize) -> Option<PrivateLookups> {
        let (area_len, thread) = (self.layout.private_len(), thread as u64);
        let area = self.layout.len() + area_len * thread;
        let lookups = (area_len > 0 && thread < self.areas).then(|| self.layout.private_lookups(area))??;
        Some(PrivateLookups { owner: self.owner, area: area as usize, lookups })
    }
}
