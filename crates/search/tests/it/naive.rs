//! Search against expectimax written naively: the same bits.

use crate::common::{network, states};
use afterstate_game::{Afterstate, Move, Rules, State};
use afterstate_network::{Level, Network};
use afterstate_search::{Expectimax, Limit, Player, SearchSettings, TableSize};

/// The values of the four moves at a depth: no table, nothing shared, nothing skipped except branches with too many
/// 4-tiles.
fn naive<const N: usize>(
    network: &Network,
    rules: &Rules,
    state: State<N>,
    plies: u32,
    fours: i32,
) -> [Option<f32>; 4] {
    Move::ALL.map(|a| {
        let slide = state.slide(a)?;
        Some(slide.reward as f32 + naive_afterstate(network, rules, slide.afterstate, plies - 1, fours))
    })
}

fn naive_afterstate<const N: usize>(
    network: &Network,
    rules: &Rules,
    s: Afterstate<N>,
    layers: u32,
    fours: i32,
) -> f32 {
    if layers == 0 || fours < 0 {
        return network.value(s);
    }
    let (mut sum_of_twos, mut sum_of_fours) = (0.0, 0.0);
    for (i, (state, _)) in s.spawns(rules).enumerate() {
        let is_four = i % 2 == 1;
        let values = naive(network, rules, state, layers, fours - i32::from(is_four));
        let best = values.into_iter().flatten().reduce(f32::max);
        *if is_four { &mut sum_of_fours } else { &mut sum_of_twos } += f64::from(best.unwrap_or(0.0));
    }
    ((sum_of_twos * (1.0 - rules.four) + sum_of_fours * rules.four) / f64::from(s.board().empty_count()))
        as f32
}

/// More 4-tiles than there are.
const ANY: i32 = 100;

fn settings(plies: u32, table: TableSize) -> SearchSettings {
    SearchSettings { table, ..SearchSettings::new(Limit::Plies(plies)) }
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
        let expected = naive(network, &rules, state, plies, ANY);
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

#[test]
fn branches_behind_many_fours_are_left_out() {
    let (network, rules) = (network(4), Rules::default());
    let full: Vec<_> = states::<4>(400).into_iter().filter(|state| state.board().empty_count() < 4).collect();
    let mut differ = 0;
    for (plies, fours, states) in
        [(2, 0, &full[..]), (3, 0, &full[..40]), (3, 1, &full[..10]), (4, 1, &full[..4]), (4, 0, &full[..4])]
    {
        let settings = SearchSettings { fours: Some(fours), ..SearchSettings::new(Limit::Plies(plies)) };
        let mut players: Vec<_> = [(TableSize::Auto, 1), (TableSize::Off, 1), (TableSize::Bits(4), 2)]
            .map(|(table, threads)| {
                Expectimax::<4>::new(network.view(), rules, SearchSettings { table, ..settings }, threads)
            })
            .into();
        for &state in states {
            let expected = naive(&network, &rules, state, plies, fours as i32);
            differ += u32::from(expected != naive(&network, &rules, state, plies, ANY));
            for player in &mut players {
                assert_eq!(player.advise(state).values, expected, "{plies}-ply, {fours} fours, {state}");
            }
        }
    }
    assert!(differ > 30, "the bound leaves something out on {differ} boards");
}
