//! Search against expectimax written naively: the same bits.

use crate::common::{network, states};
use afterstate_game::{Afterstate, Move, Rules, State};
use afterstate_network::{Level, Network};
use afterstate_search::{Expectimax, Limit, Player, Settings, TableSize};

/// The values of the four moves at a depth: no table, nothing shared, nothing skipped.
fn naive<const N: usize>(network: &Network, rules: &Rules, state: State<N>, plies: u32) -> [Option<f32>; 4] {
    Move::ALL.map(|a| {
        let slide = state.slide(a)?;
        Some(slide.reward as f32 + naive_afterstate(network, rules, slide.afterstate, plies - 1))
    })
}

fn naive_afterstate<const N: usize>(network: &Network, rules: &Rules, s: Afterstate<N>, layers: u32) -> f32 {
    if layers == 0 {
        return network.value(s);
    }
    let (mut twos, mut fours) = (0.0, 0.0);
    for (i, (state, _)) in s.spawns(rules).enumerate() {
        let best = naive(network, rules, state, layers).into_iter().flatten().reduce(f32::max);
        *if i % 2 == 0 { &mut twos } else { &mut fours } += f64::from(best.unwrap_or(0.0));
    }
    ((twos * (1.0 - rules.four) + fours * rules.four) / f64::from(s.board().empty_count())) as f32
}

fn settings(plies: u32, table: TableSize) -> Settings {
    Settings { table, ..Settings::new(Limit::Plies(plies)) }
}

/// All ways of searching to a fixed depth, against the naive one.
fn compare<const N: usize>(network: &Network, rules: Rules, states: &[State<N>], plies: u32) {
    let player =
        |table, threads| Expectimax::<N>::new(network.view(), rules, settings(plies, table), threads);
    let mut players = vec![
        ("no table", player(TableSize::Off, 1)),
        ("table", player(TableSize::Auto, 1)),
        ("tiny table", player(TableSize::Bits(3), 1)),
        ("large table", player(TableSize::Bits(16), 1)),
        ("three threads", player(TableSize::Auto, 3)),
    ];
    for level in Level::available() {
        players.push(("instruction set", player(TableSize::Auto, 1).with_level(level)));
    }
    for &state in states {
        let expected = naive(network, &rules, state, plies);
        for (name, player) in &mut players {
            let advice = player.advise(state);
            let bits = |values: [Option<f32>; 4]| values.map(|value| value.map(f32::to_bits));
            assert_eq!(bits(advice.values), bits(expected), "{plies}-ply, {name}, {state}");
            assert_eq!(advice.plies, plies);
        }
    }
}

#[test]
fn one_and_two_ply() {
    let (network, states) = (network(4), states::<4>(4000));
    compare(&network, Rules::default(), &states, 1);
    compare(&network, Rules::default(), &states[..2000], 2);
}

#[test]
fn three_ply() {
    compare(&network(4), Rules::default(), &states::<4>(600), 3);
}

#[test]
fn four_ply() {
    let full: Vec<_> = states::<4>(400).into_iter().filter(|state| state.board().empty_count() < 4).collect();
    assert!(full.len() > 25);
    compare(&network(4), Rules::default(), &full[..25], 4);
}

#[test]
fn small_boards_and_other_odds() {
    for four in [0.0, 0.3, 1.0] {
        let rules = Rules { four, ..Rules::default() };
        compare(&network(3), rules, &states::<3>(300), 3);
        compare(&network(2), rules, &states::<2>(100), 5);
    }
}
