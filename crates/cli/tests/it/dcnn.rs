//! `afterstate record` and `afterstate dcnn`, as a user sees them.

use std::{
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
    assert!(good(directory, train).contains("taught: 3,000 records\n2 games: mean "));
    bad(directory, train, "holds a run already");
    assert!(
        good(directory, "dcnn train --out taught --resume --samples 4000").contains("taught: 4,000 records")
    );
    bad(directory, "dcnn train --out taught --resume --seed 5", "only samples");
    bad(directory, "dcnn train --records records --layers 12 --out other", "--channels");
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
            told.contains("of memory is available") || told.contains("`batch` should be"),
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
