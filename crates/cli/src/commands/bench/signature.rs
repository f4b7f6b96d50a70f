//! A number that moves only when the program's behaviour does.
//!
//! The workload is fixed, runs on one thread and is made of integers. A commit that changes the number
//! says so and why (see `CONTRIBUTING.md`).

use afterstate_game::{Game, State, perft};

use super::rules::random_game;

/// The signature of the whole program.
pub(super) fn signature() -> u32 {
    let mut hash = Hash(0);
    games::<4>(&mut hash, 2000);
    games::<3>(&mut hash, 2000);
    games::<2>(&mut hash, 2000);
    hash.mix(perft(board::<4>("0000/0010/0100/0000"), 3));
    hash.mix(perft(board::<4>("hg21/f341/e543/1230"), 4));
    hash.mix(perft(board::<3>("010/000/100"), 3));
    hash.mix(perft(board::<2>("01/10"), 5));
    (hash.0 >> 32) as u32
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

/// Numbers folded into one: a multiplication spreads each over the upper bits, a rotation brings them
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
