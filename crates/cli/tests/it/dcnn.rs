//! `afterstate record` and `afterstate dcnn`, as a user sees them.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use afterstate_network::{Network, NetworkSpec, Tuples};
use serde_json::Value;

fn run(directory: &Path, arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_afterstate"));
    command.current_dir(directory).args(arguments.split_whitespace()).output().expect("the binary runs")
}

fn good(directory: &Path, arguments: &str) -> String {
    let output = run(directory, arguments);
    assert!(output.status.success(), "{arguments}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

fn bad(directory: &Path, arguments: &str, what: &str) {
    let output = run(directory, arguments);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && message.contains(what), "{arguments}: {message}");
}

#[test]
fn records_teach_a_network_that_eval_and_advise_take() {
    let folder = tempfile::tempdir().expect("a directory");
    let directory = folder.path();
    let spec = NetworkSpec { tuples: Tuples::named("2x4").expect("a set"), ..NetworkSpec::default() };
    let model = directory.join("model.safetensors");
    Network::new(spec).expect("a network").save(&model, &[].into()).expect("a file");

    let record = "record --model model.safetensors --search 1ply --games 41 --out records";
    assert!(good(directory, record).contains("41 games in records"));
    assert!(good(directory, "record verify records").contains("3 files, 41 games"));
    bad(
        directory,
        "record --model model.safetensors --search 2ply --games 41 --out records",
        "holds games of",
    );

    let train = "dcnn train --records records --layers 2 --channels 8 --samples 3000 --batch 100 --buffer 2000 \
                 --test-every 3000 --test-games 2 --out taught";
    let told = good(directory, train);
    assert!(told.contains("taught: 3,000 records") && told.contains("majority, 2 games: mean "), "{told}");
    bad(directory, train, "already holds a run");
    assert!(
        good(directory, "dcnn train --out taught --resume --samples 4000").contains("taught: 4,000 records")
    );
    bad(directory, "dcnn train --out taught --resume --seed 5", "`seed` cannot be changed");
    bad(directory, "dcnn train --out nothing --resume", "nothing holds no run");
    bad(directory, "dcnn train --records records --layers 12 --out other", "give dcnn.channels too");
    bad(directory, "dcnn train --records records --value 4x6 --device gpu --out other", "on the CPU alone");
    bad(directory, "eval model.safetensors --device gpu", "on the CPU alone");
    bad(directory, "eval taught --device tpu", "use cpu or gpu");
    for command in ["dcnn train --records records --device gpu --out other", "eval taught --device gpu"] {
        bad(directory, command, "gpu/Cargo.toml");
    }

    // Sizes are checked before memory is allocated.
    for size in ["--buffer 1000000000000", "--batch 1000000 --channels 4096 --layers 32", "--batch 100000000"]
    {
        let train = format!("dcnn train --records records --out large {size}");
        let output = run(directory, &train);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2), "{size}: {told}");
        assert!(
            told.contains("of memory is available") || told.contains("`dcnn.batch` must be"),
            "{size}: {told}"
        );
    }
    assert!(!directory.join("large").exists(), "what is refused leaves nothing behind");

    let answer = good(directory, "dcnn eval taught --records records --samples 500 --json");
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    assert!(answer["accuracy"].as_f64().expect("a share") > 0.2, "{answer}");
    let answer = good(directory, "eval taught --games 3 --json");
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    assert_eq!((&answer["search"], &answer["games"]), (&"majority".into(), &3.into()));
    assert!(
        good(directory, "eval --compare taught taught --search plain --search sum --games 2")
            .contains("B − A")
    );
    bad(directory, "eval taught --search 3ply", "no search `3ply`");
    assert!(
        good(directory, "advise 0000/0010/0100/0000 --model taught").contains("majority: 8 symmetric boards")
    );
    bad(directory, "advise 010/001/000 --model taught", "4×4");
}

#[test]
fn a_recipe_of_records_is_a_run_like_any_other() {
    let folder = tempfile::tempdir().expect("a directory");
    let directory = folder.path();
    good(directory, "record --search 1ply --games 60 --out records");
    let recipe = "description = 'taught'\nbudget.actions = 3000\n[dcnn]\nrecords = 'records'\nlayers = 2\nchannels = 8\n\
                  batch = 100\nbuffer = 2000\n[evaluation]\nevery = 1000\ngames = 2\n";
    fs::write(directory.join("mine.toml"), recipe).expect("a file");
    let dry = good(directory, "train mine.toml --dry-run");
    assert!(dry.contains("# weights: 1,300") && dry.contains("network = \"policy\""), "{dry}");
    assert!(!directory.join("runs").exists(), "a dry run leaves nothing behind");
    bad(directory, "train mine.toml --set dcnn.lairs=3", "did you mean `dcnn.layers`?");
    bad(directory, "train mine.toml --set dcnn.records=nowhere", "nowhere");
    bad(directory, "train mine.toml --device gpu", "gpu/Cargo.toml");
    bad(directory, "train quick --device gpu --out other", "on the CPU alone");
    let told = good(directory, "train mine.toml --set budget.actions=2000");
    assert!(told.contains("taught: 2,000 records"), "{told}");
    good(directory, "train runs/mine --resume --set budget.actions=3000");

    // The options of `dcnn train` say the same.
    good(
        directory,
        "dcnn train --records records --layers 2 --channels 8 --samples 2000 --batch 100 --buffer 2000 \
         --test-every 1000 --test-games 2 --set name=mine --set description=taught --out same",
    );
    good(directory, "dcnn train --out same --resume --samples 3000");
    let model = |run: &str| fs::read(directory.join(run).join("model.safetensors")).expect("a model");
    assert!(model("runs/mine") == model("same"), "the model is the same, byte for byte");

    let runs: Value = serde_json::from_str(&good(directory, "runs --json")).expect("JSON");
    assert_eq!((&runs[0]["state"], &runs[0]["actions"]), (&"finished".into(), &3000.into()));
    assert_eq!(runs[0]["evaluation"]["search"], "majority");
    good(directory, "report runs/mine -o page.html");
    let page = fs::read_to_string(directory.join("page.html")).expect("a page");
    for part in ["moves of records that are right", "dcnn.layers", "majority", "data-game=\"0\""] {
        assert!(page.contains(part), "no {part}");
    }
    assert!(good(directory, "runs rm runs/mine").contains("removed"));
    assert!(!directory.join("runs/mine").exists());

    // What an earlier version has begun is left as it is.
    fs::create_dir(directory.join("former")).expect("a directory");
    fs::write(directory.join("former/dcnn.json"), "{}").expect("a file");
    for command in
        ["train former --resume", "dcnn train --out former --resume", "train mine.toml --out former"]
    {
        bad(directory, command, "a run of an earlier version");
    }
}
