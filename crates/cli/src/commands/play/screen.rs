//! Drawing a session.

use afterstate_game::tile_colour;
use ratatui::{
    Frame,
    layout::{Alignment, Rect},
    style::{Color, Modifier, Style},
    text::{Line, Text},
    widgets::{Block, Paragraph},
};

use super::session::{Helper, PlaySession};

/// The lines above and below the board.
const HEADER: u16 = 2;
const FOOTER: u16 = 3;
/// The width that the lines of text need.
const TEXT_WIDTH: u16 = 50;
const BOARD_COLOUR: Color = Color::Rgb(187, 173, 160);

/// The dimensions of the drawn board, in characters.
#[derive(Clone, Copy)]
struct Measures {
    width: u16,
    height: u16,
    gap: u16,
}

/// From the largest to the smallest that can still show 131072.
const MEASURES: [Measures; 4] = [
    Measures { width: 12, height: 5, gap: 1 },
    Measures { width: 9, height: 3, gap: 1 },
    Measures { width: 8, height: 1, gap: 1 },
    Measures { width: 7, height: 1, gap: 0 },
];

impl Measures {
    /// The size of a board with this side.
    fn board(self, side: u16) -> (u16, u16) {
        // Characters are twice as high as wide: a horizontal gap is two of them.
        (side * (self.width + 2 * self.gap) + 2 * self.gap, side * (self.height + self.gap) + self.gap)
    }

    /// The size of the whole picture.
    fn picture(self, side: u16) -> (u16, u16) {
        let (width, height) = self.board(side);
        (width.max(TEXT_WIDTH), height + HEADER + FOOTER)
    }

    fn fits(self, side: u16, area: Rect) -> bool {
        let (width, height) = self.picture(side);
        width <= area.width && height <= area.height
    }
}

/// Draws the session, or a message if the terminal is too small.
pub(super) fn draw<const N: usize>(session: &PlaySession<N>, frame: &mut Frame) {
    let (area, side) = (frame.area(), N as u16);
    match MEASURES.into_iter().find(|measures| measures.fits(side, area)) {
        Some(measures) => draw_picture(session, measures, frame),
        None => {
            let (width, height) = MEASURES[MEASURES.len() - 1].picture(side);
            let message = format!("Too small: the game needs\n{width}×{height} characters.");
            frame.render_widget(Paragraph::new(message), area);
        }
    }
}

/// Draws a centred line of text.
pub(super) fn draw_notice(text: &str, frame: &mut Frame) {
    let area = frame.area();
    let middle = Rect { y: area.height / 2, height: area.height.min(1), ..area };
    frame.render_widget(centred(vec![Line::from(text.to_owned())]), middle);
}

fn draw_picture<const N: usize>(session: &PlaySession<N>, measures: Measures, frame: &mut Frame) {
    let (area, (width, height)) = (frame.area(), measures.board(N as u16));
    let top = (area.height - height - HEADER - FOOTER) / 2;
    let header = Rect { y: top, height: HEADER, ..area };
    let board = Rect { x: (area.width - width) / 2, y: top + HEADER, width, height };
    let footer = Rect { y: board.bottom(), height: FOOTER, ..area };
    frame.render_widget(header_text(session), header);
    draw_board(session, measures, board, frame);
    frame.render_widget(footer_text(session), footer);
}

fn header_text<const N: usize>(session: &PlaySession<N>) -> Paragraph<'static> {
    let game = session.game();
    let best = game.state().board().max_tile();
    let accuracy = session.accuracy().map(|percent| format!("   accuracy {percent:.0}%")).unwrap_or_default();
    let line = format!("score {}   best tile {best}   moves {}{accuracy}", game.score(), game.moves());
    centred(vec![Line::styled(line, Modifier::BOLD)])
}

