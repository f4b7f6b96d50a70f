//! TC(0) on two 4-tuples: a network that plays decently after a few seconds.

use afterstate_game::Rules;
use afterstate_learning::{
    Budget, EpsilonGreedy, Parallel, StartSpec, StepSizeSpec, TargetSpec, Trainer, TrainingSettings,
    target::TdLambda,
};
use afterstate_network::{Network, NetworkSpec, Tuples};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let network = Network::new(NetworkSpec { tuples: Tuples::named("2x4")?, ..NetworkSpec::default() })?;
    let settings = TrainingSettings {
        rules: Rules::default(),
        seed: 1,
        target: TargetSpec::TdLambda(TdLambda { lambda: 0.0, horizon: 0 }),
        policy: EpsilonGreedy::GREEDY,
        downgrade: None,
        step_size: StepSizeSpec::TemporalCoherence { beta: 1.0, reset: 0 },
        start: StartSpec::Fresh,
        positions: vec![],
        teacher: None,
        schedule: vec![],
        threads: 1,
        parallel: Parallel::LockFree,
        budget: Budget::Actions(1_000_000),
    };
    let mut trainer = Trainer::new(&network, settings)?;
    trainer.run_until(1_000_000, |progress, finished| {
        if let Some(game) = finished.last() {
            println!(
                "{} actions, {} games; the last one: {} points",
                progress.actions, progress.episodes, game.score
            );
        }
        true
    });
    Ok(())
}
