//! Where new tiles spawn, and how often.

use crate::oracle::{Naive, random_board};
use afterstate_game::{Afterstate, Rules, State, game_rng};

fn all_spawns<const N: usize>(rules: Rules) {
    let mut rng = game_rng(8, N as u64);
    for _ in 0..5_000 {
        let after = Afterstate::new(random_board::<N>(&mut rng));
        let naive = Naive::of(after.board());
        let spawns: Vec<_> = after.spawns(&rules).collect();
        let mut expected = Vec::new();
        for (row, column) in naive.empty_cells() {
            for tile in [2, 4] {
                let mut next = naive.clone();
                next.0[row][column] = tile;
                expected.push(next);
            }
        }
        let states: Vec<_> = spawns.iter().map(|(state, _)| Naive::of(state.board())).collect();
        assert_eq!(states, expected, "{after}");
        let total: f64 = spawns.iter().map(|(_, probability)| probability).sum();
        assert!(spawns.is_empty() || (total - 1.0).abs() < 1e-12, "{after}: {total}");
    }
}

#[test]
fn spawns_are_all_of_them_and_their_probabilities_sum_to_one() {
    for four in [0.1, 0.0, 0.5, 1.0] {
        let rules = Rules { four, start_tiles: 2 };
        all_spawns::<4>(rules);
        all_spawns::<3>(rules);
        all_spawns::<2>(rules);
    }
}

/// Pearson's statistic of spawns from one afterstate against the stated probabilities.
fn chi_square(text: &str, rules: Rules, draws: u32) -> f64 {
    let after: Afterstate<4> = text.parse().expect("a board");
    let possible: Vec<(State<4>, f64)> = after.spawns(&rules).collect();
    let mut counts = vec![0u32; possible.len()];
    let mut rng = game_rng(9, 0);
    for _ in 0..draws {
        let state = after.spawn(&rules, &mut rng);
        let which = possible.iter().position(|(other, _)| *other == state);
        counts[which.expect("a spawn is one of the spawns")] += 1;
    }
    let terms = possible.iter().zip(counts).map(|((state, probability), count)| {
        let expected = probability * f64::from(draws);
        if expected == 0.0 {
            assert_eq!(count, 0, "{state} is impossible");
            return 0.0;
        }
        (f64::from(count) - expected).powi(2) / expected
    });
    terms.sum()
}

/// The bounds are the 99.9% quantiles for the number of outcomes minus one degrees of freedom.
#[test]
fn spawns_come_as_often_as_their_probabilities_say() {
    let standard = Rules::default();
    let even = Rules { four: 0.5, start_tiles: 2 };
    for rules in [standard, even] {
        assert!(chi_square("0000/0000/0000/0000", rules, 400_000) < 61.1);
        assert!(chi_square("1020/3456/0789/a00b", rules, 200_000) < 27.9);
        assert!(chi_square("1234/5678/9abc/def0", rules, 50_000) < 10.9);
    }
    let never = Rules { four: 0.0, start_tiles: 2 };
    let always = Rules { four: 1.0, start_tiles: 2 };
    for rules in [never, always] {
        assert!(chi_square("1020/3456/0789/a00b", rules, 50_000) < 18.5);
    }
}

#[test]
fn a_game_starts_with_as_many_tiles_as_the_rules_say() {
    for start_tiles in [0, 1, 2, 4] {
        let rules = Rules { four: 0.1, start_tiles };
        for number in 0..1000 {
            let state: State<2> = rules.initial_state(&mut game_rng(1, number));
            assert_eq!(4 - state.board().empty_count(), start_tiles);
            assert!(state.board().max_exponent() <= 2);
        }
    }
}
