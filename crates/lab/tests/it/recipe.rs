//! Recipes: how they resolve, and the error for each kind of mistake.

use afterstate_dcnn::DcnnSpec;
use afterstate_lab::recipe::{Log, Recipe, Taught, Tuples, shipped};
use afterstate_learning::{
    Budget, Parallel, StepSizeSpec, TargetSpec, TrainingProgress, rate_factor,
    target::{Backward, TdLambda},
};
use afterstate_search::Downgrade;

/// A recipe with these lines between a description and a budget.
fn resolve(lines: &str) -> Result<Recipe, String> {
    resolve_with(lines, &[])
}

fn resolve_with(lines: &str, overrides: &[&str]) -> Result<Recipe, String> {
    let text = format!("description = \"a test\"\n{lines}\n[budget]\nactions = 1_000\n");
    parse(&text, overrides)
}

fn parse(text: &str, overrides: &[&str]) -> Result<Recipe, String> {
    let overrides: Vec<_> = overrides.iter().map(|text| text.to_string()).collect();
    Recipe::parse("x", "recipes/x.toml", text, &overrides).map_err(|error| error.to_string())
}

fn error(lines: &str) -> String {
    resolve(lines).expect_err("the recipe is wrong")
}

fn override_error(overrides: &[&str]) -> String {
    resolve_with("", overrides).expect_err("the override is wrong")
}

fn td(lambda: f32, horizon: usize) -> TargetSpec {
    TargetSpec::TdLambda(TdLambda { lambda, horizon })
}

#[test]
fn defaults_are_filled_in() {
    let recipe = resolve("").unwrap();
    assert_eq!((recipe.name.as_str(), recipe.description.as_str(), recipe.seed), ("x", "a test", 1));
    assert_eq!((recipe.game.side, recipe.game.rules()), (4, Default::default()));
    assert_eq!(recipe.network.tuples, Tuples::Named("4x6".into()));
    assert_eq!((recipe.network.tile_values, recipe.network.symmetric), (16, true));
    assert_eq!(recipe.learning.target, td(0.0, 0));
    assert_eq!(recipe.learning.step_size, StepSizeSpec::TemporalCoherence { beta: 1.0, reset: 0 });
    assert_eq!((recipe.parallel.threads, recipe.parallel.mode), (0, Parallel::PrivateHot));
    assert_eq!(recipe.budget, Budget::Actions(1000));
    assert_eq!((recipe.evaluation.every, &recipe.evaluation.games[..]), (100_000_000, &[1000][..]));
    assert_eq!((recipe.checkpoint.every_seconds, recipe.checkpoint.keep), (600.0, true));
    assert_eq!(recipe.log, Log::EverySeconds(10.0));
}

#[test]
fn self_play_on_downgraded_boards() {
    assert_eq!(resolve("").unwrap().settings().downgrade, None);
    let recipe = resolve("learning.downgrade = 16384").unwrap();
    assert_eq!(recipe.settings().downgrade, Some(Downgrade::from_exponent(14)));
    let again = Recipe::parse("x", "again.toml", &recipe.to_toml().unwrap(), &[]).unwrap();
    assert_eq!(again, recipe);
    assert!(error("learning.downgrad = 16384").contains("did you mean `learning.downgrade`"));
    assert!(error("learning.downgrade = 12000").contains("a tile from 4 to 131072"));
    assert!(error("learning.downgrade = 16384\nnetwork.values = 'states'").contains("values of afterstates"));
}

