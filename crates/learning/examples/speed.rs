//! Training speed of one configuration: `speed TUPLES td|tc GAMES THREADS`.
use afterstate_learning::{target::TdLambda, *};
use afterstate_network::*;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let tuples = Tuples::named(&args[1]).unwrap();
    let games: u64 = args[3].parse().unwrap();
    let threads: usize = args[4].parse().unwrap();
    let network = Network::new(NetworkSpec {
        tuples,
        tile_values: std::env::var("C").map_or(16, |c| c.parse().unwrap()),
        ..Default::default()
    })
    .unwrap();
    let step_size = if args[2] == "tc" {
        StepSizeSpec::TemporalCoherence { beta: 1.0 }
    } else {
        StepSizeSpec::Fixed { alpha: 0.1 }
    };
    let settings = Settings {
        rules: Default::default(),
        seed: 1,
        target: TargetSpec::TdLambda(TdLambda { lambda: 0.0, horizon: 0 }),
        step_size,
        schedule: vec![],
        threads,
        parallel: if args.len() > 5 { Parallel::PrivateHot } else { Parallel::LockFree },
        budget: Budget::Episodes(games),
    };
    let mut trainer = Trainer::new(&network, settings).unwrap();
    let mut scores: Vec<u64> = vec![];
    let mut last = Progress::default();
    trainer.run(|p, f| {
        for g in f {
            scores.push(g.score);
        }
        while scores.len() >= 10000 {
            let batch: Vec<u64> = scores.drain(..10000).collect();
            println!(
                "{:>8} games {:>11} actions {:>8.0} mean  {:>7.3} M moves/s",
                p.episodes,
                p.actions,
                batch[8000..].iter().sum::<u64>() as f64 / 2000.0,
                (p.actions - last.actions) as f64 / (p.seconds - last.seconds) / 1e6
            );
            last = p;
        }
        true
    });
    let p = trainer.progress();
    println!(
        "total {} actions {:.2} s {:.3} M moves/s",
        p.actions,
        p.seconds,
        p.actions as f64 / p.seconds / 1e6
    );
}
