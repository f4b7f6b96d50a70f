//! The responses of every path.

use crate::common::Running;
use afterstate_game::{Game, Move, Rules, State};
use serde_json::{Value, json};

#[test]
fn the_session_knows_who_has_the_token() {
    let server = Running::new();
    let session = server.get("/api/session").json();
    assert_eq!((&session["trusted"], session.get("token")), (&json!(false), None));
    assert_eq!((&session["default_model"], &session["training"]), (&json!("tiny"), &json!(false)));
    assert!(session["limits"]["max_search_ms"].as_u64() > Some(0));
    let header = format!("X-Afterstate-Token: {}\r\n", server.token());
    assert_eq!(server.request("GET", "/api/v1/session", &header, "").json()["trusted"], true);
}

#[test]
fn the_page_is_served_with_a_strict_policy() {
    let server = Running::new();
    let page = server.get("/");
    assert!(page.body.contains("<!doctype html>") && page.headers["content-type"].starts_with("text/html"));
    assert!(page.headers["content-security-policy"].starts_with("default-src 'self';"));
    assert!(server.get("/style.css").headers["content-type"].starts_with("text/css"));
    assert!(server.get("/nothing.js").error().contains("nothing here"));
}

#[test]
fn models_are_listed() {
    let models = Running::new().get("/api/models").json();
    let names: Vec<_> =
        models["models"].as_array().expect("a list").iter().map(|m| (&m["name"], &m["kind"])).collect();
    let built_in = json!("built-in");
    assert_eq!(
        names,
        [(&json!("tiny"), &json!("run")), (&built_in, &built_in), (&json!("three"), &json!("file"))]
    );
    assert_eq!((&models["models"][0]["default"], &models["models"][2]["side"]), (&json!(true), &json!(3)));
}

#[test]
fn advice_is_the_same_by_get_and_by_post() {
    let server = Running::new();
    let by_get = server.get("/api/advise?board=0000/0010/0100/000b&search=2ply").json();
    let mut by_post = server
        .post("/api/advise", &json!({ "board": "0000/0010/0100/000b", "search": "2ply", "model": "tiny" }))
        .json();
    by_post["seconds"] = by_get["seconds"].clone();
    assert_eq!(by_get, by_post);
    let best = by_get["best"].as_str().expect("a move");
    assert_eq!((&by_get["values"][best], &by_get["plies"]), (&by_get["expected"], &json!(2)));
    assert_eq!(by_get["line"][0]["move"], best);
    let text = server.get("/move?board=0000/0010/0100/000b&search=2ply");
    assert_eq!((text.body.as_str(), text.headers["access-control-allow-origin"].as_str()), (&best[..1], "*"));
    assert_eq!(server.get("/move?board=1212/2121/1212/2121").body, "g");
}

#[test]
fn values_on_small_boards_are_exact() {
    let server = Running::new();
    let two = server.get("/api/advise?board=01/10&search=exact").json();
    let values = two["values"].as_object().expect("values");
    assert!(values.values().all(|value| *value == two["expected"]), "all moves are images of one: {two}");
    assert!(
        server.get("/api/advise?board=123/000/000&search=exact").json()["hint"]
            .as_str()
            .expect("a hint")
            .contains("afterstate solve")
    );
    assert!(server.get("/api/advise?board=0000/0010/0100/000b&search=exact").error().contains("4×4"));
    assert!(server.get("/api/advise?board=65/00&search=exact").error().contains("no game reaches"));
    assert_eq!(server.get("/api/advise?board=012/000/001&model=three&search=1ply").json()["plies"], 1);
    assert!(server.get("/api/advise?board=012/000/001").error().contains("3×3"));
}

/// The game of a player who makes the first legal move of left, down, right, up.
fn lazy_move(state: State<4>) -> Option<Move> {
    [Move::Left, Move::Down, Move::Right, Move::Up].into_iter().find(|a| state.slide(*a).is_some())
}

