//! From the words of a recipe to the types of the network and the trainer.

use afterstate_learning as learning;
use afterstate_learning::{
    EpsilonGreedy, Settings, StepSizeSpec, TargetSpec,
    target::{Backward, DelayedTdLambda, NStep, TdLambda},
};
use afterstate_search::Downgrade;
use xxhash_rust::xxh3::xxh3_64;

use super::{Budget, Learning, Order, ParallelMode, Recipe, RecipeError, StepSize, Target, Ties};

impl Recipe {
    /// What the trainer is told.
    pub fn settings(&self) -> Settings {
        let step = |&(from, factor): &(f64, f64)| (from, factor as f32);
        Settings {
            rules: self.game.rules(),
            seed: self.seed,
            target: self.learning.target_spec(),
            policy: EpsilonGreedy {
                epsilon: self.learning.epsilon,
                random_ties: self.learning.ties == Ties::Random,
                temperature: self.learning.temperature,
            },
            downgrade: self
                .learning
                .downgrade
                .checked_ilog2()
                .map(|tile| Downgrade::from_exponent(tile as u8)),
            step_size: self.learning.step_size_spec(),
            start: self.start.spec(),
            positions: vec![],
            schedule: self.learning.schedule.iter().map(step).collect(),
            threads: self.parallel.thread_count(),
            parallel: match self.parallel.mode {
                ParallelMode::LockFree => learning::Parallel::LockFree,
                ParallelMode::PrivateHot => learning::Parallel::PrivateHot,
            },
            budget: match self.budget {
                Budget::Actions(actions) => learning::Budget::Actions(actions),
                Budget::Episodes(episodes) => learning::Budget::Episodes(episodes),
                Budget::Seconds(seconds) => learning::Budget::Seconds(seconds),
            },
        }
    }

    /// The part of the recipe that shaped the weights, as TOML: all but evaluation, checkpoints and
    /// log. It is a recipe too.
    pub fn origin(&self) -> Result<String, RecipeError> {
        let mut table = toml::Table::try_from(self)?;
        for section in ["evaluation", "checkpoint", "log"] {
            table.remove(section);
        }
        Ok(toml::to_string(&table)?)
    }
}

impl Recipe {
    /// A checksum of what a run never changes: the logs of a run are known by it.
    pub(crate) fn fingerprint(&self) -> String {
        let mut table = toml::Table::try_from(self).unwrap_or_default();
        table.retain(|key, _| ["seed", "game", "network", "learning", "start"].contains(&key));
        format!("{:016x}", xxh3_64(table.to_string().as_bytes()))
    }
}

impl Learning {
    fn target_spec(&self) -> TargetSpec {
        match self.target {
            Target::NStep { n } => TargetSpec::NStep(NStep { n: n as usize }),
            Target::Td { lambda, horizon } => {
                let (lambda, horizon) = (lambda as f32, horizon.unwrap_or_default() as usize);
                match self.order {
                    Order::Forward => TargetSpec::TdLambda(TdLambda { lambda, horizon }),
                    Order::Delayed => TargetSpec::DelayedTdLambda(DelayedTdLambda { lambda, horizon }),
                    Order::Backward => TargetSpec::Backward(Backward { lambda }),
                }
            }
        }
    }

    /// How far a weight goes.
    pub fn step_size_spec(&self) -> StepSizeSpec {
        match self.step_size {
            StepSize::Fixed { alpha } => StepSizeSpec::Fixed { alpha: alpha as f32 },
            StepSize::Tc { beta, tc_reset } => {
                StepSizeSpec::TemporalCoherence { beta: beta as f32, reset: tc_reset }
            }
            StepSize::OtdTc { alpha, beta, tc_share, tc_reset: reset } => {
                StepSizeSpec::FixedThenCoherence { alpha: alpha as f32, beta: beta as f32, tc_share, reset }
            }
            StepSize::Autostep { mu, tau, alpha } => {
                StepSizeSpec::Autostep { mu: mu as f32, tau: tau as f32, alpha: alpha as f32 }
            }
        }
    }
}
