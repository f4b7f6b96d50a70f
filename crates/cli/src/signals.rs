//! Signals: those that ask a command to save and stop, and one that ends it with a message.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use afterstate_server::ignores_hang_up;
use signal_hook::{
    consts::{SIGBUS, SIGHUP, SIGINT, SIGTERM},
    iterator::Signals,
    low_level,
};

use crate::error::Failure;

/// The exit code after a second Ctrl-C.
const STOPPED_AT_ONCE: i32 = 130;

/// Signals in quick succession count as one: `timeout` signals a process and then its group.
const SAME_WISH: Duration = Duration::from_secs(1);

/// Set by SIGINT, SIGTERM or SIGHUP. A second SIGINT (Ctrl-C) ends the process at once, unless it comes within a
/// second; the other signals can be repeated at will.
pub(crate) fn stop_signal() -> Result<Arc<AtomicBool>, Failure> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    // A process started by `nohup` outlives the terminal.
    if !ignores_hang_up() {
        signals.add_signal(SIGHUP)?;
    }
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    std::thread::spawn(move || {
        let mut first = None;
        for signal in signals.forever() {
            let first = *first.get_or_insert_with(Instant::now);
            if flag.swap(true, Relaxed) && signal == SIGINT && first.elapsed() >= SAME_WISH {
                low_level::exit(STOPPED_AT_ONCE);
            }
        }
    });
    Ok(stop)
}

/// Ends the process with a message if a mapped file is truncated while it is read.
pub(crate) fn guard_mapped_files() {
    const MESSAGE: &[u8] =
        b"error: a file was cut short while it was read; hint: replace files by `mv`, not by writing over them\n";
    let end = || {
        use std::{io::Write, mem::ManuallyDrop, os::fd::FromRawFd};
        // SAFETY: standard error stays open, and is not closed here either.
        let mut stderr = ManuallyDrop::new(unsafe { fs::File::from_raw_fd(2) });
        let _ = stderr.write_all(MESSAGE);
        low_level::exit(1);
    };
    // SAFETY: the handler writes to a file descriptor and exits, both of which are async-signal-safe.
    // If registering fails, the process still ends, without the message.
    let _ = unsafe { low_level::register(SIGBUS, end) };
}
