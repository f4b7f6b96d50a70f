//! The rules on arrays of boards.

use std::{
    ops::Range,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use afterstate_game::{Afterstate, Move, Rules, State, Symmetry};
use numpy::{Element, IntoPyArray, PyArray1, PyArrayDyn, PyArrayMethods};
use pyo3::prelude::*;

use crate::{
    array::{self, Bad, Boards, boards, fill, output, part, part_mut, write},
    error::value_error,
    interrupt::{by_blocks, interruptible},
    number::Natural,
    side::{check_four, with_side},
};

/// The approximate nanoseconds for a board: 13 were measured for `slides`, 6 for `legal_mask`, 106 for `canonical`.
const SLIDE: usize = 20;
const SYMMETRIES: usize = 100;
const LITTLE: usize = 10;
const SPAWNS: usize = 200;

type Array<'py, T> = Bound<'py, PyArrayDyn<T>>;
type Any<'a, 'py> = &'a Bound<'py, PyAny>;
/// Afterstates, rewards, and whether something moved.
type Slid<'py> = (Array<'py, u8>, Array<'py, i32>, Array<'py, bool>);
type Outs<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);

/// A move from its number, or an error if there is none.
pub(crate) fn action(index: usize, number: i64) -> PyResult<Move> {
    let found = usize::try_from(number).ok().and_then(|number| Move::ALL.get(number).copied());
    found.ok_or_else(|| {
        value_error(format!("action {index} is {number}: actions are 0 up, 1 right, 2 down, 3 left"))
    })
}

fn actions_of(numbers: &[i64]) -> PyResult<()> {
    match numbers.iter().position(|number| !(0..4).contains(number)) {
        Some(index) => action(index, numbers[index]).map(drop),
        None => Ok(()),
    }
}

/// Slides each board by its action: (afterstates, rewards, moved). An illegal slide leaves the board unchanged.
#[pyfunction]
#[pyo3(signature = (boards, actions, out=None))]
pub(crate) fn slide<'py>(
    py: Python<'py>,
    boards: Any<'_, 'py>,
    actions: Any<'_, 'py>,
    out: Option<Outs<'py>>,
) -> PyResult<Slid<'py>> {
    let boards = Boards::new("boards", boards)?;
    let actions = array::actions(actions, &boards.lead)?;
    let numbers = actions.as_slice()?;
    actions_of(numbers)?;
    let outs = slid_outputs(py, &boards, &[], out)?;
    let bytes = boards.bytes()?;
    fill(&outs.0, |afterstates| {
        fill(&outs.1, |rewards| {
            fill(&outs.2, |moved| {
                let cells = boards.side * boards.side;
                by_blocks(py, boards.len(), SLIDE, |some| {
                    let (bytes, numbers) = (part(bytes, &some, cells), part(numbers, &some, 1));
                    let afterstates = part_mut(afterstates, &some, cells);
                    let (rewards, moved) = (part_mut(rewards, &some, 1), part_mut(moved, &some, 1));
                    with_side!(boards.side, N => slide_all::<N>(bytes, numbers, afterstates, rewards, moved))
                        .map_err(|bad| bad.after(some.start))
                })
            })
        })
    })?;
    Ok(outs)
}

fn slide_all<const N: usize>(
    bytes: &[u8],
    actions: &[i64],
    afterstates: &mut [u8],
    rewards: &mut [i32],
    moved: &mut [bool],
) -> Result<(), Bad> {
    let outs = afterstates.chunks_exact_mut(N * N).zip(rewards).zip(moved);
    for ((board, &action), ((afterstate, reward), moved)) in boards::<N>(bytes).zip(actions).zip(outs) {
        let slides = State::new(board?).slides();
        let a = (action & 3) as usize;
        write(&slides.afterstates[a].board(), afterstate);
        *reward = slides.rewards[a] as i32;
        *moved = slides.legal.mask() >> a & 1 == 1;
    }
    Ok(())
}

/// All four slides of each board: (afterstates, rewards, legal), with an action axis after the leading ones.
#[pyfunction]
#[pyo3(signature = (boards, out=None))]
pub(crate) fn slides<'py>(
    py: Python<'py>,
    boards: Any<'_, 'py>,
    out: Option<Outs<'py>>,
) -> PyResult<Slid<'py>> {
    let boards = Boards::new("boards", boards)?;
    let outs = slid_outputs(py, &boards, &[4], out)?;
    let bytes = boards.bytes()?;
    fill(&outs.0, |afterstates| {
        fill(&outs.1, |rewards| {
            fill(&outs.2, |legal| {
                let cells = boards.side * boards.side;
                by_blocks(py, boards.len(), SLIDE, |some| {
                    let bytes = part(bytes, &some, cells);
                    let afterstates = part_mut(afterstates, &some, 4 * cells);
                    let (rewards, legal) = (part_mut(rewards, &some, 4), part_mut(legal, &some, 4));
                    with_side!(boards.side, N => slides_all::<N>(bytes, afterstates, rewards, legal))
                        .map_err(|bad| bad.after(some.start))
                })
            })
        })
    })?;
    Ok(outs)
}