fn footer_text<const N: usize>(session: &PlaySession<N>) -> Paragraph<'static> {
    let over = session.game().state().is_terminal();
    let (news, keys) = match (over, session.helper()) {
        (true, _) => ("Game over: no move is left.", "n next game   u take back   q leave"),
        (_, None) => (session.notice(), "arrows/wasd  u take back  n new  q leave"),
        (_, Some(Helper::Waits)) => (session.notice(), "arrows/wasd h hint t hints p auto u back n new q"),
        (_, Some(Helper::Plays)) => (session.notice(), "the model plays  p stop  + - speed  n new  q leave"),
    };
    let news = if news.is_empty() { format!("game {}", session.number()) } else { news.into() };
    let news = Line::styled(news, if over { Modifier::BOLD } else { Modifier::empty() });
    centred(vec![Line::from(session.hint_text().to_owned()), news, Line::styled(keys, Modifier::DIM)])
}

fn centred(lines: Vec<Line<'static>>) -> Paragraph<'static> {
    Paragraph::new(Text::from(lines)).alignment(Alignment::Center)
}

fn draw_board<const N: usize>(session: &PlaySession<N>, measures: Measures, area: Rect, frame: &mut Frame) {
    frame.render_widget(Block::new().style(Style::new().bg(BOARD_COLOUR)), area);
    let Measures { width, height, gap } = measures;
    for (cell, exponent) in session.game().state().board().exponents().enumerate() {
        let (row, column) = ((cell / N) as u16, (cell % N) as u16);
        let tile = Rect {
            x: area.x + 2 * gap + column * (width + 2 * gap),
            y: area.y + gap + row * (height + gap),
            width,
            height,
        };
        let ([r, g, b], [tr, tg, tb]) = tile_colour(exponent);
        let style = Style::new().bg(Color::Rgb(r, g, b)).fg(Color::Rgb(tr, tg, tb));
        let face = if exponent == 0 { "·".into() } else { (1u32 << exponent).to_string() };
        let mut lines = vec![Line::default(); usize::from(height / 2)];
        lines.push(Line::styled(face, Modifier::BOLD));
        frame.render_widget(centred(lines).style(style), tile);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::{Terminal, backend::TestBackend};

    fn picture<const N: usize>(session: &PlaySession<N>, width: u16, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal in memory");
        terminal.draw(|frame| draw(session, frame)).expect("drawing in memory");
        terminal.backend().to_string()
    }

    #[test]
    fn every_size_shows_the_game_or_says_what_it_needs() {
        let session = PlaySession::<4>::new(1, 7);
        for (width, height) in [(120, 40), (80, 24), (54, 14), (50, 9)] {
            let text = picture(&session, width, height);
            assert_eq!(text.matches('·').count(), 14, "{width}×{height}:\n{text}");
            assert!(text.contains("score 0") && text.contains("game 7") && text.contains("q leave"));
        }
        for (width, height) in [(49, 24), (80, 8), (26, 2)] {
            assert!(picture(&session, width, height).contains("Too small"), "{width}×{height}");
        }
        for (width, height) in [(1, 1), (5, 1), (1, 50)] {
            picture(&session, width, height);
        }
    }

    #[test]
    fn a_notice_fits_every_size() {
        for (width, height) in [(80, 24), (12, 1), (1, 1)] {
            let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal in memory");
            terminal.draw(|frame| draw_notice("loading …", frame)).expect("drawing in memory");
            assert_eq!(terminal.backend().to_string().contains("loading …"), width > 8, "{width}×{height}");
        }
    }

    #[test]
    fn a_helper_is_offered() {
        for (helper, keys) in [(Helper::Waits, "h hint t hints p auto"), (Helper::Plays, "p stop  + - speed")]
        {
            let text = picture(&PlaySession::<4>::new(1, 7).with_helper(helper), 50, 9);
            assert!(text.contains(keys) && text.contains("q"), "{text}");
        }
    }

    #[test]
    fn the_end_of_a_game_offers_what_to_do() {
        let mut session = PlaySession::<2>::new(1, 7);
        while let Some(a) = session.game().state().legal_moves().next() {
            session.slide(a);
        }
        let text = picture(&session, 80, 24);
        assert!(text.contains("Game over") && text.contains("n next game   u take back   q leave"));
    }
}
