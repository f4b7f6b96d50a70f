//! `Model::open` for every kind of model: what it is, how it plays, and what it does not support.

use std::{collections::BTreeMap, path::Path};

use afterstate_dcnn::{Architecture, Dcnn, DcnnSpec};
use afterstate_game::{Rules, State};
use afterstate_lab::{
    deal::Deck,
    evaluate::Games,
    model::{Class, Kind, Model, ModelError, Search, describe, open_file},
};
use afterstate_network::{Network, NetworkSpec, Tuples};
use afterstate_search::Limit;
use afterstate_solver::{Objective, Space};

const GREEDY: Limit = Limit::Plies(1);

fn open(path: &Path) -> Model {
    Model::open(Some(path)).expect("a model")
}

fn refusal<T>(result: Result<T, ModelError>) -> String {
    result.err().expect("it is refused").to_string()
}

fn mean_score(model: &Model, games: u64) -> f64 {
    let search = model.search(None, GREEDY).expect("a search");
    let games_to_play = Games { rules: model.rules, seed: 3, dealer: &Deck::new(games) };
    let outcome =
        model.play(search, games_to_play, 1, None, |_| true).expect("it can play so").expect("games");
    outcome.results.iter().map(|result| result.score as f64).sum::<f64>() / games as f64
}

/// The solution of 2×2 plays as well as it says: 66.96 points on average, with a standard deviation of 23.97
/// (docs/solver.md).
#[test]
fn a_solution_is_a_model() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("2x2.solution");
    let solution = Space::<2>::enumerate(&Rules::default(), 1, |_| ()).solve(Objective::Score, 1, |_| ());
    solution.save(&path).expect("a file");
    let model = open(&path);
    assert!(matches!(model.kind, Kind::Exact(_)));
    assert_eq!((model.side(), model.search(None, GREEDY).ok()), (2, Some(Search::Exact)));
    let state: State<2> = "01/10".parse().expect("a board");
    let advice = model.player::<2>(Search::Exact, 1).expect("a player").advise(state);
    let exact = solution.best(state).expect("a move").1;
    assert!((f64::from(advice.value()) - exact).abs() < 1e-3, "{advice:?}, not {exact}");
    let mean = mean_score(&model, 400);
    assert!((mean - 66.96).abs() < 4.0 * 23.97 / 20.0, "{mean}");
    assert!(refusal(model.player::<3>(Search::Exact, 1)).contains("there is no solution of 3×3"));
    assert!(refusal(model.search(Some("3ply"), GREEDY)).contains("no search `3ply`"));
    assert!(refusal(model.network("it")).contains("is a solution"));
}

#[test]
fn convolutional_networks_are_models() {
    let folder = tempfile::tempdir().expect("a directory");
    let save = |name: &str, spec| {
        let path = folder.path().join(name);
        Dcnn::new(spec, 7).save(&path, &BTreeMap::new()).expect("a file");
        path
    };
    let policy = save("policy", DcnnSpec::policy(2, 4).expect("a network"));
    let value = DcnnSpec { architecture: Architecture::Tjwei { first: 2, second: 2 }, tile_values: 16 };
    let value = save("value", value);
    for (path, class, search) in [(&policy, Class::Policy, "majority"), (&value, Class::Value, "1ply")] {
        let (file, model) = (open_file(path).expect("a file"), open(path));
        assert_eq!(describe(&file).expect("a model").network, class);
        assert_eq!(model.search(None, GREEDY).expect("a search").to_string(), search);
        assert_eq!((model.side(), model.is_policy()), (4, class == Class::Policy));
        assert!(refusal(model.search(Some("3ply"), GREEDY)).contains("no search `3ply`"));
        assert!(mean_score(&model, 2) > 0.0);
    }
    // Votes and probabilities are fields; moves are chosen by their sum.
    let (model, state) = (open(&policy), "0123/1235/0135/0001".parse::<State<4>>().expect("a board"));
    let search = model.search(Some("majority"), GREEDY).expect("a search");
    let advice = model.player::<4>(search, 1).expect("a player").advise(state);
    let policy = advice.policy.expect("of a policy");
    let votes = policy.votes.expect("a vote");
    assert_eq!(votes.iter().map(|&votes| u32::from(votes)).sum::<u32>(), 8);
    assert!((policy.probabilities.iter().sum::<f32>() - 1.0).abs() < 1e-5);
    for ((value, votes), probability) in advice.values.into_iter().zip(votes).zip(policy.probabilities) {
        assert!(value.is_none_or(|value| value == f32::from(votes) + probability));
    }
    let json = serde_json::to_value(advice).expect("JSON");
    assert!(json["expected"].is_null() && json["votes"].is_object() && json["probabilities"].is_object());
}

#[test]
fn n_tuple_networks_are_models() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("model");
    let spec = NetworkSpec { tuples: Tuples::named("2x4").expect("tuples"), ..NetworkSpec::default() };
    Network::new(spec).expect("a network").save(&path, &BTreeMap::new()).expect("a file");
    let model = open(&path);
    assert_eq!(model.search(None, Limit::Plies(3)).expect("a search").to_string(), "3ply");
    assert!(refusal(model.search(Some("majority"), GREEDY)).contains("no search `majority`"));
    assert!(refusal(model.search(Some("3plies"), GREEDY)).contains("`3plies` is not a search"));
    let search = model.search(None, GREEDY).expect("a search");
    assert!(refusal(model.player::<3>(search, 1)).contains("the board is 3×3, but the model plays on 4×4"));
    assert!(mean_score(&model, 2) > 0.0);
}
