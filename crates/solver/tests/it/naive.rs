//! The solver against recursion by the definitions, on 2×2, where that is fast.

use std::collections::{BTreeSet, HashMap};

use afterstate_game::{Afterstate, Board, Move, Rules, State};
use afterstate_solver::{Boards, Objective, Solution, SolverSettings, Space, evaluate};

/// The value of a state by the definition; boards are not folded by symmetry.
struct Naive {
    rules: Rules,
    goal: Option<u8>,
    values: HashMap<State<2>, f64>,
    afterstates: HashMap<Afterstate<2>, f64>,
}

impl Naive {
    fn new(rules: Rules, goal: Option<u8>) -> Self {
        Naive { rules, goal, values: HashMap::new(), afterstates: HashMap::new() }
    }

    fn state(&mut self, state: State<2>) -> f64 {
        if let Some(&value) = self.values.get(&state) {
            return value;
        }
        let reached = self.goal.is_some_and(|goal| state.board().max_exponent() >= goal);
        let mut best = f64::from(u8::from(reached));
        for (_, slide) in state.slides().iter() {
            let reward = if self.goal.is_some() { 0.0 } else { f64::from(slide.reward) };
            let value = reward + self.afterstate(slide.afterstate);
            best = if reached { best } else { best.max(value) };
        }
        self.values.insert(state, best);
        best
    }

    fn afterstate(&mut self, afterstate: Afterstate<2>) -> f64 {
        if let Some(&value) = self.afterstates.get(&afterstate) {
            return value;
        }
        let spawns: Vec<_> = afterstate.spawns(&self.rules).filter(|spawn| spawn.1 > 0.0).collect();
        let value = spawns.into_iter().map(|(state, p)| p * self.state(state)).sum();
        self.afterstates.insert(afterstate, value);
        value
    }

    /// From the random start.
    fn expected(&mut self) -> f64 {
        initial(&self.rules).into_iter().map(|(state, p)| p * self.state(state)).sum()
    }
}

fn initial(rules: &Rules) -> Vec<(State<2>, f64)> {
    let mut boards = vec![(State::new(Board::EMPTY), 1.0)];
    for _ in 0..rules.start_tiles {
        let spawns = boards.into_iter().flat_map(|(state, p)| {
            Afterstate::new(state.board()).spawns(rules).map(move |(next, q)| (next, p * q))
        });
        boards = spawns.filter(|spawn| spawn.1 > 0.0).collect();
    }
    boards
}

fn variants() -> [Rules; 5] {
    [(0.1, 2), (0.5, 2), (0.0, 2), (1.0, 1), (0.1, 3)].map(|(four, start_tiles)| Rules { four, start_tiles })
}

fn solve(rules: &Rules, objective: Objective) -> Solution<2> {
    Space::enumerate(rules, 2, |_| ()).solve(objective, 2, |_| ())
}

#[test]
fn all_values_are_those_of_the_definition() {
    for rules in variants() {
        for goal in [None, Some(1), Some(4), Some(5), Some(6)] {
            let mut naive = Naive::new(rules, goal);
            let expected = naive.expected();
            let solution = solve(&rules, goal.map_or(Objective::Score, Objective::Goal));
            assert!((solution.expected() - expected).abs() < 1e-9, "{rules:?} {goal:?}");
            let states: BTreeSet<_> = naive.values.keys().map(|state| state.board().canonical()).collect();
            let afterstates: BTreeSet<_> = naive.afterstates.keys().map(|a| a.board().canonical()).collect();
            assert_eq!(solution.states(), states.len() as u64);
            assert_eq!(solution.afterstates(), afterstates.len() as u64);
            for (&afterstate, &value) in &naive.afterstates {
                let found = solution.value(afterstate).expect("a reachable afterstate");
                assert!((found - value).abs() < 1e-5, "{afterstate}: {found}, but {value}");
            }
        }
    }
}

#[test]
fn boards_that_no_game_reaches_have_no_value() {
    let solution = solve(&Rules::default(), Objective::Score);
    for text in ["0000", "6000", "h000", "5432", "3333"] {
        let afterstate: Afterstate<2> = text.parse().expect("a board");
        assert_eq!(solution.value(afterstate), None, "{text}");
    }
}