fn slides_all<const N: usize>(
    bytes: &[u8],
    afterstates: &mut [u8],
    rewards: &mut [i32],
    legal: &mut [bool],
) -> Result<(), Bad> {
    let outs = afterstates.chunks_exact_mut(4 * N * N).zip(rewards.chunks_exact_mut(4));
    for (board, ((afterstates, rewards), legal)) in
        boards::<N>(bytes).zip(outs.zip(legal.chunks_exact_mut(4)))
    {
        let slides = State::new(board?).slides();
        write_slides(&slides.afterstates, afterstates);
        for a in 0..4 {
            rewards[a] = slides.rewards[a] as i32;
            legal[a] = slides.legal.mask() >> a & 1 == 1;
        }
    }
    Ok(())
}

/// Writes the four afterstates of a state.
#[inline(always)]
pub(crate) fn write_slides<const N: usize>(afterstates: &[Afterstate<N>; 4], to: &mut [u8]) {
    let each = to.chunks_exact_mut(N * N).zip(afterstates);
    each.for_each(|(to, afterstate)| write(&afterstate.board(), to));
}

/// The three outputs of slides, with these axes for each board.
fn slid_outputs<'py>(
    py: Python<'py>,
    boards: &Boards<'py>,
    inner: &[usize],
    out: Option<Outs<'py>>,
) -> PyResult<Slid<'py>> {
    let (afterstates, rewards, legal) = match &out {
        Some((afterstates, rewards, legal)) => (Some(afterstates), Some(rewards), Some(legal)),
        None => (None, None, None),
    };
    let of_boards = [inner, &[boards.side, boards.side]].concat();
    Ok((
        output(py, afterstates, "uint8", &boards.shape(&of_boards))?,
        output(py, rewards, "int32", &boards.shape(inner))?,
        output(py, legal, "bool", &boards.shape(inner))?,
    ))
}

/// The legal actions of each board, as bool with an axis of four.
#[pyfunction]
#[pyo3(signature = (boards, out=None))]
pub(crate) fn legal_mask<'py>(
    py: Python<'py>,
    boards: Any<'_, 'py>,
    out: Option<Any<'_, 'py>>,
) -> PyResult<Array<'py, bool>> {
    let boards = Boards::new("boards", boards)?;
    let mask = output::<bool>(py, out, "bool", &boards.shape(&[4]))?;
    let bytes = boards.bytes()?;
    fn all<const N: usize>(bytes: &[u8], mask: &mut [bool]) -> Result<(), Bad> {
        for (board, mask) in array::boards::<N>(bytes).zip(mask.chunks_exact_mut(4)) {
            let legal = State::new(board?).legal_moves().mask();
            mask.iter_mut().enumerate().for_each(|(a, mask)| *mask = legal >> a & 1 == 1);
        }
        Ok(())
    }
    let run = |bytes: &[u8], mask: &mut [bool]| with_side!(boards.side, N => all::<N>(bytes, mask));
    mapped(py, &boards, bytes, LITTLE, &mask, 4, run)?;
    Ok(mask)
}

/// Spawns a tile on each afterstate, using one random uint64 for each.
#[pyfunction]
#[pyo3(signature = (afterstates, bits, four, out=None))]
pub(crate) fn spawn<'py>(
    py: Python<'py>,
    afterstates: Any<'_, 'py>,
    bits: Any<'_, 'py>,
    four: f64,
    out: Option<Any<'_, 'py>>,
) -> PyResult<Array<'py, u8>> {
    let afterstates = Boards::new("afterstates", afterstates)?;
    let bits = array::numbers::<u64>("bits", bits, "uint64", &afterstates.lead)?;
    let rules = Rules { four: check_four(four)?, ..Rules::default() };
    let states = output::<u8>(py, out, "uint8", &afterstates.board_shape())?;
    let (bytes, bits) = (afterstates.bytes()?, bits.as_slice()?);
    fill(&states, |states| {
        let cells = afterstates.side * afterstates.side;
        by_blocks(py, afterstates.len(), LITTLE, |some| {
            let (bytes, bits, states) =
                (part(bytes, &some, cells), part(bits, &some, 1), part_mut(states, &some, cells));
            with_side!(afterstates.side, N => spawn_all::<N>(some.start, bytes, bits, &rules, states))
        })
    })?;
    Ok(states)
}

