//! Learning from targets that the caller provides: training steps without games.

use afterstate_game::Afterstate;
use afterstate_network::{FeatureSlots, Isa, Kernel, Level, MemoryError, Network, dispatch};

use crate::{
    StepSizeSpec,
    learner::Learner,
    step_size::{StepSizes, WeightNumbers},
};

/// A step size and its state for the weights of one network.
///
/// ```
/// use afterstate_game::Afterstate;
/// use afterstate_learning::{StepSizeSpec, Updater};
/// use afterstate_network::{Network, NetworkSpec, Tuples};
///
/// let network = Network::new(NetworkSpec { tuples: Tuples::named("2x4")?, ..NetworkSpec::default() })?;
/// let updater = Updater::new(&network, StepSizeSpec::Fixed { alpha: 0.5 })?;
/// let afterstate: Afterstate<4> = "1234/5678/9ab1/2345".parse()?;
/// let mut errors = [0.0; 2];
/// updater.update(&network, &[afterstate, afterstate], &[100.0, 100.0], 1.0, &mut errors);
/// assert_eq!(errors, [100.0, 50.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Updater {
    spec: StepSizeSpec,
    step_sizes: StepSizes,
    /// The number of weights that share a step.
    divisor: f32,
    weights: usize,
}

impl Updater {
    /// Prepares to update a network.
    ///
    /// # Errors
    /// If there is not enough memory for the step size's state.
    pub fn new(network: &Network, spec: StepSizeSpec) -> Result<Self, MemoryError> {
        let weights = network.weights().len();
        let divisor = if spec.is_divided() { network.spec().active_features() as f32 } else { 1.0 };
        let step_sizes = StepSizes::new(spec, weights as u64, network.spec().active_features())?;
        Ok(Updater { spec, step_sizes, divisor, weights })
    }

    /// Moves the value of each afterstate towards its target, one after the other, and stores the errors: each is
    /// the target minus the current V(s') when its turn comes. The learning rate is multiplied by `factor`.
    ///
    /// # Panics
    /// If the boards do not have the network's side, the slices differ in length, or the network is not the one for
    /// which this was created.
    pub fn update<const N: usize>(
        &self,
        network: &Network,
        afterstates: &[Afterstate<N>],
        targets: &[f32],
        factor: f32,
        errors: &mut [f32],
    ) {
        assert_eq!(N, network.spec().side, "the boards and the network differ in size");
        assert!(afterstates.len() == targets.len() && targets.len() == errors.len(), "one target for each");
        assert_eq!(network.weights().len(), self.weights, "another network");
        let learner = Learner {
            view: network.training_view(),
            step_size: self.step_sizes.at(&self.spec, 0.0),
            rate: self.spec.rate(0.0, factor) / self.divisor,
            frozen: 0,
        };
        let slots = FeatureSlots::new(network, 1);
        dispatch(Level::best(), Update { learner, slots, afterstates, targets, errors });
    }

    /// The numbers that the step size stores for every weight.
    pub fn numbers(&self) -> Vec<WeightNumbers<'_>> {
        self.step_sizes.numbers()
    }
}

struct Update<'a, const N: usize> {
    learner: Learner<'a>,
    slots: FeatureSlots,
    afterstates: &'a [Afterstate<N>],
    targets: &'a [f32],
    errors: &'a mut [f32],
}

impl<const N: usize> Kernel for Update<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(mut self, isa: I) {
        for ((afterstate, target), error) in self.afterstates.iter().zip(self.targets).zip(self.errors) {
            let value = self.learner.view.find(isa, &afterstate.board().bytes(), &mut self.slots, 0);
            *error = target - value;
            self.learner.update(isa, self.slots.get(0), *error, *error);
        }
    }
}