#[test]
fn moves_follow_the_numbered_game() {
    let server = Running::new();
    let mut game = Game::<4>::new(Rules::default(), 1, 42);
    let mut position = server.post("/api/game", &json!({ "game": 42 })).json();
    assert_eq!((&position["seed"], &position["over"]), (&json!(1), &json!(false)));
    for _ in 0..20 {
        assert_eq!(position["board"], game.state().to_string());
        let a = lazy_move(game.state()).expect("the game goes on");
        let question = json!({ "board": position["board"], "move": a.name(), "stream": position["stream"] });
        let answer = server.post("/api/move", &question).json();
        let slide = game.play(a).expect("a legal move");
        assert_eq!((&answer["legal"], &answer["reward"]), (&json!(true), &json!(slide.reward)));
        assert_eq!(answer["afterstate"], slide.afterstate.to_string());
        let cell = answer["spawn"]["cell"].as_u64().expect("a cell") as usize;
        assert_eq!(answer["spawn"]["tile"], 1 << game.state().board().exponent(cell));
        position = answer;
    }
    let illegal =
        server.post("/api/move", &json!({ "board": "1000/0000/0000/0000", "move": "l", "stream": "1-1-2" }));
    assert_eq!(illegal.json()["legal"], false);
    assert!(server.post("/api/game", &json!({})).json()["game"].as_u64() < Some(1_000_000));
    assert_eq!(
        server.post("/api/game", &json!({ "side": 3, "game": 1 })).json()["board"].as_str().map(str::len),
        Some(11)
    );
}

#[test]
fn watching_goes_on_where_it_stopped() {
    let server = Running::new();
    let whole = server.events("/api/watch?game=7&search=1ply&moves=6&delay=1", "end");
    assert_eq!(whole.len(), 7);
    assert_eq!(whole[6], ("end".into(), json!({ "over": false })));
    let (board, stream) =
        (whole[2].1["next"].as_str().expect("a board"), whole[2].1["stream"].as_str().expect("a stream"));
    let rest = server
        .events(&format!("/api/watch?board={board}&stream={stream}&search=1ply&moves=3&delay=0"), "end");
    assert_eq!(rest[0].0, "moves");
    let rest = rest[0].1.as_array().expect("moves");
    for (a, b) in rest.iter().zip(&whole[3..6]) {
        assert_eq!((&a["next"], &a["move"], &a["values"]), (&b.1["next"], &b.1["move"], &b.1["values"]));
    }
    let game = server.events("/api/watch?game=7&side=2&search=exact", "end");
    assert_eq!(game.last().expect("an end").1, json!({ "over": true }));
    assert_eq!(server.get("/api/watch?game=7&model=none").status, 404);
}

#[test]
fn reviews_are_the_same_for_all_forms() {
    let server = Running::new();
    let mut game = Game::<4>::new(Rules::default(), 1, 3);
    let (mut letters, mut boards, mut triples) =
        (String::new(), String::new(), game.state().to_string() + "\n");
    for _ in 0..30 {
        let a = lazy_move(game.state()).expect("the game goes on");
        letters.push_str(&a.name()[..1]);
        boards += &format!("{} {a}\n", game.state());
        let slide = game.play(a).expect("a legal move");
        let cell = (0..16)
            .find(|&cell| slide.afterstate.board().exponent(cell) != game.state().board().exponent(cell));
        let cell = cell.expect("a new tile");
        triples += &format!("{a} {cell} {}\n", 1 << game.state().board().exponent(cell));
    }
    let review = |text: &str| server.post("/api/review", &json!({ "text": text, "search": "1ply" })).json();
    let record = review(&format!("afterstate game 1 3 4\n{letters}\n"));
    assert_eq!((&record["format"], record["moves"].as_array().map(Vec::len)), (&json!("record"), Some(30)));
    assert_eq!(record["score"], game.score());
    let grades = record["grades"].as_object().expect("grades");
    assert_eq!(grades.values().filter_map(Value::as_u64).sum::<u64>(), 30);
    let worst = record["worst"][0].as_u64().expect("a mistake") as usize;
    assert!(record["moves"][worst]["loss"].as_f64() > Some(0.0) && record["accuracy"].as_f64() < Some(100.0));
    for (format, text) in [("boards", &boards), ("moves", &triples)] {
        let other = review(text);
        assert_eq!((&other["format"], &other["accuracy"]), (&json!(format), &record["accuracy"]));
        assert_eq!((&other["worst"], &other["score"]), (&record["worst"], &record["score"]));
    }
    let example = server.get("/api/review/example").json();
    assert!(review(example["text"].as_str().expect("a text"))["moves"].as_array().map(Vec::len) > Some(50));
}

