//! Convolutional networks as models: policies and value networks.

use std::{collections::BTreeMap, fs, path::Path};

use crate::common::Running;
use afterstate_dcnn::{Architecture, Dcnn, DcnnSpec, Play, PolicyPlayer, ValuePlayer};
use afterstate_game::{Move, State};
use afterstate_search::Player;
use serde_json::{Value, json};

const BOARD: &str = "0123/1235/0146/0002";

fn policy() -> Dcnn {
    Dcnn::new(DcnnSpec::policy(2, 4).expect("a network"), 7)
}

fn value() -> Dcnn {
    Dcnn::new(DcnnSpec { architecture: Architecture::Tjwei { first: 2, second: 2 }, tile_values: 16 }, 7)
}

/// With `policy`, a file, `taught`, the directory of a training, and `value`, a file.
fn serve() -> Running {
    Running::with(|options| {
        let save = |net: Dcnn, path: &Path| net.save(path, &BTreeMap::new()).expect("a file");
        save(policy(), &options.models.join("policy.safetensors"));
        save(value(), &options.models.join("value.safetensors"));
        let taught = options.runs.join("taught");
        fs::create_dir(&taught).expect("a directory");
        save(policy(), &taught.join("model.safetensors"));
    })
}

fn numbers(values: &Value) -> [Option<f32>; 4] {
    Move::ALL.map(|a| values[a.name()].as_f64().map(|value| value as f32))
}

#[test]
fn the_list_says_what_they_are() {
    let models = serve().get("/api/models").json();
    let find = |name: &str| {
        let found = models["models"].as_array().expect("a list").iter().find(|model| model["name"] == name);
        found.unwrap_or_else(|| panic!("{name} is listed: {models}")).clone()
    };
    assert_eq!(find("tiny")["network"], "n-tuple");
    assert_eq!((&find("value")["network"], &find("value")["kind"]), (&json!("value"), &json!("file")));
    for (name, kind) in [("policy", "file"), ("taught", "run")] {
        let model = find(name);
        assert_eq!((&model["network"], &model["kind"]), (&json!("policy"), &json!(kind)));
        assert_eq!((&model["weights"], &model["side"]), (&json!(policy().spec().weights()), &json!(4)));
    }
}

#[test]
fn a_policy_gives_votes_and_probabilities() {
    let (server, net, state) = (serve(), policy(), BOARD.parse::<State<4>>().expect("a board"));
    for play in [Play::MajorityVote, Play::Sum, Play::Plain] {
        let expected = PolicyPlayer::new(&net, play).expect("a policy").advise(state);
        let advice = server.get(&format!("/api/advise?board={BOARD}&model=policy&search={play}")).json();
        assert_eq!((&advice["model"], &advice["search"]), (&json!("policy"), &json!(play.to_string())));
        assert_eq!(numbers(&advice["values"]), expected.values, "{play}");
        assert_eq!(
            (&advice["best"], &advice["expected"]),
            (&json!(expected.best().map(Move::name)), &Value::Null)
        );
        let (probabilities, votes) = (numbers(&advice["probabilities"]), numbers(&advice["votes"]));
        let sum: f32 = probabilities.iter().flatten().sum();
        assert!(sum <= 1.001 && probabilities.iter().flatten().all(|p| *p >= 0.0), "{probabilities:?}");
        match play {
            Play::MajorityVote => assert_eq!(votes.iter().flatten().sum::<f32>(), 8.0),
            _ => assert_eq!((&advice["votes"], probabilities), (&Value::Null, expected.values)),
        }
    }
    let usual = server.get(&format!("/api/advise?board={BOARD}&model=policy")).json();
    assert_eq!((&usual["search"], &usual["line"]), (&json!("majority"), &json!([])));
    let letter = server.get(&format!("/move?board={BOARD}&model=taught")).body;
    assert_eq!(Some(letter.as_str()), usual["best"].as_str().map(|name| &name[..1]));
}

#[test]
fn a_network_of_values_is_greedy() {
    let (server, net, state) = (serve(), value(), BOARD.parse::<State<4>>().expect("a board"));
    let expected = ValuePlayer::new(&net).expect("values").advise(state);
    for search in ["", "&search=1ply"] {
        let advice = server.get(&format!("/api/advise?board={BOARD}&model=value{search}")).json();
        assert_eq!((&advice["search"], numbers(&advice["values"])), (&json!("1ply"), expected.values));
        assert_eq!((&advice["expected"], &advice["votes"]), (&json!(expected.value()), &Value::Null));
    }
}

#[test]
fn they_play_and_are_evaluated() {
    let server = serve();
    let watched = server.events("/api/watch?game=3&model=policy&moves=5&delay=1", "end");
    assert_eq!(watched.len(), 6);
    assert!(watched[0].1["probabilities"]["up"].is_number() || watched[0].1["values"]["up"].is_null());
    for (model, search) in [("policy", "majority"), ("policy", "sum"), ("value", "1ply")] {
        let wanted = json!({ "model": model, "search": search, "games": 3 });
        let (_, result) = server.post_events("/api/evaluate", &wanted, "result").pop().expect("a result");
        assert_eq!((&result["model"], &result["search"]), (&json!(model), &json!(search)));
        assert_eq!(result["scores"].as_array().map(Vec::len), Some(3));
    }
    let usual = server.post_events("/api/evaluate", &json!({ "model": "policy", "games": 1 }), "result");
    assert_eq!(usual.last().expect("a result").1["search"], "majority");
}

#[test]
fn what_they_cannot_do_is_refused() {
    let server = serve();
    let advise = |rest: &str| server.get(&format!("/api/advise?{rest}"));
    assert!(advise(&format!("board={BOARD}&model=policy&search=3ply")).error().contains("no search `3ply`"));
    assert!(advise(&format!("board={BOARD}&model=value&search=majority")).error().contains("`majority`"));
    assert!(advise(&format!("board={BOARD}&model=tiny&search=majority")).error().contains("n-tuple"));
    assert!(advise("board=012/000/001&model=policy").error().contains("3×3"));
    assert!(server.get("/api/watch?game=1&side=3&model=policy").error().contains("3×3"));
    let game = format!("{BOARD} left\n");
    let review = server.post("/api/review", &json!({ "text": game, "model": "policy" }));
    assert!(review.error().contains("probabilities"), "{review:?}");
    let review = server.post("/api/review", &json!({ "text": game, "model": "value" })).json();
    assert_eq!((&review["search"], review["moves"].as_array().map(Vec::len)), (&json!("1ply"), Some(1)));
}

#[test]
fn damaged_files_are_refused_and_not_listed() {
    let server = serve();
    let path = server.folder.path().join("models/policy.safetensors");
    let bytes = fs::read(&path).expect("a file");
    fs::write(&path, &bytes[..bytes.len() - 4]).expect("a file");
    assert_eq!(server.get(&format!("/api/advise?board={BOARD}&model=policy")).status, 422);
    let models = server.get("/api/models").json();
    assert!(models["models"].as_array().expect("a list").iter().all(|model| model["name"] != "policy"));
}
