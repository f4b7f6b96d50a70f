//! A custom target: each afterstate moves towards the mean of TD(0)'s target and the score that actually followed.

use afterstate_game::{Afterstate, Game, Move, Rules};
use afterstate_learning::{StepSizeSpec, Updater};
use afterstate_network::{Network, NetworkSpec, Tuples};

/// The afterstates of a game by greedy play, each with the reward of the move to it.
fn episode(network: &Network, number: u64) -> Vec<(Afterstate<4>, f32)> {
    let mut game = Game::<4>::new(Rules::default(), 1, number);
    let mut steps = Vec::new();
    loop {
        let slides = game.state().slides();
        let worth =
            |a: &Move| slides.get(*a).map(|slide| slide.reward as f32 + network.value(slide.afterstate));
        let best = Move::ALL.into_iter().filter(|a| slides.get(*a).is_some());
        let Some(a) = best.max_by(|a, b| worth(a).partial_cmp(&worth(b)).expect("numbers")) else {
            return steps;
        };
        let slide = game.play(a).expect("a legal move");
        steps.push((slide.afterstate, slide.reward as f32));
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let network = Network::new(NetworkSpec { tuples: Tuples::named("2x4")?, ..NetworkSpec::default() })?;
    let updater = Updater::new(&network, StepSizeSpec::TemporalCoherence { beta: 1.0, reset: 0 })?;
    let (mut sum, games) = (0.0, 500);
    for number in 1..=games {
        let steps = episode(&network, number);
        sum += steps.iter().map(|(_, reward)| reward).sum::<f32>();
        // Backwards, so that the next value has already been updated.
        let (mut followed, mut next) = (0.0, 0.0);
        for &(afterstate, reward) in steps.iter().rev() {
            updater.update(&network, &[afterstate], &[(followed + next) / 2.0], 1.0, &mut [0.0]);
            followed += reward;
            next = reward + network.value(afterstate);
        }
        if number % 100 == 0 {
            println!("{number} games, mean score of the last 100: {:.0}", sum / 100.0);
            sum = 0.0;
        }
    }
    Ok(())
}
