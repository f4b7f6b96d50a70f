//! A player's session: the present game, and everything that can be taken back.

use afterstate_game::{Game, Move, Rules};
use afterstate_search::Advice;

use crate::commands::advise::worth;

/// A game and its number.
#[derive(Clone)]
struct Position<const N: usize> {
    number: u64,
    game: Game<N>,
}

/// The position on the screen and the ones before it. A position holds its random stream, so a move
/// that is taken back and made again brings the same tile.
pub(super) struct Session<const N: usize> {
    seed: u64,
    now: Position<N>,
    past: Vec<Position<N>>,
    notice: String,
    /// Whether a model helps, and whether it plays.
    helper: Option<Helper>,
}

/// What a model does in a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Helper {
    Waits,
    Plays,
}

impl<const N: usize> Session<N> {
    pub(super) fn new(seed: u64, number: u64) -> Self {
        let game = Game::new(Rules::default(), seed, number);
        Session {
            seed,
            now: Position { number, game },
            past: Vec::new(),
            notice: String::new(),
            helper: None,
        }
    }

    /// A session with a model that helps.
    pub(super) fn with_helper(self, helper: Helper) -> Self {
        Session { helper: Some(helper), ..self }
    }

    pub(super) fn helper(&self) -> Option<Helper> {
        self.helper
    }

    /// Lets the model play, or stops it.
    pub(super) fn toggle_helper(&mut self) {
        self.helper = self.helper.map(|helper| match helper {
            Helper::Waits => Helper::Plays,
            Helper::Plays => Helper::Waits,
        });
        self.notice.clear();
    }

    /// Shows what the moves are worth.
    pub(super) fn hint(&mut self, advice: &Advice) {
        let mut moves: Vec<_> =
            Move::ALL.into_iter().filter_map(|a| Some((a, advice.values[a as usize]?))).collect();
        moves.sort_by(|a, b| b.1.total_cmp(&a.1));
        let texts: Vec<_> = moves.iter().map(|(a, value)| format!("{a} {}", worth(advice, *value))).collect();
        self.notice = texts.join("  ");
    }

    pub(super) fn number(&self) -> u64 {
        self.now.number
    }

    pub(super) fn game(&self) -> &Game<N> {
        &self.now.game
    }

    /// What the last key could not do, or a hint; empty otherwise.
    pub(super) fn notice(&self) -> &str {
        &self.notice
    }

    pub(super) fn slide(&mut self, a: Move) {
        let before = self.now.clone();
        if self.now.game.play(a).is_some() {
            self.past.push(before);
            self.notice.clear();
        } else if !self.game().state().is_terminal() {
            self.notice = "nothing moves that way".into();
        }
    }

    /// Takes back a move, or the start of a new game.
    pub(super) fn undo(&mut self) {
        match self.past.pop() {
            Some(position) => {
                self.now = position;
                self.notice.clear();
            }
            None => self.notice = "nothing to take back".into(),
        }
    }

    /// Starts the game with the next number.
    pub(super) fn next_game(&mut self) {
        let number = self.now.number.wrapping_add(1);
        let next = Position { number, game: Game::new(Rules::default(), self.seed, number) };
        self.past.push(std::mem::replace(&mut self.now, next));
        self.notice.clear();
    }

    /// The game so far in one sentence.
    pub(super) fn result(&self) -> String {
        let (number, game) = (self.number(), self.game());
        let tile = game.state().board().max_tile();
        format!("Game {number}: score {}, best tile {tile}, {} moves", game.score(), game.moves())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays the first legal move some times.
    fn go_on(session: &mut Session<4>, moves: usize) -> Vec<String> {
        (0..moves)
            .map(|_| {
                let a = session.game().state().legal_moves().next().expect("the game is young");
                session.slide(a);
                session.game().state().to_string()
            })
            .collect()
    }

    #[test]
    fn moves_taken_back_and_made_again_bring_the_same_tiles() {
        let mut session = Session::new(1, 7);
        let start = session.game().state();
        let first = go_on(&mut session, 20);
        (0..20).for_each(|_| session.undo());
        assert_eq!(session.game().state(), start);
        assert_eq!((session.game().score(), session.game().moves()), (0, 0));
        assert_eq!(go_on(&mut session, 20), first);
    }

    #[test]
    fn a_new_game_can_be_taken_back() {
        let mut session = Session::new(1, 7);
        let last = go_on(&mut session, 5).pop();
        session.next_game();
        assert_eq!((session.number(), session.game().moves()), (8, 0));
        session.undo();
        assert_eq!((session.number(), Some(session.game().state().to_string())), (7, last));
    }

    #[test]
    fn hints_name_the_best_move_first_and_last_until_the_next_move() {
        let mut session = Session::<4>::new(1, 7).with_helper(Helper::Waits);
        let values = [Some(1.0), None, Some(20_000.4), Some(3.0)];
        session.hint(&Advice { values, plies: 1, ..Advice::default() });
        assert_eq!(session.notice(), "down 20000  left 3  up 1");
        go_on(&mut session, 1);
        assert_eq!(session.notice(), "");
        session.toggle_helper();
        assert_eq!(session.helper(), Some(Helper::Plays));
    }

    #[test]
    fn what_cannot_be_done_is_said_and_changes_nothing() {
        let mut session = Session::<4>::new(1, 7);
        session.undo();
        assert_eq!(session.notice(), "nothing to take back");
        // Pushing into one corner gets stuck soon.
        while session.game().state().legal_moves().contains(Move::Up) {
            session.slide(Move::Up);
        }
        let (state, moves) = (session.game().state(), session.game().moves());
        session.slide(Move::Up);
        assert_eq!(session.notice(), "nothing moves that way");
        assert_eq!((session.game().state(), session.game().moves()), (state, moves));
    }
}