#[test]
fn a_perfect_game_has_an_accuracy_of_100() {
    let server = Running::new();
    let steps = server.events("/api/watch?game=7&search=2ply&moves=20&delay=1", "end");
    let letters: String =
        steps[..20].iter().map(|(_, step)| &step["move"].as_str().expect("a move")[..1]).collect();
    let review = server.post(
        "/api/review",
        &json!({ "text": format!("afterstate game 1 7 4\n{letters}"), "search": "2ply" }),
    );
    let review = review.json();
    assert_eq!((&review["accuracy"], &review["grades"]["best"]), (&json!(100.0), &json!(20)));
}

#[test]
fn runs_are_listed_and_told() {
    let server = Running::new();
    let runs = server.get("/api/runs").json();
    assert_eq!((&runs["runs"][0]["name"], &runs["runs"][0]["state"]), (&json!("tiny"), &json!("finished")));
    assert_eq!((&runs["runs"][0]["recipe"], &runs["runs"][0]["mean"]), (&json!("quick"), &json!(100.0)));
    let run = server.get("/api/runs/tiny").json();
    assert_eq!((run["log"].as_array().map(Vec::len), &run["log_lines"]), (Some(2), &json!(2)));
    assert!(run["recipe"].as_str().expect("a text").contains("[network]"));
    let events = server.events("/api/runs/tiny/events?after=1", "state");
    let names: Vec<_> = events.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["log", "evaluation", "state"]);
    assert_eq!((&events[0].1["actions"], &events[2].1["state"]), (&json!(20), &json!("finished")));
    assert!(server.get("/api/runs/none").error().contains("none"));
}

#[test]
fn recipes_say_what_they_take_and_what_there_is() {
    let server = Running::new();
    let recipes = server.get("/api/v1/recipes").json();
    let recipes = recipes["recipes"].as_array().expect("a list");
    let named = |name: &str| recipes.iter().find(|recipe| recipe["name"] == name).expect("a recipe");
    for recipe in recipes {
        let fits = |what: &str, free: &str| {
            recipe[free].as_u64().is_none_or(|free| recipe[what].as_u64() <= Some(free))
        };
        assert_eq!(
            recipe["fits"],
            fits("memory", "available_memory") && fits("disk", "available_disk"),
            "{recipe}"
        );
        let steps = recipe["steps"].as_array().map(Vec::len).expect("a list") as u64 + 1;
        assert_eq!(
            recipe["trainings"].as_u64().zip(recipe["collections"].as_u64()).map(|(a, b)| a + b),
            Some(steps)
        );
    }
    assert_eq!((&named("best")["trainings"], &named("best")["collections"]), (&json!(14), &json!(3)));
    assert_eq!((&named("quick")["trainings"], &named("quick")["collections"]), (&json!(1), &json!(0)));
    let time = server.get("/api/v1/recipes/mini").json();
    assert!(time["seconds"].as_f64().is_some_and(|seconds| seconds > 0.0), "{time}");
    assert_eq!((&time["name"], &time["steps"][0]["kind"]), (&json!("mini"), &json!("train")));
    assert_eq!(server.get("/api/v1/recipes/mini").json(), time, "it is measured once");
    // A finished run with that name does not shorten another one.
    std::fs::rename(server.runs().join("tiny"), server.runs().join("quick")).expect("another name");
    let time = server.get("/api/v1/recipes/quick").json();
    assert!(time["seconds"].as_f64().is_some_and(|seconds| seconds > 1.0), "{time}");
    assert!(server.get("/api/v1/recipes/none").error().contains("none"));
}