/// `first` is the index of the first afterstate in its array.
fn spawn_all<const N: usize>(
    first: usize,
    bytes: &[u8],
    bits: &[u64],
    rules: &Rules,
    states: &mut [u8],
) -> PyResult<()> {
    let each = boards::<N>(bytes).zip(bits).zip(states.chunks_exact_mut(N * N)).enumerate();
    for (index, ((board, &bits), state)) in each {
        let board = board.map_err(|bad| bad.after(first))?;
        if board.empty_count() == 0 {
            return Err(full(first + index));
        }
        write(&Afterstate::new(board).spawn_by(rules, bits).board(), state);
    }
    Ok(())
}

fn full(index: usize) -> PyErr {
    value_error(format!("afterstate {index} has no empty cell for a new tile"))
}

/// Every state that a new tile can lead to: (states, probabilities, index of each one's afterstate).
#[pyfunction]
#[pyo3(signature = (afterstates, four))]
#[allow(clippy::type_complexity, reason = "a tuple of arrays")]
pub(crate) fn spawns<'py>(
    py: Python<'py>,
    afterstates: Any<'_, 'py>,
    four: f64,
) -> PyResult<(Array<'py, u8>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<i64>>)> {
    let afterstates = Boards::new("afterstates", afterstates)?;
    let rules = Rules { four: check_four(four)?, ..Rules::default() };
    let (bytes, side) = (afterstates.bytes()?, afterstates.side);
    let mut found = Spawns::default();
    by_blocks(py, afterstates.len(), SPAWNS, |some| {
        let bytes = part(bytes, &some, side * side);
        with_side!(side, N => found.extend::<N>(some.start, bytes, &rules))
    })?;
    let states = found.states.into_pyarray(py).reshape([found.index.len(), side, side])?;
    Ok((states.to_dyn().clone(), found.probabilities.into_pyarray(py), found.index.into_pyarray(py)))
}

#[derive(Default)]
struct Spawns {
    states: Vec<u8>,
    probabilities: Vec<f64>,
    index: Vec<i64>,
}

impl Spawns {
    /// Adds those of some afterstates, where `first` is the index of the first one.
    fn extend<const N: usize>(&mut self, first: usize, bytes: &[u8], rules: &Rules) -> PyResult<()> {
        for (index, board) in boards::<N>(bytes).enumerate() {
            let board = board.map_err(|bad| bad.after(first))?;
            if board.empty_count() == 0 {
                return Err(full(first + index));
            }
            for (state, probability) in Afterstate::new(board).spawns(rules) {
                self.states.extend(state.board().exponents());
                self.probabilities.push(probability);
                self.index.push((first + index) as i64);
            }
        }
        Ok(())
    }
}

/// Writes this many elements for each board, block by block.
pub(crate) fn mapped<T: Element>(
    py: Python<'_>,
    boards: &Boards<'_>,
    bytes: &[u8],
    nanoseconds: usize,
    to: &Array<'_, T>,
    each: usize,
    run: impl Fn(&[u8], &mut [T]) -> Result<(), Bad> + Sync,
) -> PyResult<()> {
    let cells = boards.side * boards.side;
    fill(to, |to| {
        by_blocks(py, boards.len(), nanoseconds, |some: Range<usize>| {
            let written = run(part(bytes, &some, cells), part_mut(to, &some, each));
            written.map_err(|bad| bad.after(some.start))
        })
    })
}

/// The eight images of each board, the board itself first.
#[pyfunction]
pub(crate) fn symmetries<'py>(py: Python<'py>, boards: Any<'_, 'py>) -> PyResult<Array<'py, u8>> {
    let boards = Boards::new("boards", boards)?;
    fn all<const N: usize>(bytes: &[u8], images: &mut [u8]) -> Result<(), Bad> {
        for (board, images) in array::boards::<N>(bytes).zip(images.chunks_exact_mut(8 * N * N)) {
            let board = board?;
            let each = Symmetry::ALL.into_iter().zip(images.chunks_exact_mut(N * N));
            each.for_each(|(symmetry, image)| write(&board.image(symmetry), image));
        }
        Ok(())
    }
    let images = output::<u8>(py, None, "uint8", &boards.shape(&[8, boards.side, boards.side]))?;
    let bytes = boards.bytes()?;
    let run = |bytes: &[u8], images: &mut [u8]| with_side!(boards.side, N => all::<N>(bytes, images));
    mapped(py, &boards, bytes, SYMMETRIES, &images, 8 * boards.side * boards.side, run)?;
    Ok(images)
}

