//! The speed of convolutional networks.

use std::time::{Duration, Instant};

use afterstate_dcnn::{CrossEntropy, Dcnn, DcnnPlayer, DcnnSpec, Play, Sample, Trainer, Work};
use afterstate_game::{Board, Game, Move, Rules};
use afterstate_search::Player;

use super::{Figure, Unit};
use crate::{commands::thread_count, error::Failure};

/// The measuring time of each figure.
const MEASURED: Duration = Duration::from_secs(5);

/// The network of five layers: records learned per second in batches of 1,000, boards per second one at a time, and
/// moves per second by majority vote.
pub(super) fn dcnn() -> Result<Vec<Figure>, Failure> {
    let spec =
        DcnnSpec::of_table_2(5).ok_or_else(|| Failure::other("there is no such network", "try again"))?;
    let net = Dcnn::new(spec, 1);
    let threads = thread_count(0);
    let batch: Vec<_> = boards(1000).into_iter().map(|board| Sample { board, target: Move::Down }).collect();
    let trainer = Trainer::<CrossEntropy>::new(net.clone(), threads);
    let mut trainer = trainer.map_err(|error| Failure::other(error, "try again"))?;
    let learned = rate(1000, || {
        trainer.step(&batch, 0.001);
    });
    let mut work = Work::default();
    let looked_at = rate(1, || {
        net.forward(&[batch[0].board], &mut work);
    });
    let (mut player, mut game) =
        (DcnnPlayer::new(&net, Play::MajorityVote), Game::<4>::new(Rules::default(), 1, 1));
    let moves = rate(1, || match player.advise(game.state()).best() {
        Some(best) => _ = game.play(best),
        None => game = Game::new(Rules::default(), 1, 1),
    });
    let figure = |key: &str, label: String, value| Figure::new(key, label, value, Unit::PerSecond);
    Ok(vec![
        figure("dcnn_5_training", format!("records learned, DCNN k = 5, {threads} threads"), learned),
        figure("dcnn_5_boards", "boards one at a time, DCNN k = 5, 1 thread".into(), looked_at),
        figure("dcnn_5_moves", "moves by majority vote, DCNN k = 5, 1 thread".into(), moves),
    ])
}

/// Boards of a game.
fn boards(count: usize) -> Vec<Board<4>> {
    let mut game = Game::<4>::new(Rules::default(), 1, 1);
    let mut boards = Vec::new();
    while boards.len() < count {
        boards.push(game.state().board());
        match game.state().legal_moves().next() {
            Some(a) => _ = game.play(a),
            None => game = Game::new(Rules::default(), 1, boards.len() as u64),
        }
    }
    boards
}

/// Repetitions per second of work that counts `count` times, after one warm-up run.
fn rate(count: u64, mut run: impl FnMut()) -> f64 {
    run();
    let (start, mut done) = (Instant::now(), 0);
    while start.elapsed() < MEASURED {
        run();
        done += count;
    }
    done as f64 / start.elapsed().as_secs_f64()
}
