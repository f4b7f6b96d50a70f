//! guei-2021, section IV.C.3: tile-downgrading.
//!
//! Boards with very large tiles are rare in training, and their values poor. The tiles above the largest missing one
//! are halved before the search: the moves stay the same, and the values are those of a better-known board.
//!
//! Differences from the paper:
//! 1. The threshold tile can be another one than 32768.
//! 2. Downgrading is repeated while the board has such a tile: 65536 becomes 16384 at once if 32768 and 16384 are
//!    missing. The paper's single step is `32768-once`.
//! 3. A network trained for the last part of the way to a tile sees the boards of that part unchanged.
//!
//! Values are those of the downgraded state, as in the paper.

use std::{fmt, str::FromStr};

use afterstate_game::{Board, Slides, State};
use afterstate_network::{Isa, Kernel, View, carried};

use crate::{Advice, Player};

/// The exponent of the largest tile of all.
const LARGEST: u8 = 17;

/// Which boards are downgraded, as text: `32768` for those with that tile or a larger one, `16384..28672` for those
/// with a 16384-tile until their large tiles sum to 28672 (then not before there is a 32768-tile), `32768-once` for a
/// single step as in guei-2021, `off` for none.
///
/// ```
/// use afterstate_game::State;
/// use afterstate_search::Downgrade;
/// let downgrade: Downgrade = "16384..28672".parse()?;
/// let becomes = |board: &str| downgrade.apply(board.parse::<State<4>>().expect("a state")).to_string();
/// assert_eq!(becomes("ed00/0000/0000/0021"), "dc00/0000/0000/0021");
/// assert_eq!(becomes("edc0/0000/0000/0021"), "edc0/0000/0000/0021");
/// assert_eq!(becomes("f0c0/0000/0000/0021"), "d0c0/0000/0000/0021");
/// # Ok::<(), afterstate_search::DowngradeError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Downgrade {
    /// The smallest exponent whose presence triggers downgrading; larger than any for none.
    from: u8,
    /// The sum of large tiles at which downgrading ends, up to the next power of two; 0 if it does not end.
    until: u32,
    /// Whether downgrading is a single step.
    once: bool,
}

/// A text that does not describe downgrading.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` does not say which boards to downgrade: write off, a tile from 4 to 131072, or one and the sum of large tiles \
     until which they are, as 16384..28672; with -once behind it for a single step"
)]
pub struct DowngradeError(String);

impl Downgrade {
    /// At 32768 and above, as in the paper.
    pub const PAPER: Downgrade = Downgrade { from: 15, until: 0, once: false };
    /// None.
    pub const OFF: Downgrade = Downgrade { from: u8::MAX, until: 0, once: false };

    /// At tiles of this exponent and above.
    pub fn from_exponent(from: u8) -> Self {
        Downgrade { from, until: 0, once: false }
    }

    /// Whether boards with this largest tile, an exponent, may be downgraded.
    pub fn concerns(&self, largest: u8) -> bool {
        largest >= self.from
    }

    /// The state with all tiles above the largest missing one halved, once or repeatedly while it qualifies and a tile
    /// smaller than its largest one is missing.
    ///
    /// Different tiles stay different and equal ones equal, so the legal moves are the same.
    pub fn apply<const N: usize>(&self, mut state: State<N>) -> State<N> {
        while self.holds_for(state.board()) {
            match halved(state) {
                Some(smaller) if self.once => return smaller,
                Some(smaller) => state = smaller,
                None => break,
            }
        }
        state
    }

    /// The returns of a state's moves, reward plus value, on the downgraded board; −∞ where they are illegal. `None` if
    /// the board is not downgraded.
    #[inline(always)]
    pub fn returns<I: Isa, const N: usize>(
        &self,
        isa: I,
        view: &View<'_>,
        state: State<N>,
    ) -> Option<[f32; 4]> {
        self.concerns(state.board().max_exponent())
            .then(|| isa.run_apart(Evaluate { view, slides: &self.apply(state).slides() }))
    }

