//! Numbered games.

use std::sync::Mutex;

use afterstate_game::{Game as Numbered, Move, Rules, State};
use numpy::PyArrayDyn;
use pyo3::{prelude::*, types::PyTuple};

use crate::{
    array::{Boards, board, released, write},
    error::value_error,
    number::Natural,
    rules,
    side::{check_four, check_side, with_side},
    text::to_array,
};

/// The approximate nanoseconds of a move.
const MOVE: usize = 50;

/// A numbered game: the same seed, number and moves give the same tiles, here and in the command.
#[pyclass(module = "afterstate_2048", frozen)]
pub(crate) struct Game {
    seed: u64,
    number: u64,
    four: f64,
    /// The initial board, if it was given.
    start: Option<Vec<u8>>,
    side: usize,
    play: Mutex<Play>,
}

struct Play {
    game: Box<dyn Playing + Send>,
    history: Vec<u8>,
}

/// A game, independent of its side.
trait Playing {
    fn board<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<u8>>>;
    fn score(&self) -> u64;
    fn legal(&self) -> u8;
    /// The afterstate's exponents and the reward; `None` if the move is illegal.
    fn play(&mut self, a: Move) -> Option<(Vec<u8>, u32)>;
}

impl<const N: usize> Playing for Numbered<N> {
    fn board<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<u8>>> {
        to_array(py, &self.state().board())
    }

    fn score(&self) -> u64 {
        self.score()
    }

    fn legal(&self) -> u8 {
        self.state().legal_moves().mask()
    }

    fn play(&mut self, a: Move) -> Option<(Vec<u8>, u32)> {
        let slide = Numbered::play(self, a)?;
        let mut afterstate = vec![0; N * N];
        write(&slide.afterstate.board(), &mut afterstate);
        Some((afterstate, slide.reward))
    }
}

impl Game {
    fn begin(seed: u64, number: u64, side: usize, four: f64, start: Option<Vec<u8>>) -> PyResult<Game> {
        let rules = Rules { four: check_four(four)?, ..Rules::default() };
        let game: Box<dyn Playing + Send> = with_side!(side, N => match &start {
            None => Box::new(Numbered::<N>::new(rules, seed, number)),
            Some(exponents) => {
                let state = State::new(board::<N>(0, exponents)?);
                Box::new(Numbered::from_state(rules, seed, number, state))
            }
        });
        let play = Mutex::new(Play { game, history: Vec::new() });
        Ok(Game { seed, number, four, start, side, play })
    }

    fn with<R>(&self, run: impl FnOnce(&mut Play) -> R) -> R {
        run(&mut self.play.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    fn make(&self, action: i64) -> PyResult<(Vec<u8>, u32)> {
        let a = rules::action(0, action)?;
        self.with(|play| {
            let made = play.game.play(a);
            let made =
                made.ok_or_else(|| value_error(format!("{a} ({action}) is illegal: nothing would move")))?;
            play.history.push(a as u8);
            Ok(made)
        })
    }
}

#[pymethods]
impl Game {
    #[new]
    #[pyo3(signature = (seed, number, *, size=4, four=0.1, board=None))]
    fn new(
        seed: Natural,
        number: Natural,
        size: i64,
        four: f64,
        board: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Game> {
        let side = check_side(size)?;
        let start = match board {
            None => None,
            Some(any) => {
                let boards = Boards::of_side("board", any, side)?;
                if !boards.lead.is_empty() {
                    return Err(value_error("board must have the shape (N, N)"));
                }
                Some(boards.bytes()?.to_vec())
            }
        };
        Game::begin(seed.0, number.0, side, four, start)
    }

    /// Makes a move and spawns a tile: (afterstate, reward).
    fn play<'py>(&self, py: Python<'py>, action: i64) -> PyResult<(Bound<'py, PyArrayDyn<u8>>, u32)> {
        let (afterstate, reward) = self.make(action)?;
        with_side!(self.side, N => Ok((to_array(py, &board::<N>(0, &afterstate)?)?, reward)))
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.seed
    }

    #[getter]
    fn number(&self) -> u64 {
        self.number
    }

    #[getter]
    fn board<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<u8>>> {
        self.with(|play| play.game.board(py))
    }

    #[getter]
    fn score(&self) -> u64 {
        self.with(|play| play.game.score())
    }

    #[getter]
    fn moves(&self) -> usize {
        self.with(|play| play.history.len())
    }

    /// The moves so far, by number.
    #[getter]
    fn history(&self) -> Vec<u64> {
        self.with(|play| play.history.iter().map(|&a| u64::from(a)).collect())
    }

    #[getter]
    fn legal_actions(&self) -> Vec<u64> {
        let legal = self.with(|play| play.game.legal());
        (0..4).filter(|a| legal >> a & 1 == 1).collect()
    }

    #[getter]
    fn over(&self) -> bool {
        self.with(|play| play.game.legal() == 0)
    }

    fn __repr__(&self) -> String {
        let (seed, number) = (self.seed, self.number);
        self.with(|play| {
            let (score, moves) = (play.game.score(), play.history.len());
            format!("Game(seed={seed}, number={number}, score={score}, moves={moves})")
        })
    }

    fn __copy__(&self, py: Python<'_>) -> PyResult<Game> {
        Game::replayed(
            py,
            self.seed,
            self.number,
            self.side as i64,
            self.four,
            self.start.clone(),
            self.history(),
        )
    }

    fn __deepcopy__(&self, memo: &Bound<'_, PyAny>) -> PyResult<Game> {
        self.__copy__(memo.py())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let history = self.history();
        let state = (self.seed, self.number, self.side, self.four, self.start.clone(), history);
        Ok((py.get_type::<Game>().getattr("replayed")?, state.into_pyobject(py)?))
    }

    /// Replays a game with these moves.
    #[staticmethod]
    fn replayed(
        py: Python<'_>,
        seed: u64,
        number: u64,
        size: i64,
        four: f64,
        start: Option<Vec<u8>>,
        history: Vec<u64>,
    ) -> PyResult<Game> {
        let side = check_side(size)?;
        if start.as_ref().is_some_and(|start| start.len() != side * side) {
            return Err(value_error("the start is not a board of this size"));
        }
        released(py, history.len(), MOVE, || {
            let game = Game::begin(seed, number, side, four, start)?;
            history.into_iter().try_for_each(|action| game.make(action as i64).map(drop))?;
            Ok(game)
        })
    }
}
