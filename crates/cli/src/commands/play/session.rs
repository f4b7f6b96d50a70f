//! A player's session: the present game, and everything that can be taken back.

use afterstate_game::{Game, Move, Rules};

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
    notice: &'static str,
}

impl<const N: usize> Session<N> {
    pub(super) fn new(seed: u64, number: u64) -> Self {
        let game = Game::new(Rules::default(), seed, number);
        Session { seed, now: Position { number, game }, past: Vec::new(), notice: "" }
    }

    pub(super) fn number(&self) -> u64 {
        self.now.number
    }

    pub(super) fn game(&self) -> &Game<N> {
        &self.now.game
    }

    /// What the last key could not do; empty when it did something.
    pub(super) fn notice(&self) -> &'static str {
        self.notice
    }

    pub(super) fn slide(&mut self, a: Move) {
        let before = self.now.clone();
        if self.now.game.play(a).is_some() {
            self.past.push(before);
            self.notice = "";
        } else if !self.game().state().is_terminal() {
            self.notice = "nothing moves that way";
        }
    }

    /// Takes back a move, or the start of a new game.
    pub(super) fn undo(&mut self) {
        match self.past.pop() {
            Some(position) => {
                self.now = position;
                self.notice = "";
            }
            None => self.notice = "nothing to take back",
        }
    }

    /// Starts the game with the next number.
    pub(super) fn next_game(&mut self) {
        let number = self.now.number.wrapping_add(1);
        let next = Position { number, game: Game::new(Rules::default(), self.seed, number) };
        self.past.push(std::mem::replace(&mut self.now, next));
        self.notice = "";
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