#[test]
fn defaults_follow_other_keys() {
    let horizon = |lambda| match resolve(&format!("learning.lambda = {lambda}")).unwrap().learning.target {
        TargetSpec::TdLambda(TdLambda { horizon, .. }) => Some(horizon),
        _ => None,
    };
    // The paper's 0.5 and 3; the others satisfy λ^h ≥ 0.1 > λ^(h+1).
    assert_eq!([0.05, 0.5, 0.8, 0.9].map(horizon), [Some(0), Some(3), Some(10), Some(21)]);
    let whole = resolve("learning.lambda = 1.0\nlearning.horizon = 9").unwrap();
    assert_eq!(whole.learning.target, td(1.0, 9));
    let backward = resolve("learning.lambda = 0.5\nlearning.order = 'backward'").unwrap();
    assert_eq!(backward.learning.target, TargetSpec::Backward(Backward { lambda: 0.5 }));
    assert!(!resolve("network.tuples = '17x4'").unwrap().network.symmetric);
    assert!(resolve("network.tuples = '17x4'\nnetwork.symmetric = true").unwrap().network.symmetric);
}

#[test]
fn every_shipped_recipe_survives_a_round_trip() {
    let names: Vec<_> = shipped().map(|shipped| shipped.name).collect();
    for expected in ["quick", "reference/4x6-tc", "reference/4x6-td", "reference/8x6-tc"] {
        assert!(names.iter().any(|name| name == expected), "{expected} is shipped");
    }
    for shipped in shipped() {
        let recipe = shipped.recipe(&[]).expect("a shipped recipe is right");
        assert!(!recipe.description.is_empty() && !recipe.description.contains('\n'), "{}", shipped.name);
        assert_eq!(recipe, Recipe::load(&shipped.name, &[]).unwrap());
        assert_eq!(recipe, parse(&recipe.to_toml().unwrap(), &[]).unwrap());
    }
}

#[test]
fn every_choice_survives_a_round_trip() {
    for lines in [
        "network.tuples = ['012345', '012456']\nnetwork.tile_values = 18",
        "learning.target = 'n-step'\nlearning.n = 5",
        "learning.lambda = 0.5\nlearning.order = 'delayed'\nlearning.schedule = [[0.5, 0.1], [0.75, 0.01]]",
        "learning.lambda = 0.5\nlearning.order = 'backward'",
        "learning.step_size = 'fixed'\nlearning.alpha = 0.0025\nlearning.lambda = 0.9999",
        "parallel.mode = 'lock-free'\nparallel.threads = 3\nlog.every_episodes = 7\ngame.side = 3",
    ] {
        let recipe = resolve(lines).unwrap();
        assert_eq!(recipe, parse(&recipe.to_toml().unwrap(), &[]).unwrap(), "{lines}");
    }
}

#[test]
fn the_resolved_text_holds_every_key() {
    let text = Recipe::load("reference/4x6-td", &[]).unwrap().to_toml().unwrap();
    let expected = r#"name = "reference/4x6-td"
description = "TD(0) with a fixed rate on the four 6-tuples of Yeh"
seed = 1

[game]
side = 4
four = 0.1
start_tiles = 2

[network]
tuples = "4x6"
tile_values = 16
symmetric = true
stages = "1"
promotion = false
initial_value = [0.0]
values = "afterstates"

[learning]
target = "td"
lambda = 0.0
horizon = 0
order = "forward"
step_size = "fixed"
alpha = 0.1
epsilon = 0.0
ties = "first"
temperature = 0.0
downgrade = 0

[start]
kind = "fresh"

[parallel]
threads = 0
mode = "private-hot"

[budget]
episodes = 100000

[evaluation]
every = 0
searches = ["1ply"]
games = 1000

[checkpoint]
every_seconds = 600.0
keep = true

[log]
every_episodes = 2000
"#;
    assert_eq!(text, expected);
}