#[test]
fn errors_name_the_field() {
    let server = Running::new();
    let refused = server.post("/api/v1/game", &json!({ "game": -5 }));
    assert_eq!(
        (refused.status, refused.error().as_str()),
        (400, "`game` is -5, not a whole number of at least 0")
    );
    let refused = server.get("/api/v1/watch?game=-5");
    assert_eq!(
        (refused.status, refused.error().as_str()),
        (400, "`game` is not a whole number of at least 0")
    );
}

#[test]
fn evaluations_are_made_and_kept() {
    let mut server = Running::new();
    let events =
        server.post_events("/api/evaluate", &json!({ "model": "tiny", "games": 20, "seed": 5 }), "result");
    let (name, result) = events.last().expect("an event");
    assert_eq!(
        (name.as_str(), &result["games"], result["scores"].as_array().map(Vec::len)),
        ("result", &json!(20), Some(20))
    );
    let known = server.get("/api/evaluations").json();
    let known = known["evaluations"].as_array().expect("a list");
    assert_eq!((&known[0]["score"], &known[1]["file"]), (&result["score"], &json!("eval.jsonl")));
    assert_eq!((&known[0]["model"], &known[0]["file"]), (&json!("tiny"), &json!("evaluations.jsonl")));
    assert_eq!(server.post("/api/evaluate", &json!({ "model": "tiny" })).status, 403);
    assert_eq!(server.trusted("/api/evaluate", &json!({ "games": 0 })).status, 400);
    server.end();
    let (runs, models) = (server.runs(), server.folder.path().join("models"));
    let again = Running::with(|options| (options.runs, options.models) = (runs, models));
    let again = again.get("/api/evaluations").json();
    assert_eq!(again["evaluations"].as_array().map(Vec::len), Some(known.len()));
    for field in ["scores", "model", "search", "games", "seed", "file"] {
        assert_eq!(again["evaluations"][0][field], known[0][field], "{field}");
    }
}

#[test]
fn two_models_play_the_same_games() {
    let server = Running::new();
    let wanted = json!({ "model": "tiny", "search": "1ply", "games": 30, "against": { "model": "tiny", "search": "random" } });
    let (_, result) = server.post_events("/api/v1/evaluate", &wanted, "result").pop().expect("a result");
    let (first, second) = (&result["against"], &result);
    assert_eq!((&first["search"], &second["search"]), (&json!("1ply"), &json!("random")));
    let mean =
        |list: &Value| list.as_array().expect("scores").iter().filter_map(Value::as_f64).sum::<f64>() / 30.0;
    let difference = mean(&second["scores"]) - mean(&first["scores"]);
    assert!((result["difference"]["mean"].as_f64().expect("a mean") - difference).abs() < 1e-6, "{result}");
    assert_eq!(result["difference"]["games"], 30);
}

#[test]
fn many_boards_are_one_question() {
    let server = Running::new();
    let boards = ["0000/0010/0100/000b", "2 2 4 0  0 0 0 0  0 0 0 0  0 0 0 0"];
    let many = server.post("/api/v1/advise", &json!({ "boards": boards, "search": "2ply" })).json();
    for (board, advice) in boards.iter().zip(many["advice"].as_array().expect("a list")) {
        let one = server.post("/api/v1/advise", &json!({ "board": board, "search": "2ply" })).json();
        assert_eq!(
            (&one["values"], &one["best"], &one["board"]),
            (&advice["values"], &advice["best"], &advice["board"])
        );
    }
    assert!(server.post("/api/advise", &json!({ "boards": ["x"] })).error().starts_with("board 1: "));
    for bad in [json!({ "boards": [] }), json!({}), json!({ "board": boards[0], "boards": boards })] {
        assert_eq!(server.post("/api/advise", &bad).status, 400, "{bad}");
    }
}

