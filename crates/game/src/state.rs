//! States, afterstates, and the two steps between them: the player's slide and the random tile.

use rand_core::Rng;

use crate::{Board, GameRng, Move, Moves, Rules, Symmetry, slide};

/// A board on which the player is to move.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct State<const N: usize>(Board<N>);

/// A board after the player's slide, before the random tile.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Afterstate<const N: usize>(Board<N>);

/// A legal slide: its afterstate and its reward.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slide<const N: usize> {
    /// The board after the slide.
    pub afterstate: Afterstate<N>,
    /// The sum of the tiles made by merging.
    pub reward: u32,
}

/// All four slides of a state at once, by move number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slides<const N: usize> {
    /// The afterstate of each move; the state itself where the move is illegal.
    pub afterstates: [Afterstate<N>; 4],
    /// The reward of each move.
    pub rewards: [u32; 4],
    /// The moves that move something.
    pub legal: Moves,
}

impl<const N: usize> State<N> {
    /// A state from a board.
    #[inline]
    pub const fn new(board: Board<N>) -> Self {
        State(board)
    }

    /// The board.
    #[inline]
    pub const fn board(&self) -> Board<N> {
        self.0
    }

    /// All four slides. Hot loops use this: one vector computation slides the sixteen lines of the four
    /// moves together.
    #[inline]
    pub fn slides(&self) -> Slides<N> {
        let (boards, rewards, legal) = slide::slides::<N>(self.0.0);
        Slides { afterstates: boards.map(|b| Afterstate(Board(b))), rewards, legal: Moves(legal) }
    }

    /// One slide; `None` when nothing would move.
    ///
    /// ```
    /// use afterstate_game::{Move, State};
    /// let state: State<4> = "ff00/0000/0000/0000".parse()?;
    /// let slide = state.slide(Move::Left).unwrap();
    /// assert_eq!((slide.afterstate.to_string().as_str(), slide.reward), ("g000/0000/0000/0000", 65536));
    /// assert_eq!(state.slide(Move::Up), None);
    /// # Ok::<(), afterstate_game::ParseError>(())
    /// ```
    #[inline]
    pub fn slide(&self, a: Move) -> Option<Slide<N>> {
        self.slides().get(a)
    }

    /// The legal moves: those that change the board.
    #[inline]
    pub fn legal_moves(&self) -> Moves {
        self.slides().legal
    }

    /// Whether no move is left.
    pub fn is_terminal(&self) -> bool {
        self.legal_moves().is_empty()
    }

    /// The state transformed by a symmetry.
    pub fn image(&self, symmetry: Symmetry) -> Self {
        State(self.0.image(symmetry))
    }
}

impl<const N: usize> Slides<N> {
    /// The slide of one move; `None` when it is illegal.
    #[inline]
    pub fn get(&self, a: Move) -> Option<Slide<N>> {
        self.legal
            .contains(a)
            .then(|| Slide { afterstate: self.afterstates[a as usize], reward: self.rewards[a as usize] })
    }

    /// The legal moves and their slides.
    pub fn iter(&self) -> impl Iterator<Item = (Move, Slide<N>)> + '_ {
        self.legal.map(|a| {
            let i = a as usize;
            (a, Slide { afterstate: self.afterstates[i], reward: self.rewards[i] })
        })
    }
}

impl<const N: usize> Afterstate<N> {
    /// An afterstate from a board.
    #[inline]
    pub const fn new(board: Board<N>) -> Self {
        Afterstate(board)
    }

    /// The board.
    #[inline]
    pub const fn board(&self) -> Board<N> {
        self.0
    }

    /// Puts a random tile on a uniformly random empty cell.
    ///
    /// # Panics
    /// In debug builds, when no cell is empty; a slide always leaves one.
    #[inline]
    pub fn spawn(&self, rules: &Rules, rng: &mut GameRng) -> State<N> {
        self.spawn_by(rules, rng.next_u64())
    }

    /// Like [`spawn`](Self::spawn), with a random number from the caller: its upper half selects the cell
    /// (to within 2⁻²⁸ of uniform), its lower half the tile.
    ///
    /// # Panics
    /// In debug builds, when no cell is empty.
    #[inline]
    pub fn spawn_by(&self, rules: &Rules, bits: u64) -> State<N> {
        let empty = self.0.empty_cells();
        debug_assert!(empty.count() > 0, "a slide leaves an empty cell");
        let k = ((bits >> 32) * u64::from(empty.count())) >> 32;
        let cell = empty.select(k as u32);
        let exponent = 1 + u8::from((bits & 0xffff_ffff) < rules.four_threshold());
        State(self.0.with_tile(cell, exponent))
    }

    /// The state after a 2 (exponent 1) or a 4 (exponent 2) has appeared on an empty cell, named by its byte
    /// in the layout (see [`Cells::mask`](crate::Cells::mask)).
    ///
    /// # Panics
    /// In debug builds, when the cell is not empty.
    #[inline(always)]
    pub fn with_tile(&self, byte: usize, exponent: u8) -> State<N> {
        State(self.0.with_tile(byte, exponent))
    }

    /// All states that a spawn can lead to, with their probabilities: for each empty cell, in
    /// row-major order, the 2 and then the 4.
    pub fn spawns(&self, rules: &Rules) -> impl Iterator<Item = (State<N>, f64)> + use<N> {
        let (board, four) = (self.0, rules.four);
        let cell_probability = 1.0 / f64::from(board.empty_count());
        board.empty_cells().bytes().flat_map(move |byte| {
            [(1, 1.0 - four), (2, four)].map(|(exponent, tile_probability)| {
                (State(board.with_tile(byte, exponent)), cell_probability * tile_probability)
            })
        })
    }

    /// The afterstate transformed by a symmetry.
    pub fn image(&self, symmetry: Symmetry) -> Self {
        Afterstate(self.0.image(symmetry))
    }
}
