//! A player's session: the current game, and the undo history.

use std::time::Duration;

use afterstate_game::{Game, Move, Rules, State};
use afterstate_lab::review::{Accuracy, Judged};
use afterstate_search::Advice;

use crate::commands::advise::worth;

/// The delays between moves of the model, from the slowest pace to the fastest.
const PACES: [u64; 7] = [2000, 1000, 500, 250, 100, 40, 10];
const USUAL_PACE: usize = 4;

/// A game, its number, and how it got here.
#[derive(Clone)]
struct Position<const N: usize> {
    number: u64,
    game: Game<N>,
    /// The move that led here; `None` at the beginning of a game.
    made: Option<Move>,
    /// The accuracy of the player's moves so far.
    accuracy: Accuracy,
    /// Whether the model has made a move.
    assisted: bool,
}

/// The current position and the previous ones. A position includes its random stream, so a move
/// that is undone and repeated yields the same tile.
pub(super) struct PlaySession<const N: usize> {
    seed: u64,
    now: Position<N>,
    past: Vec<Position<N>>,
    notice: String,
    /// The values of the current state's moves, once requested.
    hint: String,
    /// Whether a model helps, and whether it is playing.
    helper: Option<Helper>,
    /// Whether hints are shown before every move.
    hints: bool,
    pace: usize,
}

/// What the model does in a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Helper {
    Waits,
    Plays,
}

impl<const N: usize> PlaySession<N> {
    pub(super) fn new(seed: u64, number: u64) -> Self {
        PlaySession::of(seed, number, Game::new(Rules::default(), seed, number))
    }

    /// A session that begins with a board.
    pub(super) fn from_state(seed: u64, number: u64, state: State<N>) -> Self {
        PlaySession::of(seed, number, Game::from_state(Rules::default(), seed, number, state))
    }

    fn of(seed: u64, number: u64, game: Game<N>) -> Self {
        PlaySession {
            seed,
            now: Position { number, game, made: None, accuracy: Accuracy::default(), assisted: false },
            past: Vec::new(),
            notice: String::new(),
            hint: String::new(),
            helper: None,
            hints: false,
            pace: USUAL_PACE,
        }
    }

