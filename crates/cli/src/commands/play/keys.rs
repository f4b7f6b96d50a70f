//! What the keys mean.

use afterstate_game::Move;
use ratatui::crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers};

/// What the player wants.
#[derive(Debug, PartialEq)]
pub(super) enum Action {
    Slide(Move),
    Undo,
    New,
    /// Say what the moves are worth.
    Hint,
    /// Let the model play, or stop it.
    Auto,
    Quit,
}

/// The action of an event, if it has one. Every other event, a new window size for one, still draws the
/// screen again. With a model, H asks it for a hint and is no longer vim's left.
pub(super) fn action(event: &Event, has_model: bool) -> Option<Action> {
    let key = event.as_key_event().filter(|key| key.kind != KeyEventKind::Release)?;
    if key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) {
        return (key.code == KeyCode::Char('c')).then_some(Action::Quit);
    }
    let action = match key.code {
        KeyCode::Up => Action::Slide(Move::Up),
        KeyCode::Right => Action::Slide(Move::Right),
        KeyCode::Down => Action::Slide(Move::Down),
        KeyCode::Left => Action::Slide(Move::Left),
        KeyCode::Esc => Action::Quit,
        KeyCode::Char('h' | 'H') if has_model => Action::Hint,
        KeyCode::Char('p' | 'P' | ' ') if has_model => Action::Auto,
        KeyCode::Char(letter) => letter_action(letter.to_ascii_lowercase())?,
        _ => return None,
    };
    Some(action)
}

fn letter_action(letter: char) -> Option<Action> {
    Some(match letter {
        'w' | 'k' => Action::Slide(Move::Up),
        'd' | 'l' => Action::Slide(Move::Right),
        's' | 'j' => Action::Slide(Move::Down),
        'a' | 'h' => Action::Slide(Move::Left),
        'u' => Action::Undo,
        'n' => Action::New,
        'q' => Action::Quit,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::crossterm::event::KeyEvent;

    fn press(code: KeyCode, modifiers: KeyModifiers) -> Option<Action> {
        action(&Event::Key(KeyEvent::new(code, modifiers)), false)
    }

    #[test]
    fn a_model_gives_hints_and_plays() {
        let press = |letter, has_model| {
            action(&Event::Key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE)), has_model)
        };
        assert_eq!(
            (press('h', true), press('h', false)),
            (Some(Action::Hint), Some(Action::Slide(Move::Left)))
        );
        assert_eq!((press('p', true), press('p', false)), (Some(Action::Auto), None));
        assert_eq!(press('a', true), Some(Action::Slide(Move::Left)));
    }

    #[test]
    fn three_families_of_keys_slide() {
        use KeyCode::{Char, Down, Left, Right, Up};
        let families = [
            [Up, Right, Down, Left],
            [Char('w'), Char('d'), Char('s'), Char('a')],
            [Char('K'), Char('L'), Char('J'), Char('H')],
        ];
        for family in families {
            let actions = family.map(|code| press(code, KeyModifiers::NONE));
            assert_eq!(actions, Move::ALL.map(|a| Some(Action::Slide(a))));
        }
    }

    #[test]
    fn only_control_c_among_the_control_keys_acts() {
        assert_eq!(press(KeyCode::Char('c'), KeyModifiers::CONTROL), Some(Action::Quit));
        assert_eq!(press(KeyCode::Char('a'), KeyModifiers::CONTROL), None);
        assert_eq!(press(KeyCode::Char('c'), KeyModifiers::NONE), None);
        assert_eq!(action(&Event::Resize(10, 10), true), None);
    }
}