/// Arbitrary, legal, and not symmetric.
fn odd(state: State<2>) -> Move {
    let number = state.board().exponents().fold(7u32, |hash, e| hash.wrapping_mul(31).wrapping_add(e.into()));
    let moves: Vec<_> = state.legal_moves().collect();
    moves[number as usize % moves.len()]
}

/// Mean score, mean square of the score, and moves, by enumerating all games.
fn all_games(state: State<2>, rules: &Rules, p: f64, score: f64, moves: f64, sums: &mut [f64; 3]) {
    let Some(slide) = (!state.is_terminal()).then(|| state.slide(odd(state))).flatten() else {
        sums.iter_mut().zip([score, score * score, moves]).for_each(|(sum, x)| *sum += p * x);
        return;
    };
    for (next, q) in slide.afterstate.spawns(rules) {
        // Games on 2×2 are short, but there are many unlikely ones.
        if p * q > 1e-12 {
            all_games(next, rules, p * q, score + f64::from(slide.reward), moves + 1.0, sums);
        }
    }
}

fn settings(rules: Rules, optimum: Option<&Solution<2>>, threads: usize) -> SolverSettings<'_, 2> {
    SolverSettings { rules, boards: Boards::All, until: Objective::Score, optimum, threads }
}

#[test]
fn a_policy_comes_to_what_all_its_games_come_to() {
    let rules = Rules::default();
    let mut sums = [0.0; 3];
    for (state, p) in initial(&rules) {
        all_games(state, &rules, p, 0.0, 0.0, &mut sums);
    }
    let evaluation = evaluate(&odd, &settings(rules, None, 1), |_| ());
    let [mean, square, moves] = sums;
    assert!((evaluation.expected_score - mean).abs() < 1e-4, "{evaluation:?}, but {mean}");
    assert!((evaluation.sd - (square - mean * mean).sqrt()).abs() < 1e-4, "{evaluation:?}");
    assert!((evaluation.expected_moves - moves).abs() < 1e-4, "{evaluation:?}, but {moves}");
}

#[test]
fn what_a_policy_loses_is_the_sum_of_its_mistakes() {
    for rules in variants() {
        let solution = solve(&rules, Objective::Score);
        let evaluation = evaluate(&odd, &settings(rules, Some(&solution), 2), |_| ());
        let regret = evaluation.regret.expect("asked for");
        let short = solution.expected() - evaluation.expected_score;
        assert!((regret.total - short).abs() < 1e-3, "{rules:?}: {} and {short}", regret.total);
        assert!(regret.worst.is_sorted_by(|a, b| a.loss >= b.loss), "{regret:?}");
        assert!(short < 1e-3 || (0.0..1.0).contains(&regret.mistakes) && !regret.worst.is_empty());
    }
}

#[test]
fn the_best_play_comes_to_the_solution_and_has_no_regret() {
    let rules = Rules::default();
    let solution = solve(&rules, Objective::Score);
    let best = |state: State<2>| solution.best(state).expect("a reachable state").0;
    for boards in [Boards::All, Boards::Canonical] {
        let evaluation =
            evaluate(&best, &SolverSettings { boards, ..settings(rules, Some(&solution), 1) }, |_| ());
        assert!((evaluation.expected_score - solution.expected()).abs() < 1e-3, "{evaluation:?}");
        assert_eq!(evaluation.regret.expect("asked for").total, 0.0);
    }
    let goal = solve(&rules, Objective::Goal(5));
    let best = |state: State<2>| goal.best(state).expect("a reachable state").0;
    let evaluation =
        evaluate(&best, &SolverSettings { until: Objective::Goal(5), ..settings(rules, None, 1) }, |_| ());
    assert!((evaluation.tiles[4] - goal.expected()).abs() < 1e-6, "{evaluation:?}");
    assert_eq!(evaluation.tiles.len(), 5);
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let rules = Rules::default();
    let solution = solve(&rules, Objective::Score);
    let evaluation = |threads| evaluate(&odd, &settings(rules, Some(&solution), threads), |_| ());
    assert_eq!(evaluation(1), evaluation(3));
}
