//! Our numbers beside PyTorch's: a few steps of training stored in `data/pytorch.json`, written by
//! `scripts/pytorch_dcnn.py fixture`, and model files loaded into PyTorch if it is installed.

use std::{collections::BTreeMap, path::Path, process::Command};

use crate::common::{assert_close, boards, tensors, write_tensors};
use afterstate_dcnn::{CrossEntropy, Dcnn, DcnnSpec, Sample, Trainer, Work};
use afterstate_game::{Board, Move};
use serde_json::Value;

fn numbers(value: &Value) -> Vec<f32> {
    value.as_array().expect("an array").iter().map(|n| n.as_f64().expect("a number") as f32).collect()
}

/// The network with PyTorch's tensors.
fn from_tensors(tensors: &Value) -> Dcnn {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("net.safetensors");
    let metadata = [
        "format=afterstate-dcnn",
        "version=1",
        "architecture=dcnn",
        "layers=3",
        "channels=4",
        "tile_values=16",
    ];
    let metadata = metadata.iter().filter_map(|entry| entry.split_once('='));
    let metadata: BTreeMap<_, _> =
        metadata.map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let tensors = tensors.as_object().expect("tensors").iter().map(|(name, tensor)| {
        let shape = tensor["shape"].as_array().expect("a shape").iter().filter_map(Value::as_u64).collect();
        (name.as_str(), shape, numbers(&tensor["numbers"]))
    });
    write_tensors(&path, &metadata, tensors);
    Dcnn::load(&path).expect("a network")
}

#[test]
fn steps_of_training_are_those_of_pytorch() {
    let fixture: Value = serde_json::from_str(include_str!("data/pytorch.json")).expect("JSON");
    let texts = fixture["boards"].as_array().expect("boards").iter().filter_map(Value::as_str);
    let boards: Vec<Board<4>> = texts.map(|text| text.parse().expect("a board")).collect();
    let moves = numbers(&fixture["moves"]).into_iter().map(|a| Move::ALL[a as usize]);
    let batch: Vec<_> = boards.iter().zip(moves).map(|(&board, target)| Sample { board, target }).collect();

    let net = from_tensors(&fixture["before"]);
    let outputs = net.forward(&boards, &mut Work::default()).to_vec();
    assert_close("outputs", outputs.into_iter().map(f64::from), &numbers(&fixture["outputs"]), 1e-5);
    let mut trainer = Trainer::<CrossEntropy>::new(net, 1).expect("a policy");
    let gradient = Dcnn::from_weights(*trainer.net().spec(), trainer.gradient(&batch))
        .expect("a number for each weight");
    let losses: Vec<_> = (0..3).map(|_| trainer.step(&batch, 0.001).error()).collect();
    assert_close("losses", losses, &numbers(&fixture["losses"]), 1e-5);
    for (what, net) in [("gradient", &gradient), ("after", trainer.net())] {
        for (name, found) in tensors(net) {
            assert_close(&name, found, &numbers(&fixture[what][&name]["numbers"]), 1e-4);
        }
    }
}

/// The Python to run: `PYTHON`, or `python3`.
fn python() -> Command {
    Command::new(std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into()))
}

#[test]
fn model_files_load_into_pytorch() {
    let imports = python().args(["-c", "import torch, safetensors"]).output();
    if !imports.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: there is no PyTorch with safetensors; PYTHON names another Python");
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let (path, net) =
        (directory.path().join("net.safetensors"), Dcnn::new(DcnnSpec::policy(4, 20).expect("a network"), 9));
    net.save(&path, &BTreeMap::new()).expect("a file");
    let boards = boards(5);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/pytorch_dcnn.py");
    let mut command = python();
    command.arg(script).arg("outputs").arg(&path).args(boards.iter().map(Board::to_string));
    let output = command.output().expect("the script runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found: Vec<Vec<f64>> = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_close("outputs", found.concat(), net.forward(&boards, &mut Work::default()), 1e-4);
}
