//! The engine's input lines, read ahead so that `stop` and `quit` take effect at once, even during a search.

use std::{
    collections::VecDeque,
    io::{self, BufRead, Read},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
};

use crate::commands::lines::Lines;

/// The maximum size of waiting lines in bytes, including their overhead.
const MOST_WAITING: usize = 1 << 22;
const PER_LINE: usize = 64;

/// An input line.
#[derive(PartialEq, Debug)]
pub(super) enum Line {
    Text(String),
    /// An invalid line, and why.
    Bad(String),
    /// The input cannot be read any further.
    Failed(String),
}

/// Signals from the reader of the input to a running search.
#[derive(Default)]
pub(super) struct Signals {
    /// The search must end now.
    pub(super) stop: Arc<AtomicBool>,
    /// The session must end: at once if the search is unlimited, otherwise after it.
    quit: AtomicBool,
    /// The running search is unlimited.
    endless: AtomicBool,
}

impl Signals {
    fn quit(&self) {
        self.quit.store(true, SeqCst);
        if self.endless.load(SeqCst) {
            self.stop.store(true, SeqCst);
        }
    }

    /// Whether only a later line can end the running search.
    fn waits_for_stop(&self) -> bool {
        self.endless.load(SeqCst) && !self.stop.load(SeqCst)
    }
}

/// Lines waiting to be processed.
#[derive(Default)]
struct Waiting {
    lines: VecDeque<Line>,
    bytes: usize,
    /// The number of lines dropped for lack of space.
    dropped: u64,
    has_ended: bool,
}

/// The lines of the input, read by a background thread.
#[derive(Default)]
pub(super) struct Input {
    pub(super) signals: Signals,
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

impl Input {
    /// Starts reading.
    pub(super) fn new(input: impl Read + Send + 'static) -> Arc<Self> {
        let lines = Arc::new(Input::default());
        let own = lines.clone();
        std::thread::spawn(move || own.read(io::BufReader::new(input)));
        lines
    }

    /// The next line; `None` at the end.
    pub(super) fn next(&self) -> Option<Line> {
        let mut waiting = self.lock();
        loop {
            if let Some(line) = waiting.lines.pop_front() {
                waiting.bytes -= size(&line);
                self.changed.notify_all();
                return Some(line);
            }
            if waiting.dropped > 0 {
                let dropped = std::mem::take(&mut waiting.dropped);
                let message =
                    format!("{dropped} lines came while an endless search was under way, and were left out");
                return Some(Line::Bad(message));
            }
            if waiting.has_ended {
                return None;
            }
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Announces a search.
    pub(super) fn begin(&self, endless: bool) {
        self.signals.endless.store(endless, SeqCst);
        if endless && self.signals.quit.load(SeqCst) {
            self.signals.stop.store(true, SeqCst);
        }
        // With the lock held, so that a reader about to wait does not miss it.
        drop(self.lock());
        self.changed.notify_all();
    }

    fn read(&self, input: impl BufRead) {
        for line in Lines::new(input) {
            let line = match line {
                Ok(line) => line.map_or_else(Line::Bad, Line::Text),
                Err(message) => {
                    self.push(Line::Failed(message));
                    break;
                }
            };
            if let Line::Text(text) = &line {
                match text.trim() {
                    "stop" => self.signals.stop.store(true, SeqCst),
                    "quit" => self.signals.quit(),
                    _ => {}
                }
            }
            self.push(line);
        }
        self.signals.quit();
        self.lock().has_ended = true;
        self.changed.notify_all();
    }

    /// Adds a line when there is space. During a search that only a later line can end there may never be any: then the
    /// line is dropped.
    fn push(&self, line: Line) {
        let mut waiting = self.lock();
        while waiting.bytes > 0 && waiting.bytes + size(&line) > MOST_WAITING {
            if self.signals.waits_for_stop() {
                waiting.dropped += 1;
                return;
            }
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        waiting.bytes += size(&line);
        waiting.lines.push_back(line);
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn size(line: &Line) -> usize {
    let (Line::Text(text) | Line::Bad(text) | Line::Failed(text)) = line;
    text.len() + PER_LINE
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Endless input, of which only as much is read as fits.
    struct Endless(Arc<std::sync::atomic::AtomicUsize>);

    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            buffer.fill(b'\n');
            self.0.fetch_add(buffer.len(), SeqCst);
            Ok(buffer.len())
        }
    }

    #[test]
    fn no_more_is_read_than_there_is_room_for() {
        let read = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let input = Input::new(Endless(read.clone()));
        for _ in 0..1000 {
            assert_eq!(input.next(), Some(Line::Text(String::new())));
        }
        std::thread::sleep(std::time::Duration::from_millis(200));
        let most = MOST_WAITING / PER_LINE + 1000 + 2 * 8192;
        assert!((1000..=most).contains(&read.load(SeqCst)), "{read:?} of {most}");
    }

    #[test]
    fn stop_is_heeded_behind_more_lines_than_there_is_room_for() {
        let text = "isready\n".repeat(4 * MOST_WAITING / PER_LINE) + "stop\n";
        let input = Input::new(io::Cursor::new(text));
        input.begin(true);
        while !input.signals.stop.load(SeqCst) {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        input.begin(false);
        let mut lines = Vec::new();
        while let Some(line) = input.next() {
            lines.push(line);
        }
        assert!(lines.contains(&Line::Text("stop".into())), "{} lines", lines.len());
        let is_told = |line: &Line| matches!(line, Line::Bad(told) if told.contains("left out"));
        assert!(lines.iter().any(is_told), "{:?}", lines.last());
        assert!(lines.len() < 2 * MOST_WAITING / PER_LINE, "{}", lines.len());
    }

    #[test]
    fn a_failing_input_ends() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("broken"))
            }
        }
        let input = Input::new(Broken);
        assert!(matches!(input.next(), Some(Line::Failed(told)) if told.ends_with("broken")));
        assert_eq!(input.next(), None);
    }
}