#[test]
fn networks_that_threads_share_as_a_whole_are_lock_free() {
    for lines in [
        "network.tile_values = 17",
        "network.ranges = '1-8 9-15'\nnetwork.tuples = '3x7'",
        "network.stages = '2^4'",
        "network.stages = '16384'\nnetwork.promotion = true",
    ] {
        assert_eq!(resolve(lines).unwrap().parallel.mode, Parallel::LockFree, "{lines}");
        let error = resolve(&format!("{lines}\nparallel.mode = 'private-hot'")).unwrap_err().to_string();
        assert!(error.contains("parallel.mode"), "{error}");
    }
    assert_eq!(resolve("network.stages = '16384'").unwrap().parallel.mode, Parallel::PrivateHot);
    let split = "network.ranges = '1-7 8-15'";
    assert_eq!(resolve(split).unwrap().parallel.mode, Parallel::LockFree, "the paper's, unless asked");
    let asked = resolve(&format!("{split}\nparallel.mode = 'private-hot'")).unwrap();
    assert_eq!(asked.parallel.mode, Parallel::PrivateHot);
    assert_eq!(resolve("network.stages = 16384").unwrap(), resolve("network.stages = '16384'").unwrap());
}

#[test]
fn initial_values_are_given_for_a_board_or_a_weight() {
    let initial = |lines: &str| resolve(lines).unwrap().network.initial_value;
    assert_eq!(initial("network.initial_value = 320000"), [320_000.0]);
    assert_eq!(initial("network.initial_weight = 10"), [320.0], "32 weights of 4x6");
    let staged = "network.stages = '16384'\nnetwork.initial_value = [320000, 160000]";
    assert_eq!(initial(staged), [320_000.0, 160_000.0]);
    for (lines, part) in [
        ("network.initial_value = [1, 2]", "2 initial values for 1 stages"),
        ("network.promotion = true", "two stages"),
        ("network.stages = '2^99'", "does not describe stages"),
        ("network.ranges = '1-3'", "not value ranges"),
        ("network.halved = [0, 1]", "a list with a number for each stage"),
        ("network = { stages = '2^1', from = 'x', halved = [0, 1] }", "stage 1 cannot begin with"),
        ("network = { stages = '16384', halved = [0, 1] }", "give network.from"),
        (
            "network = { stages = '16384', from = 'x', halved = [0, 1], ranges = '1-13 14-15' }",
            "must end two tiles below 16384",
        ),
        ("network.ranges = '1-8 9-15 from 7'", "none would be split"),
        (
            "start = { kind = 'stage', shortest = 5 }\nnetwork = { stages = '16384', from = 'x' }",
            "without restarts",
        ),
        ("start = { kind = 'carousel', restarts = 5 }\nnetwork.stages = '16384'", "\"restart\" or \"stage\""),
        ("network.initial_value = 1\nnetwork.tuples = '4x7'", "no tuple set is called `4x7`"),
    ] {
        let error = resolve(lines).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn the_schedule_steps_down() {
    let learning = resolve("learning.schedule = [[0.5, 0.1], [0.75, 0.01]]").unwrap().learning;
    let factors = [0.0, 0.49, 0.5, 0.74, 0.75, 1.0].map(|share| rate_factor(&learning.schedule, share));
    assert_eq!(factors, [1.0, 1.0, 0.1, 0.1, 0.01, 0.01]);
}

#[test]
fn the_budget_is_shared_out() {
    let progress = TrainingProgress { actions: 50, episodes: 2, seconds: 9.0 };
    assert_eq!(Budget::Actions(200).share(progress), 0.25);
    assert_eq!(Budget::Episodes(8).share(progress), 0.25);
    assert_eq!(Budget::Seconds(2.0).share(progress), 1.0);
}

#[test]
fn unknown_keys_are_told_the_nearest() {
    assert_eq!(
        error("[learning]\nbeta = 1.0\nlamda = 0.5"),
        "recipes/x.toml line 4: unknown key `learning.lamda`; did you mean `learning.lambda`?"
    );
    assert_eq!(
        error("[lerning]\nlambda = 0.5"),
        "recipes/x.toml line 3: unknown key `lerning.lambda`; did you mean `learning.lambda`?"
    );
    assert_eq!(
        error("alpha = 1"),
        "recipes/x.toml line 2: unknown key `alpha`; did you mean `learning.alpha`?"
    );
    assert_eq!(error("zebra = 0.5"), "recipes/x.toml line 2: unknown key `zebra`");
    assert!(error("[lerning]").starts_with("recipes/x.toml line 2: unknown key `lerning`"));
    assert_eq!(resolve("[learning]"), resolve(""));
    // The misspelling is the cause, and is reported before the missing key that follows from it.
    assert_eq!(
        parse("bugdet.seconds = 1", &[]).unwrap_err(),
        "recipes/x.toml line 1: unknown key `bugdet.seconds`; did you mean `budget.seconds`?"
    );
}

#[test]
fn wrong_values_are_told_what_fits() {
    assert_eq!(
        error("learning.lambda = 'high'"),
        "recipes/x.toml line 2: `learning.lambda` must be a number from 0 to 1, not \"high\""
    );
    assert_eq!(
        error("[learning]\nlambda = 1.5"),
        "recipes/x.toml line 3: `learning.lambda` must be a number from 0 to 1, not 1.5"
    );
    assert_eq!(error("game.side = 5"), "recipes/x.toml line 2: `game.side` must be 2, 3 or 4, not 5");
    assert_eq!(
        error("game.side = 2\ngame.start_tiles = 4"),
        "recipes/x.toml line 3: `game.start_tiles` must be a whole number from 1 to 3, not 4"
    );
    assert_eq!(
        error("seed = -1"),
        "recipes/x.toml line 2: `seed` must be a whole number from 0 to 2^63 - 1, not -1"
    );
    assert_eq!(
        error("learning = 3"),
        "recipes/x.toml line 2: `learning` must be a section, as in [learning], not 3"
    );
    assert_eq!(
        error("learning.schedule = [[0.75, 0.1], [0.5, 0.01]]"),
        "recipes/x.toml line 2: `learning.schedule` must be a list of [share, factor] with rising shares \
         between 0 and 1 and factors above 0, at most 1000, not [[0.75, 0.1], [0.5, 0.01]]"
    );
    assert!(error("network.tuples = []").contains("`network.tuples` must be the name of a set"));
    assert!(error("learning.beta = nan").contains("`learning.beta` must be a number above 0"));
}

#[test]
fn evaluations_are_by_one_or_several_searches() {
    let recipe = resolve("evaluation = { searches = ['1ply', '3ply+downgrade'], games = [1000, 300] }\ncheckpoint.best = '3ply+downgrade'").unwrap();
    let contests: Vec<_> =
        recipe.evaluation.contests().map(|(player, games)| (player.to_string(), games)).collect();
    assert_eq!(contests, [("1ply".to_owned(), 1000), ("3ply+downgrade=32768".to_owned(), 300)]);
    assert_eq!(parse(&recipe.to_toml().unwrap(), &[]).unwrap().evaluation, recipe.evaluation);
    let same = resolve("evaluation = { searches = ['1ply', '2ply'], games = 50 }").unwrap();
    assert_eq!(same.evaluation.games, [50, 50]);
    assert!(error("evaluation.searches = ['1ply', '0ply']").contains("must be a list of different searches"));
    assert!(error("evaluation.searches = ['1ply', '1ply']").contains("must be a list of different searches"));
    assert!(error("evaluation.games = [1, 2]").contains("or a list of one for each of evaluation.searches"));
    assert!(error("checkpoint.best = '3ply'").contains("name the search in evaluation.searches"));
    assert!(error("evaluation.every = 0\ncheckpoint.best = '1ply'").contains("with evaluation.every"));
}

#[test]
fn evaluations_downgrade_unless_a_search_says_otherwise() {
    let text = "evaluation = { searches = ['1ply', '2ply+downgrade=off'], downgrade = '16384..24576' }\n\
                checkpoint.best = '1ply'";
    let recipe = resolve(text).unwrap();
    let searches: Vec<_> = recipe.evaluation.contests().map(|(player, _)| player.to_string()).collect();
    assert_eq!(searches, ["1ply+downgrade=16384..24576", "2ply+downgrade=off"]);
    assert_eq!(recipe.checkpoint.best.unwrap().to_string(), searches[0]);
    assert_eq!(parse(&recipe.to_toml().unwrap(), &[]).unwrap().evaluation, recipe.evaluation);
    assert!(error("evaluation.downgrade = '16385'").contains("the boards to downgrade"));
}

#[test]
fn wrong_choices_are_told_the_nearest() {
    assert_eq!(
        error("learning.order = 'foward'"),
        "recipes/x.toml line 2: `learning.order` must be one of \"forward\", \"delayed\", \"backward\", \
         not \"foward\"; did you mean `forward`?"
    );
    assert_eq!(
        error("learning.step_size = 1"),
        "recipes/x.toml line 2: `learning.step_size` must be one of \"tc\", \"fixed\", \"otd+tc\", \
         \"autostep\", not 1"
    );
}

#[test]
fn one_budget_is_needed() {
    assert_eq!(
        parse("seed = 1", &[]).unwrap_err(),
        "recipes/x.toml: no budget; give one of `budget.actions`, `budget.episodes`, `budget.seconds`"
    );
    assert_eq!(
        parse("[budget]\nactions = 7\nepisodes = 5", &[]).unwrap_err(),
        "recipes/x.toml line 3: `budget.episodes` cannot stand beside `budget.actions`; keep one of them"
    );
}

#[test]
fn impossible_combinations_are_refused_with_the_reason() {
    assert_eq!(
        error("learning.alpha = 0.1"),
        "recipes/x.toml line 2: `learning.alpha` cannot be used here: it belongs to step_size = \
         \"fixed\" or \"otd+tc\" or \"autostep\""
    );
    assert_eq!(
        error("[learning]\nstep_size = 'fixed'\nbeta = 1.0"),
        "recipes/x.toml line 4: `learning.beta` cannot be used here: it belongs to step_size = \"tc\" or \
         \"otd+tc\""
    );
    assert_eq!(
        error("learning.n = 3"),
        "recipes/x.toml line 2: `learning.n` cannot be used here: it belongs to target = \"n-step\""
    );
    assert_eq!(
        error("learning.target = 'n-step'\nlearning.lambda = 0.5"),
        "recipes/x.toml line 3: `learning.lambda` cannot be used here: it belongs to target = \"td\""
    );
    assert_eq!(
        error("learning.target = 'n-step'\nlearning.order = 'delayed'"),
        "recipes/x.toml line 3: `learning.order` cannot be used here: target = \"n-step\" already waits n \
         moves for its target"
    );
    assert_eq!(
        error("learning.target = 'n-step'\nlearning.order = 'backward'"),
        "recipes/x.toml line 3: `learning.order` cannot be used here: order = \"backward\" forms its targets \
         with lambda, by target = \"td\""
    );
    assert_eq!(
        error("learning.horizon = 3"),
        "recipes/x.toml line 2: `learning.horizon` cannot be used here: with lambda = 0 no error reaches an \
         earlier state"
    );
    assert_eq!(
        error("learning.lambda = 1.0"),
        "recipes/x.toml line 2: `learning.lambda` cannot be used here: lambda = 1 has no default horizon; \
         give learning.horizon too"
    );
    assert_eq!(
        error("[learning]\nlambda = 0.5\norder = 'backward'\nhorizon = 3"),
        "recipes/x.toml line 5: `learning.horizon` cannot be used here: order = \"backward\" goes through \
         the whole episode"
    );
}

#[test]
fn text_that_is_not_toml_is_told_its_line() {
    assert!(error("[learning\nlambda = 0.5").starts_with("recipes/x.toml line 2: "));
    assert!(error("seed = 99999999999999999999").starts_with("recipes/x.toml line 2: "));
    assert!(error("\nseed = 1\nseed = 2").starts_with("recipes/x.toml line 4: duplicate key"));
}

#[test]
fn overrides_take_the_place_of_the_files_values() {
    let overrides = ["seed=7", "network.tuples=5x6", "learning.lambda = 0.5", "budget.actions=1e6"];
    let recipe = resolve_with("seed = 3", &overrides).unwrap();
    assert_eq!((recipe.seed, recipe.budget), (7, Budget::Actions(1_000_000)));
    assert_eq!(recipe.network.tuples, Tuples::Named("5x6".into()));
    assert_eq!(recipe.learning.target, td(0.5, 3));
    let recipe = resolve_with("", &["network.tuples=[\"0123\"]", "seed=1", "seed=2"]).unwrap();
    assert_eq!((recipe.network.tuples, recipe.seed), (Tuples::List(vec!["0123".into()]), 2));
}

#[test]
fn an_override_drops_what_it_makes_meaningless() {
    assert_eq!(resolve_with("", &["budget.episodes=5"]).unwrap().budget, Budget::Episodes(5));
    let log = resolve_with("log.every_seconds = 2", &["log.every_episodes=5"]).unwrap().log;
    assert_eq!(log, Log::EveryEpisodes(5));
    let lines = "learning.beta = 0.5\nlearning.lambda = 0.5\nlearning.horizon = 4";
    let learning = resolve_with(lines, &["learning.step_size=fixed", "learning.lambda=0"]).unwrap().learning;
    assert_eq!(learning.step_size, StepSizeSpec::Fixed { alpha: 0.1 });
    assert_eq!(learning.target, td(0.0, 0));
}

#[test]
fn wrong_overrides_are_named() {
    assert_eq!(
        override_error(&["learning.lamda=0.5"]),
        "--set learning.lamda=0.5: unknown key `learning.lamda`; did you mean `learning.lambda`?"
    );
    assert_eq!(
        override_error(&["game.side=big"]),
        "--set game.side=big: `game.side` must be 2, 3 or 4, not \"big\""
    );
    assert_eq!(
        override_error(&["budget.episodes=5", "budget.seconds=6"]),
        "--set budget.seconds=6: `budget.seconds` cannot stand beside `budget.episodes`; keep one of them"
    );
    assert_eq!(
        override_error(&["learning.alpha=0.1"]),
        "--set learning.alpha=0.1: `learning.alpha` cannot be used here: it belongs to step_size = \
         \"fixed\" or \"otd+tc\" or \"autostep\""
    );
    let shape = "an override is KEY=VALUE, such as learning.lambda=0.5";
    assert_eq!(override_error(&["seed"]), format!("--set seed: {shape}"));
    assert_eq!(override_error(&["=5"]), format!("--set =5: {shape}"));
}

#[test]
fn recipes_are_found_by_path_and_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    std::fs::write(&path, "budget.seconds = 1.5").unwrap();
    let recipe = Recipe::load(path.to_str().unwrap(), &[]).unwrap();
    assert_eq!((recipe.name.as_str(), recipe.budget), ("mine", Budget::Seconds(1.5)));
    assert_eq!(Recipe::load("quick", &[]).unwrap().budget, Budget::Actions(200_000_000));
    let error = |name| Recipe::load(name, &[]).unwrap_err().to_string();
    assert_eq!(
        error("qiuck"),
        "no recipe `qiuck`: it is neither a file nor a shipped recipe; did you mean `quick`?"
    );
    assert_eq!(
        error("4x6-td"),
        "no recipe `4x6-td`: it is neither a file nor a shipped recipe; did you mean `reference/4x6-td`?"
    );
    std::fs::write(&path, [0xff, 0xfe]).unwrap();
    assert!(error(path.to_str().unwrap()).starts_with("cannot read the recipe "));
}

#[test]
fn the_documentation_knows_every_key_and_its_examples_work() {
    let docs = include_str!("../../../../docs/recipes.md");
    let examples: Vec<_> =
        docs.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    let (_tables, examples): (Vec<&str>, Vec<_>) =
        examples.into_iter().partition(|text| text.contains("[[row]]"));
    assert_eq!(examples.len(), 5);
    for text in examples {
        parse(text, &[]).expect("the example is right");
    }
    for line in taught("dcnn.checksum = '1'").unwrap().to_toml().unwrap().lines() {
        let key = line.split(" = ").next().unwrap_or_default();
        assert!(line.is_empty() || line.starts_with('[') || docs.contains(&format!("{key}`")), "{key}");
    }
    for lines in [
        "log.every_episodes = 1",
        "learning.step_size = 'fixed'",
        "learning.target = 'n-step'",
        "learning.step_size = 'otd+tc'",
        "learning.step_size = 'autostep'",
    ] {
        for line in resolve(lines).unwrap().to_toml().unwrap().lines() {
            let key = line.split(" = ").next().unwrap_or_default();
            assert!(line.is_empty() || line.starts_with('[') || docs.contains(&format!("{key}`")), "{key}");
        }
    }
}

#[test]
fn every_number_has_a_range() {
    for line in [
        "checkpoint.every_seconds = 2e19",
        "log.every_seconds = 1e300",
        "log.every_episodes = 9_000_000_000_000_000_000",
        "evaluation.every = 9_000_000_000_000_000_000",
        "evaluation.games = 9_000_000_000_000_000_000",
        "learning = { lambda = 0.5, horizon = 4_000_000_000 }",
        "learning.tc_reset = 9_000_000_000_000_000_000",
        "learning.schedule = [[0.5, 1e300]]",
        "network.initial_value = 1e300",
        "network.initial_weight = 1e300",
        "network = { stages = '256', halved = [0, 1e300] }",
        "parallel.threads = 1_000_000",
        "start = { kind = 'carousel', kept = 1_000_000_000 }",
        "start = { kind = 'restart', restarts = 5_000_000_000 }",
        "network.tile_values = 1_000_000",
        "seed = -1",
        "game.four = 2",
    ] {
        error(line);
    }
    for budget in ["budget.seconds=1e300", "budget.episodes=0", "budget.actions=9e18"] {
        override_error(&[budget]);
    }
}

#[test]
fn a_huge_recipe_is_read_or_refused_at_once() {
    let start = std::time::Instant::now();
    let rows: String = (0..200_000).map(|i| format!("[[row]]\nname = \"{i}\"\n")).collect();
    let told = parse(&rows, &[]).expect_err("a table");
    assert!(told.contains("`/0`") && told.contains("199950 more") && told.len() < 2000, "{told}");
    let tuples = vec!["\"012345\""; 100_000].join(", ");
    let told = error(&format!("network.tuples = [{tuples}]"));
    assert!(told.contains("100000 tuples"), "{told}");
    assert!(start.elapsed() < std::time::Duration::from_secs(20), "{:?}", start.elapsed());
}

/// A recipe of a network that records teach.
const TAUGHT: &str = "dcnn.records = \"records\"\nbudget.actions = 1e6\n";

fn taught(lines: &str) -> Result<Recipe, String> {
    parse(&format!("{TAUGHT}{lines}"), &[])
}

#[test]
fn records_teach_with_defaults_of_their_own() {
    let recipe = taught("").unwrap();
    let lesson = recipe.lesson.as_ref().unwrap();
    assert_eq!(lesson.network, Taught::Convolutional(DcnnSpec::of_table_2(5).unwrap()));
    assert_eq!((lesson.batch, lesson.rate, lesson.final_rate), (1000, 0.001, 0.001));
    assert_eq!((lesson.augment, lesson.buffer, lesson.shards), (false, 2_000_000, 0));
    assert_eq!((recipe.evaluation.every, &recipe.evaluation.games[..]), (2_000_000, &[100][..]));
    assert!(recipe.evaluation.searches.is_empty());
    assert_eq!((recipe.checkpoint.every_seconds, recipe.log), (60.0, Log::EveryActions(50_000)));
    for lines in [
        "",
        "dcnn.layers = 3\nparallel.threads = 2",
        "dcnn.network = 'tjwei'\ndcnn.tile_values = 18\nlog.every_seconds = 5",
        "dcnn.network = '4x6'\ndcnn.final_rate = 1e-4\ndcnn.shards = 3\ndcnn.checksum = '12'",
    ] {
        let recipe = taught(lines).unwrap();
        let text = recipe.to_toml().unwrap();
        assert_eq!(recipe, parse(&text, &[]).unwrap(), "{lines}");
        assert!(!text.contains("[network]") && !text.contains("searches"), "{text}");
    }
}

#[test]
fn what_records_cannot_teach_is_told_with_its_line() {
    for (lines, told) in [
        (
            "dcnn.layers = 12",
            "line 3: `dcnn.layers` cannot be used here: the paper's Table 2 has 2 to 9 layers",
        ),
        ("dcnn.layers = 33", "`dcnn.layers` must be a whole number from 1 to 32"),
        ("dcnn.channels = 5000", "`dcnn.channels` must be a whole number from 1 to 4096"),
        ("dcnn.batch = 0", "line 3: `dcnn.batch` must be a whole number from 1 to 1000000, not 0"),
        ("dcnn.rate = -1", "`dcnn.rate` must be a number above 0"),
        ("dcnn.rate = 1e-60", "`dcnn.rate` must be a number above 0"),
        ("dcnn.final_rate = 1e10", "`dcnn.final_rate` must be a number above 0"),
        ("dcnn.buffer = 0", "`dcnn.buffer` must be a whole number of records"),
        ("dcnn.tile_values = 19", "`dcnn.tile_values` must be a number from 2 to 18"),
        ("dcnn.network = '4x66'", "`dcnn.network` must be \"policy\", \"tjwei\""),
        ("dcnn.network = '4x6'\ndcnn.layers = 3", "it belongs to network = \"policy\""),
        ("dcnn.network = '4x6'\ndcnn.tile_values = 18", "it belongs to convolutional networks"),
        ("dcnn.lairs = 3", "unknown key `dcnn.lairs`; did you mean `dcnn.layers`?"),
        ("network.tuples = '4x6'", "line 3: `network.tuples` cannot be used here: [dcnn] teaches by records"),
        ("learning.lambda = 0.5", "`learning.lambda` cannot be used here"),
        ("evaluation.searches = ['1ply']", "`evaluation.searches` cannot be used here"),
        ("parallel.mode = 'lock-free'", "`parallel.mode` cannot be used here"),
        ("log.every_episodes = 3", "`log.every_episodes` cannot be used here"),
    ] {
        let error = taught(lines).expect_err(lines);
        assert!(error.contains(told), "{lines}: {error}");
    }
    assert!(error("dcnn.batch = 10").contains("no records; give one of `dcnn.records`"));
    let budget = |budget: &str| parse(&format!("dcnn.records = \"r\"\nbudget.{budget}"), &[]).unwrap_err();
    assert!(budget("seconds = 3").contains("records are counted by budget.actions"));
    assert!(budget("actions = 1e13").contains("10^12 records"));
}

#[test]
fn an_override_decides_who_teaches() {
    let by_records = resolve_with("network.tuples = '4x6'", &["dcnn.records=records"]).unwrap();
    assert!(by_records.lesson.is_some());
    let other = resolve_with("dcnn.records = 'r'\ndcnn.layers = 3", &["dcnn.network=tjwei"]).unwrap();
    assert!(!other.lesson.unwrap().network.is_policy());
}
