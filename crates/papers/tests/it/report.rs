//! A report on real small runs: complete, safe, and with games that can be replayed.

use std::{path::Path, sync::atomic::AtomicBool};

use afterstate_game::{Game, Move, Rules, State};
use afterstate_lab::{
    recipe::Recipe,
    run::{Directory, Run},
};
use afterstate_papers::report::{Recorded, load, page, record};

/// Trains a small network on 3×3 for a moment.
fn train(folder: &Path, name: &str, more: &[&str]) -> std::path::PathBuf {
    let text =
        "game.side = 3\nnetwork.tuples = ['0123', '0134']\nnetwork.tile_values = 11\nparallel.threads = 1
        budget.actions = 200_000\nevaluation = { every = 50_000, games = 30 }\nlog.every_episodes = 200";
    let overrides: Vec<String> = more.iter().map(|&word| word.to_owned()).collect();
    let recipe = Recipe::parse(name, "small.toml", text, &overrides).unwrap();
    let path = folder.join(name);
    Run::start(Directory::new(&path), recipe).unwrap().train(&AtomicBool::new(false), &mut ()).unwrap();
    path
}

#[test]
fn a_report_is_one_file_with_everything_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let paths = [
        train(folder.path(), "plain", &[]),
        train(folder.path(), "a<b>&c", &["learning.step_size=fixed", "learning.alpha=0.2"]),
    ];
    let subjects: Vec<_> = paths.iter().map(|path| load(path).unwrap()).collect();
    let html = page(&subjects, record).unwrap();
    let outside = html.replace("http://www.w3.org/2000/svg", "");
    assert!(
        !outside.contains("http://") && !outside.contains("https://"),
        "nothing is loaded from elsewhere"
    );
    assert!(html.contains("a&lt;b&gt;&amp;c") && !html.contains("a<b>&c"), "names are text, not markup");
    for part in [
        "<svg class=\"figure\"",
        "var(--grid)",
        "learning.step_size",
        "fixed",
        "mean score",
        "data-game=\"3\"",
    ] {
        assert!(html.contains(part), "no `{part}`");
    }
    let opened =
        |tag: &str| html.matches(&format!("<{tag}>")).count() + html.matches(&format!("<{tag} ")).count();
    for tag in ["section", "table", "details", "article", "figure", "ul", "svg"] {
        assert_eq!(opened(tag), html.matches(&format!("</{tag}>")).count(), "<{tag}>");
    }
}

#[test]
fn recorded_games_can_be_played_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = train(folder.path(), "plain", &[]);
    let series = load(&path).unwrap().series.remove(0);
    for game in record(&series, 2).unwrap() {
        let Recorded { start, end, steps, score, moves, .. } = &game;
        let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        let mut board: State<3> = board(start);
        assert_eq!(
            board,
            Game::<3>::new(Rules::default(), afterstate_lab::evaluate::SEED, game.game).state()
        );
        let (mut tile, mut played, mut points) = (1, 0, 0);
        for letter in steps.chars() {
            if letter == '!' {
                tile = 2;
                continue;
            }
            let code = letters.find(letter).unwrap();
            let slide = board.slide(Move::ALL[code % 4]).expect("a legal move");
            points += u64::from(slide.reward);
            let mut cells: Vec<u8> = slide.afterstate.board().exponents().collect();
            assert_eq!(cells[code / 4], 0, "new tiles come to empty cells");
            cells[code / 4] = tile;
            (board, tile, played) = (self::board(&cells), 1, played + 1);
        }
        assert_eq!(
            (board.board().exponents().collect::<Vec<_>>(), played, points),
            (end.clone(), *moves, *score)
        );
        assert!(board.is_terminal());
    }
}

fn board(cells: &[u8]) -> State<3> {
    State::new(afterstate_game::Board::from_exponents(cells).unwrap())
}

#[test]
fn what_holds_no_run_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let error = load(folder.path()).unwrap_err().to_string();
    assert!(error.ends_with("holds neither a run nor a reproduced table"), "{error}");
}
