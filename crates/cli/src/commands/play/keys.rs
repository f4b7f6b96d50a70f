//! Key bindings.

use afterstate_game::Move;
use ratatui::crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers};

/// An action of the player.
#[derive(Debug, PartialEq)]
pub(super) enum Action {
    Slide(Move),
    Undo,
    New,
    /// Show the values of the moves.
    Hint,
    /// Show them before every move, or stop doing so.
    Hints,
    /// Let the model play, or stop it.
    Auto,
    /// Let the model play faster, or slower.
    Faster,
    Slower,
    Quit,
}

/// The action of an event, if it has one. Every other event, such as a new window size, still redraws the screen.
pub(super) fn action(event: &Event) -> Option<Action> {
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
        KeyCode::Char(letter) => letter_action(letter.to_ascii_lowercase())?,
        _ => return None,
    };
    Some(action)
}

fn letter_action(letter: char) -> Option<Action> {
    Some(match letter {
        'w' => Action::Slide(Move::Up),
        'd' => Action::Slide(Move::Right),
        's' => Action::Slide(Move::Down),
        'a' => Action::Slide(Move::Left),
        'h' => Action::Hint,
        't' => Action::Hints,
        'p' | ' ' => Action::Auto,
        '+' | '=' => Action::Faster,
        '-' => Action::Slower,
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
        action(&Event::Key(KeyEvent::new(code, modifiers)))
    }

    #[test]
    fn two_families_of_keys_slide_and_h_never_does() {
        use KeyCode::{Char, Down, Left, Right, Up};
        for family in [[Up, Right, Down, Left], [Char('w'), Char('d'), Char('s'), Char('a')]] {
            let actions = family.map(|code| press(code, KeyModifiers::NONE));
            assert_eq!(actions, Move::ALL.map(|a| Some(Action::Slide(a))));
        }
        for letter in ['h', 'H'] {
            assert_eq!(press(Char(letter), KeyModifiers::NONE), Some(Action::Hint));
        }
    }

    #[test]
    fn only_control_c_among_the_control_keys_acts() {
        assert_eq!(press(KeyCode::Char('c'), KeyModifiers::CONTROL), Some(Action::Quit));
        assert_eq!(press(KeyCode::Char('a'), KeyModifiers::CONTROL), None);
        assert_eq!(press(KeyCode::Char('c'), KeyModifiers::NONE), None);
        assert_eq!(action(&Event::Resize(10, 10)), None);
    }
}