/// The smallest of the eight images of each board.
#[pyfunction]
pub(crate) fn canonical<'py>(py: Python<'py>, boards: Any<'_, 'py>) -> PyResult<Array<'py, u8>> {
    let boards = Boards::new("boards", boards)?;
    fn all<const N: usize>(bytes: &[u8], canonical: &mut [u8]) -> Result<(), Bad> {
        for (board, canonical) in array::boards::<N>(bytes).zip(canonical.chunks_exact_mut(N * N)) {
            write(&board?.canonical(), canonical);
        }
        Ok(())
    }
    let found = output::<u8>(py, None, "uint8", &boards.board_shape())?;
    let bytes = boards.bytes()?;
    let run = |bytes: &[u8], found: &mut [u8]| with_side!(boards.side, N => all::<N>(bytes, found));
    mapped(py, &boards, bytes, SYMMETRIES, &found, boards.side * boards.side, run)?;
    Ok(found)
}

/// `NTH_ACTION[set][k]`: the `k`-th action of a set; branch-free, since a random `k` would be mispredicted.
static NTH_ACTION: [[u8; 4]; 16] = {
    let mut table = [[0; 4]; 16];
    let mut set = 0;
    while set < 16 {
        let (mut action, mut k) = (0, 0);
        while action < 4 {
            if set >> action & 1 == 1 {
                table[set][k] = action as u8;
                k += 1;
            }
            action += 1;
        }
        set += 1;
    }
    table
};

/// The number of actions in each set.
static COUNT: [u8; 16] = [0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4];

/// The set of nonzero actions in a mask, as four bits: all four bytes at once.
#[inline(always)]
fn set_of(mask: [i8; 4]) -> usize {
    let word = u32::from_le_bytes(mask.map(|legal| legal as u8));
    // The highest bit of each nonzero byte, then the lowest; a product gathers the four of them.
    let high = word | ((word & 0x7f7f_7f7f) + 0x7f7f_7f7f);
    let low = high >> 7 & 0x0101_0101;
    (low.wrapping_mul(0x0102_0408) >> 24 & 15) as usize
}

/// A random one of the actions in each row of a mask, using one random uint64 for each; 0 if the row is empty.
#[pyfunction]
pub(crate) fn random_actions<'py>(
    py: Python<'py>,
    mask: Any<'_, 'py>,
    bits: Any<'_, 'py>,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let bits = array::typed::<u64>("bits", bits, "uint64")?;
    let bits = array::readonly("bits", bits)?;
    let shape = [bits.as_slice()?.len(), 4];
    let mask = array::numbers::<i8>("mask", mask, "int8", &shape)?;
    let (mask, bits) = (mask.as_slice()?, bits.as_slice()?);
    let pick = |(mask, bits): (&[i8], &u64)| {
        let set = set_of([mask[0], mask[1], mask[2], mask[3]]);
        let k = ((bits >> 32) * u64::from(COUNT[set])) >> 32;
        i64::from(NTH_ACTION[set][k as usize & 3])
    };
    let mut actions = Vec::with_capacity(bits.len());
    by_blocks(py, bits.len(), LITTLE, |some| -> PyResult<()> {
        actions.extend(part(mask, &some, 4).chunks_exact(4).zip(part(bits, &some, 1)).map(pick));
        Ok(())
    })?;
    Ok(actions.into_pyarray(py))
}

/// The number of (move, spawn cell, spawn tile) paths of `depth` moves from a board.
#[pyfunction]
pub(crate) fn perft(py: Python<'_>, board: Any<'_, '_>, depth: Natural) -> PyResult<u64> {
    let boards = Boards::new("board", board)?;
    if !boards.lead.is_empty() {
        return Err(value_error("perft takes one board, of shape (N, N)"));
    }
    let (bytes, depth) = (boards.bytes()?, depth.0.min(u32::MAX.into()) as u32);
    with_side!(boards.side, N => {
        let state = State::new(array::board::<N>(0, bytes)?);
        interruptible(py, |stop| count(state, depth, stop))
    })
}

/// [`afterstate_game::perft`] that can be stopped; its result is then meaningless.
fn count<const N: usize>(state: State<N>, depth: u32, stop: &AtomicBool) -> u64 {
    if depth <= 3 || stop.load(Relaxed) {
        return afterstate_game::perft(state, depth.min(3));
    }
    let after = |afterstate: Afterstate<N>| {
        let states = afterstate.spawns(&Rules::default());
        states.map(|(state, _)| count(state, depth - 1, stop)).sum::<u64>()
    };
    state.slides().iter().map(|(_, slide)| after(slide.afterstate)).sum()
}
