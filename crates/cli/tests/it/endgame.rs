//! `afterstate endgame`: the contract of `solve --json`, and a solver that is killed.

use std::{
    path::Path,
    process::{Command, Output, Stdio},
    thread::sleep,
    time::Duration,
};

use serde_json::Value;

fn afterstate(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_afterstate")).args(arguments).output().expect("the program runs")
}

fn json(arguments: &[&str]) -> Value {
    let output = afterstate(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("one object")
}

fn error(arguments: &[&str]) -> String {
    let output = afterstate(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn solve_gives_chances() {
    let walls = ["--walls", "FFFF/FFFF/F.../....", "--walls", "FFFF/.FFF/FF../...."];
    let solve =
        |more: &[&str]| json(&[&["endgame", "solve", "--target", "32", "--json"], &walls[..], more].concat());
    let solved = solve(&["--from", "FFFF/FFFF/F001/0002", "--from", "FFFF/FFFF/F044/0003"]);
    assert!(solved["positions"].as_u64() > Some(1000) && solved["peak_bytes"].as_u64() > Some(1 << 20));
    assert!(solved["seconds"].as_f64() > Some(0.0));
    let chances: Vec<_> = solved["chances"].as_array().unwrap().iter().map(|c| c.as_f64().unwrap()).collect();
    // Two 16s side by side merge wherever the tile appears.
    assert!(chances.len() == 2 && chances[0] > 0.0 && chances[0] < 1.0 && chances[1] > 0.99, "{chances:?}");
    let one_thread =
        solve(&["--from", "FFFF/FFFF/F001/0002", "--from", "FFFF/FFFF/F044/0003", "--threads", "1"]);
    assert_eq!(one_thread["chances"], solved["chances"]);
}

#[test]
fn bad_input_is_explained() {
    let six = "FFFF/FF../..../....";
    let solve = |walls: &str, target: &str, from: &str| {
        error(&["endgame", "solve", "--walls", walls, "--target", target, "--from", from])
    };
    assert!(solve("FFFF", "512", "FFFF/FF01/0000/0002").contains("`FFFF` is no shape of walls"));
    assert!(solve(six, "500", "FFFF/FF01/0000/0002").contains("500 is no target"));
    assert!(solve(six, "512", "FFFF/F.01/0000/0002").contains("no such shape"));
    assert!(solve(six, "512", "FFFF/FF09/0000/0002").contains("below the target, 512"));
    let placed = ["endgame", "solve", "--walls", six, "--target", "512", "--place", "FFFF/..../..../...."];
    assert!(error(&placed).contains("the target cannot stand in FFFF/..../..../...."));
    assert!(error(&["endgame", "build", "mainframe"]).contains("there is no set `mainframe`"));
    assert!(error(&["endgame", "info", "Cargo.toml"]).contains("is no endgame table"));
    assert!(error(&["endgame", "probe", "0000/0000/0000/0001", "--tables", "nowhere"]).contains("nowhere"));
}

#[test]
fn only_a_table_with_a_place_is_weighed() {
    let directory = tempfile::tempdir().expect("a directory");
    let [made, placed, weighed] =
        ["made", "placed", "weighed"].map(|name| directory.path().join(name).to_string_lossy().into_owned());
    let solve = ["endgame", "solve", "--walls", "FFFF/FFF./..../....", "--target", "16", "--json", "-o"];
    let few = json(&[&solve[..], &[&made]].concat())["positions"].as_u64();
    let many =
        json(&[&solve[..], &[&placed, "--place", "..../...F/..../...."]].concat())["positions"].as_u64();
    assert!(few < many, "{few:?} {many:?}");
    let weigh =
        |table: &str, tiles: &str| error(&["endgame", "weigh", table, "--tiles", tiles, "-o", &weighed]);
    let tiles = "16384,8192,4096,2048,1024,512,256";
    assert!(weigh(&made, tiles).contains("has no place for its target"));
    assert!(weigh(&placed, "16384,8192").contains("the table has 7 walls of 16 and more"));
    assert!(weigh(&placed, "256,512,1024,2048,4096,8192,16384").contains("the largest one first"));
    let info = json(&["endgame", "info", &placed, "--json"]);
    assert_eq!((info["place"].as_str(), info["goal"].as_str()), (Some("..../...F/..../...."), Some("1")));
}

#[test]
fn a_killed_solver_goes_on() {
    let directory = tempfile::tempdir().expect("a directory");
    let solve = |file: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_afterstate"));
        command
            .args(["endgame", "solve", "--walls", "FFFF/FFF./..../....", "--target", "128", "-o"])
            .arg(file);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    let [whole, killed] = ["whole", "killed"].map(|name| directory.path().join(name));
    assert!(solve(&whole).status().expect("it runs").success());
    let mut kills = 0;
    for milliseconds in [200, 400, 600, 800] {
        let mut child = solve(&killed).spawn().expect("it runs");
        sleep(Duration::from_millis(milliseconds));
        kills += u32::from(child.try_wait().expect("a child").is_none());
        let _ = child.kill();
        child.wait().expect("it ends");
    }
    assert!(killed.exists() || kills == 4);
    assert!(solve(&killed).status().expect("it runs").success());
    assert!(std::fs::read(&whole).expect("a table") == std::fs::read(&killed).expect("a table"));
    let text =
        String::from_utf8(afterstate(&["endgame", "info", &killed.to_string_lossy()]).stdout).expect("text");
    assert!(
        text.contains("128 beside seven walls") && text.contains("████   ")
            || text.contains("  ████\n  ███·"),
        "{text}"
    );
    let verified = json(&["endgame", "verify", &killed.to_string_lossy(), "--json"]);
    assert!(verified["positions"].as_u64() >= Some(10_000));
}

#[test]
fn a_board_is_probed_and_advised() {
    let directory = tempfile::tempdir().expect("a directory");
    let tables = directory.path().to_string_lossy().into_owned();
    let file = directory.path().join("seven.endgame");
    let solve = ["endgame", "solve", "--walls", "FFFF/FFF./..../....", "--target", "64", "--json", "-o"];
    json(&[&solve[..], &[&*file.to_string_lossy()]].concat());
    // The walls of the table lie along the first column, seen through a symmetry.
    let board = "b800/c700/d600/e121";
    let probed = json(&["endgame", "probe", board, "--tables", &tables, "--json"]);
    assert_eq!(probed["tables"][0]["endgame"], "64 beside seven walls");
    assert_eq!(probed["tables"][0]["chances"]["left"], Value::Null, "left is illegal");
    let best = probed["tables"][0]["best"].as_f64().expect("a chance");
    assert!(best > 0.0 && best < 1.0);
    let advised = json(&["advise", board, "--search", "1ply", "--endgame", &tables, "--json"]);
    assert_eq!(advised["endgames"], probed["tables"]);
    let text =
        String::from_utf8(afterstate(&["advise", board, "--search", "1ply", "--endgame", &tables]).stdout);
    assert!(text.expect("text").contains("64 beside seven walls: "));
    // A review reports how much of the best chance a move lost.
    let game = directory.path().join("game.txt");
    let chances = probed["tables"][0]["chances"].as_object().expect("chances");
    let chance = |name: &str| chances[name].as_f64();
    let worst = chances
        .keys()
        .filter(|name| chance(name).is_some())
        .min_by(|a, b| chance(a).expect("known").total_cmp(&chance(b).expect("known")));
    let worst = worst.expect("a move inside the endgame");
    std::fs::write(&game, format!("{board} {worst}\n")).expect("written");
    let reviewed =
        json(&["review", &game.to_string_lossy(), "--search", "1ply", "--endgame", &tables, "--json"]);
    let regret = best - chance(worst).expect("known");
    let told = &reviewed["moves"][0]["endgame"];
    assert!(
        reviewed["exact_moves"] == 1 && (told["regret"].as_f64().expect("a regret") - regret).abs() < 1e-6
    );
    assert_eq!(told["endgame"], "64 beside seven walls");
    // A damaged table is rejected; a directory without tables is not.
    let mut bytes = std::fs::read(&file).expect("a table");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&file, bytes).expect("written");
    assert!(error(&["advise", board, "--search", "1ply", "--endgame", &tables]).contains("the layer of sum"));
    std::fs::remove_file(&file).expect("removed");
    let without = afterstate(&["advise", board, "--search", "1ply", "--endgame", &tables]);
    assert!(without.status.success());
    assert!(String::from_utf8_lossy(&without.stderr).contains("playing without endgame tables"));
}