    /// Adds a helping model.
    pub(super) fn with_helper(self, helper: Helper) -> Self {
        PlaySession { helper: Some(helper), ..self }
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

    /// Whether hints are shown before every move.
    pub(super) fn hints(&self) -> bool {
        self.hints
    }

    pub(super) fn toggle_hints(&mut self) {
        self.hints = !self.hints;
        self.hint.clear();
        self.notice = if self.hints { "hints are on" } else { "hints are off" }.into();
    }

    /// The seed of its games.
    pub(super) fn seed(&self) -> u64 {
        self.seed
    }

    /// The delay between moves of the model.
    pub(super) fn pace(&self) -> Duration {
        Duration::from_millis(PACES[self.pace])
    }

    /// Makes the model faster or slower.
    pub(super) fn change_pace(&mut self, faster: bool) {
        self.pace = if faster { (self.pace + 1).min(PACES.len() - 1) } else { self.pace.saturating_sub(1) };
        self.notice = format!("a move every {} ms", PACES[self.pace]);
    }

    /// Shows the values of the moves.
    pub(super) fn hint(&mut self, advice: &Advice) {
        let mut moves: Vec<_> =
            Move::ALL.into_iter().filter_map(|a| Some((a, advice.values[a as usize]?))).collect();
        moves.sort_by(|a, b| b.1.total_cmp(&a.1));
        let texts: Vec<_> = moves.iter().map(|(a, value)| format!("{a} {}", worth(advice, *value))).collect();
        self.hint = texts.join("  ");
    }

    /// The values of the moves; empty until requested.
    pub(super) fn hint_text(&self) -> &str {
        &self.hint
    }

    /// Shows the grade of the move just made, which counts for the accuracy until it is undone.
    pub(super) fn judge(&mut self, a: Move, best: Option<Move>, judged: &Judged) {
        self.now.accuracy.add(judged);
        let better = best.filter(|best| *best != a && judged.loss > 0.0);
        let better = better.map(|best| format!("; {best} was best")).unwrap_or_default();
        self.notice = format!("{a}: {}{better}", judged.grade.name());
    }

    /// The accuracy of the player's moves in this game, from 0 to 100.
    pub(super) fn accuracy(&self) -> Option<f64> {
        self.now.accuracy.percent()
    }

    pub(super) fn say(&mut self, notice: &str) {
        self.notice = notice.into();
    }

    pub(super) fn number(&self) -> u64 {
        self.now.number
    }

    pub(super) fn game(&self) -> &Game<N> {
        &self.now.game
    }

    /// Whether the model has made moves in this game.
    pub(super) fn is_assisted(&self) -> bool {
        self.now.assisted
    }

    /// The reason why the last key had no effect, or a hint; empty otherwise.
    pub(super) fn notice(&self) -> &str {
        &self.notice
    }

    /// Makes a move; returns whether it was legal.
    pub(super) fn slide(&mut self, a: Move) -> bool {
        let before = self.now.clone();
        let moved = self.now.game.play(a).is_some();
        if moved {
            self.now.made = Some(a);
            self.now.assisted |= self.helper == Some(Helper::Plays);
            self.past.push(before);
            // Notices for the model, such as its speed, stay on the screen while it plays.
            if self.helper != Some(Helper::Plays) {
                self.notice.clear();
            }
            self.hint.clear();
        } else if !self.game().state().is_terminal() {
            self.notice = "nothing moves that way".into();
        }
        moved
    }

    /// Undoes a move, or the start of a new game.
    pub(super) fn undo(&mut self) {
        match self.past.pop() {
            Some(position) => {
                self.now = position;
                self.notice.clear();
                self.hint.clear();
            }
            None => self.notice = "nothing to take back".into(),
        }
    }

    /// Starts the game with the next number.
    pub(super) fn next_game(&mut self) {
        let number = self.now.number.wrapping_add(1);
        let game = Game::new(Rules::default(), self.seed, number);
        let next = Position { number, game, made: None, accuracy: Accuracy::default(), assisted: false };
        self.past.push(std::mem::replace(&mut self.now, next));
        self.notice.clear();
        self.hint.clear();
    }

    /// The positions of this game, in order.
    fn positions(&self) -> Vec<&Position<N>> {
        let mut positions = vec![&self.now];
        let mut earlier = self.past.iter().rev();
        while positions.last().is_some_and(|position| position.made.is_some()) {
            positions.extend(earlier.next());
        }
        positions.reverse();
        positions
    }

    /// Whether this game began as its number says, so that it can be resumed from its letters.
    pub(super) fn is_numbered(&self) -> bool {
        let start = Game::<N>::new(Rules::default(), self.seed, self.now.number).state();
        self.positions()[0].game.state() == start
    }

    /// This game in a format that `afterstate review` reads: the numbers and letters of a numbered game, the boards and
    /// moves of one that began with a board.
    pub(super) fn record(&self) -> String {
        let positions = self.positions();
        if self.is_numbered() {
            let letters: String = positions.iter().filter_map(|p| p.made?.name().chars().next()).collect();
            return format!("afterstate game {} {} {N}\n{letters}\n", self.seed, self.now.number);
        }
        let moves = positions.windows(2).filter_map(|pair| Some((pair[0].game.state(), pair[1].made?)));
        moves.map(|(state, a)| format!("{state} {a}\n")).collect()
    }

    /// A summary of the game so far in one sentence.
    pub(super) fn result(&self) -> String {
        let (number, game) = (self.number(), self.game());
        let tile = game.state().board().max_tile();
        let accuracy = self.accuracy().map(|percent| format!(", accuracy {percent:.1}%")).unwrap_or_default();
        let moves = crate::format::counted(game.moves(), "move");
        let score = crate::format::thousands(game.score());
        format!("Game {number}: score {score}, best tile {tile}, {moves}{accuracy}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays the first legal move several times.
    fn go_on(session: &mut PlaySession<4>, moves: usize) -> Vec<String> {
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
        let mut session = PlaySession::new(1, 7);
        let start = session.game().state();
        let first = go_on(&mut session, 20);
        (0..20).for_each(|_| session.undo());
        assert_eq!(session.game().state(), start);
        assert_eq!((session.game().score(), session.game().moves()), (0, 0));
        assert_eq!(go_on(&mut session, 20), first);
    }

    #[test]
    fn a_new_game_can_be_taken_back() {
        let mut session = PlaySession::new(1, 7);
        let last = go_on(&mut session, 5).pop();
        session.next_game();
        assert_eq!((session.number(), session.game().moves()), (8, 0));
        session.undo();
        assert_eq!((session.number(), Some(session.game().state().to_string())), (7, last));
    }

    #[test]
    fn hints_name_the_best_move_first_and_last_until_the_next_move() {
        let mut session = PlaySession::<4>::new(1, 7).with_helper(Helper::Waits);
        let values = [Some(1.0), None, Some(20_000.4), Some(3.0)];
        session.hint(&Advice { values, plies: 1, ..Advice::default() });
        assert_eq!(session.hint_text(), "down 20000  left 3  up 1");
        go_on(&mut session, 1);
        assert_eq!(session.hint_text(), "");
        session.toggle_helper();
        assert_eq!(session.helper(), Some(Helper::Plays));
    }

    #[test]
    fn the_record_of_a_game_is_what_review_reads() {
        use afterstate_lab::review::{AnyGame, parse};
        let mut session = PlaySession::new(1, 7);
        go_on(&mut session, 3);
        session.next_game();
        let boards = go_on(&mut session, 12);
        session.undo();
        let (_, game) = parse(&session.record(), 100).expect("a game");
        let AnyGame::Four(played) = game else { panic!("it is on 4×4") };
        let last = played.last().and_then(|played| played.next).map(|state| state.to_string());
        assert_eq!((played.len(), last.as_ref()), (11, boards.get(10)));
    }

    #[test]
    fn a_judged_move_counts_until_it_is_taken_back() {
        use afterstate_lab::review::Grade;
        let mut session = PlaySession::<4>::new(1, 7);
        go_on(&mut session, 1);
        let judged = Judged {
            loss: 5.0,
            chance: None,
            kept: Some(0.5),
            lost: Some(afterstate_lab::review::Lost { by_move: 0.3, at_random: 0.2 }),
            grade: Grade::Blunder,
            is_choice: true,
            regret: None,
        };
        session.judge(Move::Up, Some(Move::Left), &judged);
        assert_eq!(session.notice(), "up: blunder; left was best");
        assert!(session.accuracy().is_some_and(|percent| percent < 1.0));
        session.undo();
        assert_eq!(session.accuracy(), None);
    }

    #[test]
    fn what_cannot_be_done_is_said_and_changes_nothing() {
        let mut session = PlaySession::<4>::new(1, 7);
        session.undo();
        assert_eq!(session.notice(), "nothing to take back");
        // Pushing into one corner soon gets stuck.
        while session.game().state().legal_moves().contains(Move::Up) {
            session.slide(Move::Up);
        }
        let (state, moves) = (session.game().state(), session.game().moves());
        session.slide(Move::Up);
        assert_eq!(session.notice(), "nothing moves that way");
        assert_eq!((session.game().state(), session.game().moves()), (state, moves));
    }
}