    /// Whether a board qualifies for downgrading.
    fn holds_for<const N: usize>(&self, board: Board<N>) -> bool {
        let largest = board.max_exponent();
        let has_learned = || {
            let lowest = self.until.trailing_zeros() as u8;
            // As many binary digits.
            self.until.checked_ilog2() == Some(largest.into())
                && carried(&board.bytes(), lowest, LARGEST) << lowest >= self.until as usize
        };
        self.concerns(largest) && !has_learned()
    }
}

/// The returns of a state's moves, out of line.
struct Evaluate<'a, const N: usize> {
    view: &'a View<'a>,
    slides: &'a Slides<N>,
}

impl<const N: usize> Kernel for Evaluate<'_, N> {
    type Output = [f32; 4];

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> [f32; 4] {
        let mut returns = [f32::NEG_INFINITY; 4];
        for (a, slide) in self.slides.iter() {
            let value = self.view.value(isa, &slide.afterstate.board().bytes());
            returns[a as usize] = slide.reward as f32 + value;
        }
        returns
    }
}

/// The state with all tiles above the largest missing one halved; `None` if no tile smaller than its largest one is
/// missing.
fn halved<const N: usize>(state: State<N>) -> Option<State<N>> {
    let is_missing = |exponent: &u8| state.board().exponents().all(|tile| tile != *exponent);
    let missing = (1..state.board().max_exponent()).rev().find(is_missing)?;
    let halve = |tile: u8| if tile > missing { tile - 1 } else { tile };
    let mut exponents = [0; 16];
    exponents.iter_mut().zip(state.board().exponents()).for_each(|(to, tile)| *to = halve(tile));
    Board::from_exponents(&exponents[..Board::<N>::CELLS]).ok().map(State::new)
}

impl FromStr for Downgrade {
    type Err = DowngradeError;

    fn from_str(text: &str) -> Result<Self, DowngradeError> {
        let (boards, once) = text.strip_suffix("-once").map_or((text, false), |boards| (boards, true));
        let (tile, sum) = boards.split_once("..").map_or((boards, None), |(tile, sum)| (tile, Some(sum)));
        let exponent = |tile: &str| {
            let tile = tile.parse::<u32>().ok().filter(|tile| tile.is_power_of_two())?;
            Some(tile.trailing_zeros() as u8).filter(|exponent| (2..=LARGEST).contains(exponent))
        };
        let parsed = match sum {
            None if text == "off" => Some(Downgrade::OFF),
            None => exponent(tile).map(|from| Downgrade { from, until: 0, once }),
            Some(sum) => exponent(tile).zip(sum.parse().ok()).and_then(|(from, until)| {
                // A sum of distinct tiles, none of them larger than the largest tile or smaller than 4.
                let possible = until > 1 << from && until < 2 << LARGEST && until % 4 == 0;
                possible.then_some(Downgrade { from, until, once })
            }),
        };
        parsed.ok_or_else(|| DowngradeError(text.to_owned()))
    }
}

impl fmt::Display for Downgrade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Downgrade::OFF => return f.write_str("off"),
            Downgrade { from, until: 0, .. } => write!(f, "{}", 1u32 << from)?,
            Downgrade { from, until, .. } => write!(f, "{}..{until}", 1u32 << from)?,
        }
        f.write_str(if self.once { "-once" } else { "" })
    }
}

impl serde::Serialize for Downgrade {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Wraps a player that is shown downgraded states.
#[derive(Clone, Debug)]
pub struct TileDowngrading<P> {
    player: P,
    downgrade: Downgrade,
}

impl<P> TileDowngrading<P> {
    /// Wraps a player.
    pub fn new(player: P, downgrade: Downgrade) -> Self {
        TileDowngrading { player, downgrade }
    }
}

impl<const N: usize, P: Player<N>> Player<N> for TileDowngrading<P> {
    fn advise(&mut self, state: State<N>) -> Advice {
        self.player.advise(self.downgrade.apply(state))
    }
}
