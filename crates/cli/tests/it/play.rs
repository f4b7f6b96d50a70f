//! `afterstate play` in a terminal: a Python script emulates one, and reads the screen.

use std::process::Command;

/// Types keys and reads the screen: see play.py.
#[test]
fn a_game_in_a_terminal() {
    let python = Command::new("python3").args(["-c", "import pty, termios"]).output();
    if !python.is_ok_and(|output| output.status.success()) {
        return;
    }
    let games = tempfile::tempdir().expect("a directory");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/play.py");
    let output = Command::new("python3")
        .arg(script)
        .arg(env!("CARGO_BIN_EXE_afterstate"))
        .arg(games.path())
        .output()
        .expect("Python runs");
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}