#[test]
fn a_move_is_judged_as_in_a_review() {
    let server = Running::new();
    let board = "0000/0010/0100/0123";
    let review =
        server.post("/api/review", &json!({ "text": format!("{board} up"), "search": "2ply" })).json();
    let advice =
        server.post("/api/advise", &json!({ "board": board, "search": "2ply", "played": "up" })).json();
    for field in ["kept", "grade", "loss"] {
        assert_eq!(advice["judged"][field], review["moves"][0][field], "{field}");
    }
    assert_eq!(
        (&advice["chance"], advice["chance"]["tile"].as_u64()),
        (&review["moves"][0]["chance"], Some(512))
    );
    let bad = server.post("/api/advise", &json!({ "board": "0000/0000/0000/0001", "played": "right" }));
    assert!(bad.error().contains("moves nothing"));
}

#[test]
fn a_review_tells_how_far_it_is() {
    let server = Running::new();
    let text = server.get("/api/review/example").json()["text"].clone();
    let events = server.post_events("/api/v1/review", &json!({ "text": text, "search": "20ms" }), "result");
    assert!(
        events.iter().any(|(name, data)| name == "progress" && data["moves"].as_u64() < data["of"].as_u64())
    );
    let whole = server.post("/api/v1/review", &json!({ "text": text, "search": "1ply" })).json();
    assert_eq!(events.last().expect("a result").1["score"], whole["score"]);
}

#[test]
fn files_are_compressed_and_kept_by_browsers() {
    let server = Running::new();
    let plain = server.get("/app.js");
    let tag = &plain.headers["etag"];
    let packed = server.request("GET", "/app.js", "Accept-Encoding: gzip, br\r\n", "");
    assert_eq!((&packed.headers["content-encoding"], &packed.headers["etag"]), (&"gzip".to_owned(), tag));
    let length =
        |answer: &crate::common::Answer| answer.headers["content-length"].parse::<usize>().expect("a length");
    assert!(length(&packed) * 2 < length(&plain));
    let same = server.request("GET", "/app.js", &format!("If-None-Match: {tag}\r\n"), "");
    assert_eq!((same.status, same.body.as_str()), (304, ""));
    assert_eq!(server.request("GET", "/app.js", "If-None-Match: \"other\"\r\n", "").status, 200);
}

#[test]
fn what_cannot_be_kept_is_told_all_the_same() {
    let server = Running::with(|options| {
        std::fs::create_dir(options.runs.join("evaluations.jsonl")).expect("a directory in the way");
    });
    let wanted = json!({ "model": "tiny", "games": 2 });
    let (_, result) = server.post_events("/api/evaluate", &wanted, "result").pop().expect("a result");
    assert!(result["warning"].as_str().is_some_and(|text| text.contains("could not be kept")), "{result}");
    let known = server.get("/api/evaluations").json();
    assert_eq!((&known["evaluations"][0]["score"], &result["games"]), (&result["score"], &json!(2)));
}

#[test]
fn the_description_is_served() {
    assert_eq!(Running::new().get("/api/openapi.json").json()["openapi"], "3.1.0");
}

#[test]
fn without_any_other_model_there_is_the_built_in_one() {
    let server = Running::with(|options| {
        (options.runs, options.models, options.model) = ("none".into(), "none".into(), None);
    });
    assert_eq!(server.get("/api/session").json()["default_model"], "built-in");
    // On a busy machine loading the model may take longer than a search may.
    let ask = || server.get("/api/advise?board=0000/0010/0100/000b&search=1ply");
    let answer = std::iter::repeat_with(ask).take(20).find(|answer| answer.status != 503);
    assert_eq!(answer.expect("it is in memory").json()["model"], "built-in");
    assert_eq!(server.get("/").status, 200);
    assert_eq!(server.get("/api/runs").json(), json!({ "runs": [] }));
}
