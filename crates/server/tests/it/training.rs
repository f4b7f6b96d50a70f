//! Trainings are child processes; here a small shell script replaces the program.

#![cfg(unix)]

use std::{fs, os::unix::fs::PermissionsExt};

use crate::common::Running;
use serde_json::json;

/// Writes the recipe of a run into the directory after `--out`, and lives until its input is closed.
const TRAINER: &str = r#"#!/bin/sh
case "$2" in
    quick) ;;
    *) echo "error: no memory; hint: take less" >&2; exit 2 ;;
esac
mkdir -p "$4/checkpoint"
echo "$@" > "$4/arguments"
touch "$4/recipe.toml"
cat > /dev/null
touch "$4/saved"
"#;

fn with_trainer() -> Running {
    let folder = tempfile::tempdir().expect("a directory").keep();
    let program = folder.join("trainer.sh");
    fs::write(&program, TRAINER).expect("a file");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("permissions");
    Running::with(|options| options.trainer = Some(program))
}

#[test]
fn a_training_is_started_and_stopped() {
    let server = with_trainer();
    let header = format!("X-Afterstate-Token: {}\r\n", server.token());
    assert_eq!(server.request("GET", "/api/session", &header, "").json()["training"], true);
    assert_eq!(server.get("/api/session").json()["training"], false, "not without the token");
    let started = server.trusted("/api/runs", &json!({ "recipe": "quick", "seconds": 7 }));
    assert_eq!((started.status, started.json()), (201, json!({ "name": "quick" })));
    let arguments = fs::read_to_string(server.runs().join("quick/arguments")).expect("a file");
    assert!(
        arguments.contains("--until-closed") && arguments.contains("--set budget.seconds=7"),
        "{arguments}"
    );
    let second = server.trusted("/api/runs", &json!({ "recipe": "quick" }));
    assert_eq!(second.status, 409);
    assert!(second.error().contains("one at a time"));
    assert_eq!(server.get("/api/runs/quick").json()["ours"], true);
    assert_eq!(server.trusted("/api/runs/quick/stop", &json!({})).status, 200);
    assert!(server.runs().join("quick/saved").exists());
    assert_eq!(server.trusted("/api/runs/quick/stop", &json!({})).status, 200, "stopping twice does no harm");
    let named = server.trusted("/api/runs", &json!({ "recipe": "quick", "name": "quick" }));
    assert_eq!(named.status, 409);
    let again = server.trusted("/api/runs", &json!({ "recipe": "quick" }));
    assert_eq!(again.json(), json!({ "name": "quick-2" }));
    let saved = server.runs().join("quick-2/saved");
    let mut server = server;
    server.end();
    assert!(saved.exists(), "the end of the server is the end of its training");
}

#[test]
fn a_training_that_fails_says_why() {
    let server = with_trainer();
    let failed = server.trusted("/api/runs", &json!({ "recipe": "reference/4x6-td" }));
    assert_eq!(failed.status, 409);
    assert!(failed.error().contains("no memory") && failed.json()["hint"] == "take less", "{failed:?}");
    assert!(!server.runs().join("reference").exists(), "nothing is left of it");
    assert_eq!(server.trusted("/api/runs", &json!({ "recipe": "quick", "seconds": -1 })).status, 400);
}

#[test]
fn runs_are_renamed_and_deleted() {
    let server = Running::new();
    let delete = |name: &str| {
        let header = format!("X-Afterstate-Token: {}\r\n", server.token());
        server.request("DELETE", &format!("/api/v1/runs/{name}"), &header, "")
    };
    for (name, status) in [("../x", 400), ("tiny", 409), ("tiny/inside", 400), ("a//b", 400)] {
        let refused = server.trusted("/api/v1/runs/tiny/rename", &json!({ "name": name }));
        assert_eq!(refused.status, status, "{name}: {refused:?}");
    }
    let renamed = server.trusted("/api/v1/runs/tiny/rename", &json!({ "name": "deep/er" }));
    assert_eq!((renamed.status, renamed.json()), (200, json!({ "name": "deep/er" })));
    assert_eq!(server.get("/api/v1/runs/tiny").status, 404);
    assert_eq!(server.get("/api/v1/runs/deep%2Fer").json()["state"], "finished");
    assert_eq!(server.trusted("/api/v1/runs/deep%2Fer/resume", &json!({})).status, 409, "it is finished");
    let deleted = delete("deep%2Fer").json();
    assert!(deleted["bytes"].as_u64() > Some(1000), "{deleted}");
    assert!(!server.runs().join("deep").exists() && delete("deep%2Fer").status == 404);
}
