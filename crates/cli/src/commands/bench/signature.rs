//! A number that changes only when the program's behaviour does.
//!
//! The workload is fixed and runs on one thread. It consists of integer operations, and of additions and
//! multiplications of f32 in a fixed order, with the same result on every processor. A commit that changes the number
//! says so and why (see `CONTRIBUTING.md`).

use afterstate_game::{Game, Rules, State, perft};
use afterstate_lab::{
    deal::Deck,
    evaluate::{Games, SEED, evaluate},
};
use afterstate_learning::{
    Budget, StepSizeSpec, TargetSpec, Trainer, TrainingSettings,
    target::{DelayedTdLambda, TdLambda},
};
use afterstate_network::{Network, NetworkSpec, Tuples};

use super::rules::random_game;
use crate::error::Failure;

/// The signature of the whole program.
pub(super) fn signature() -> Result<u32, Failure> {
    let mut hash = Hash(0);
    games::<4>(&mut hash, 2000);
    games::<3>(&mut hash, 2000);
    games::<2>(&mut hash, 2000);
    hash.mix(perft(board::<4>("0000/0010/0100/0000"), 3));
    hash.mix(perft(board::<4>("hg21/f341/e543/1230"), 4));
    hash.mix(perft(board::<3>("010/000/100"), 3));
    hash.mix(perft(board::<2>("01/10"), 5));
    let td_0 = TargetSpec::TdLambda(TdLambda { lambda: 0.0, horizon: 0 });
    let delayed = TargetSpec::DelayedTdLambda(DelayedTdLambda { lambda: 0.5, horizon: 3 });
    training(&mut hash, td_0, StepSizeSpec::Fixed { alpha: 0.1 })?;
    training(&mut hash, td_0, StepSizeSpec::TemporalCoherence { beta: 1.0, reset: 0 })?;
    training(&mut hash, delayed, StepSizeSpec::TemporalCoherence { beta: 1.0, reset: 0 })?;
    Ok((hash.0 >> 32) as u32)
}

/// Every weight of a small network after some hundred games, and its play.
fn training(hash: &mut Hash, target: TargetSpec, step_size: StepSizeSpec) -> Result<(), Failure> {
    let failure =
        |error: &dyn ToString| Failure::other(error.to_string(), "the signature needs some megabytes");
    let rules = Rules::default();
    let spec =
        NetworkSpec { tuples: Tuples::named("2x4").expect("a built-in set"), ..NetworkSpec::default() };
    let network = Network::new(spec).map_err(|error| failure(&error))?;
    let schedule = vec![(0.5, 0.5)];
    let settings =
        TrainingSettings { schedule, ..TrainingSettings::new(target, step_size, Budget::Episodes(300)) };
    Trainer::new(&network, settings).map_err(|error| failure(&error))?.run(|_, _| true);
    for tuple in 0..network.spec().tuples.as_slice().len() {
        network.table(tuple).for_each(|weight| hash.mix(weight.to_bits().into()));
    }
    let results = evaluate(&network, Games { rules, seed: SEED, dealer: &Deck::new(20) }, 1, |_| true);
    results.into_iter().flatten().for_each(|game| hash.mix(game.score));
    Ok(())
}

/// Every position, score and legal move of some random games.
fn games<const N: usize>(hash: &mut Hash, count: u64) {
    for number in 0..count {
        random_game(number, |game: &Game<N>| {
            let bytes = u128::from_le_bytes(game.state().board().bytes());
            hash.mix(bytes as u64);
            hash.mix((bytes >> 64) as u64);
            hash.mix(game.score());
            hash.mix(game.state().legal_moves().mask().into());
        });
    }
}

fn board<const N: usize>(text: &str) -> State<N> {
    text.parse().expect("a board written here")
}

/// Hashes numbers: a multiplication spreads each over the upper bits, a rotation brings them
/// back down.
struct Hash(u64);

impl Hash {
    fn mix(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }
}

#[cfg(test)]
mod tests {
    use super::Hash;

    #[test]
    fn order_and_every_bit_matter() {
        let hash = |numbers: &[u64]| {
            let mut hash = Hash(0);
            numbers.iter().for_each(|&number| hash.mix(number));
            hash.mix(0);
            hash.0 >> 32
        };
        assert_ne!(hash(&[1, 2]), hash(&[2, 1]));
        for bit in 0..64 {
            assert_ne!(hash(&[1 << bit]), hash(&[0]), "bit {bit}");
        }
    }
}
