//! Work that may take long: without the interpreter's lock, and stopped by Ctrl-C.

use std::{
    any::Any,
    ops::Range,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc::{RecvTimeoutError, channel},
    },
    time::{Duration, Instant},
};

use pyo3::{exceptions::PyRuntimeError, prelude::*};

use crate::array::is_long;

/// How often the interpreter is asked whether Ctrl-C was pressed.
const HEARTBEAT: Duration = Duration::from_millis(50);

/// How long blocks are worked on before that: asking is cheap on the caller's own thread.
const TURN: Duration = Duration::from_millis(10);

/// The boards of a block: some tens of microseconds of work, after which looking at the clock costs nothing.
const BLOCK: usize = 4096;

/// The numbers of a file that are written between two looks at the flag.
const NUMBERS: usize = 1 << 16;

/// What unwinds a library that has no other way to be stopped.
struct Stopped;

/// Works on `count` boards of so many nanoseconds each, block by block on the caller's thread. What takes long is done without
/// the interpreter's lock, and stops between two blocks when a signal handler raises: what was written until then stays.
pub(crate) fn by_blocks<E: Send>(
    py: Python<'_>,
    count: usize,
    nanoseconds: usize,
    mut work: impl FnMut(Range<usize>) -> Result<(), E> + Send,
) -> PyResult<()>
where
    PyErr: From<E>,
{
    if !is_long(count, nanoseconds) {
        return Ok(work(0..count)?);
    }
    let mut next = 0;
    loop {
        py.detach(|| {
            let start = Instant::now();
            while next < count && start.elapsed() < TURN {
                let end = count.min(next + BLOCK);
                work(next..end)?;
                next = end;
            }
            Ok(())
        })
        .map_err(|error: E| PyErr::from(error))?;
        if next == count {
            return Ok(());
        }
        py.check_signals()?;
    }
}

/// Runs something on a thread of its own. When a signal handler raises, the flag is set, and the exception is raised when the
/// work has ended. A panic becomes a `RuntimeError`.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> T + Send,
) -> PyResult<T> {
    let stop = &AtomicBool::new(false);
    py.detach(|| {
        std::thread::scope(|scope| {
            let (done, waiting) = channel::<()>();
            let worker = scope.spawn(move || {
                let result = catch_unwind(AssertUnwindSafe(|| work(stop)));
                drop(done);
                result
            });
            let mut interrupted = None;
            while let Err(RecvTimeoutError::Timeout) = waiting.recv_timeout(HEARTBEAT) {
                if interrupted.is_none() {
                    interrupted = Python::attach(|py| py.check_signals()).err();
                    stop.store(interrupted.is_some(), Relaxed);
                }
            }
            let result = worker.join().unwrap_or_else(Err);
            match interrupted {
                Some(error) => Err(error),
                None => result.map_err(|panic| panic_error(&*panic)),
            }
        })
    })
}

/// Runs something that cannot be stopped, but does no harm when it is left to itself, such as reading a file. When a signal
/// handler raises, the exception is raised at once, and what comes out later is dropped.
pub(crate) fn abandonable<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (done, waiting) = channel();
    std::thread::spawn(move || {
        // Nobody may be waiting any more.
        let _ = done.send(catch_unwind(AssertUnwindSafe(work)));
    });
    py.detach(move || {
        loop {
            match waiting.recv_timeout(HEARTBEAT) {
                Ok(result) => return result.map_err(|panic| panic_error(&*panic)),
                Err(RecvTimeoutError::Timeout) => Python::attach(|py| py.check_signals())?,
                Err(RecvTimeoutError::Disconnected) => return Err(panic_error(&"stopped")),
            }
        }
    })
}

/// Numbers that are being written to a file: when the flag is set, they end the writing, and the file stays as it was.
pub(crate) fn stoppable<'a>(
    numbers: impl Iterator<Item = f32> + 'a,
    stop: &'a AtomicBool,
) -> impl Iterator<Item = f32> + 'a {
    let mut left = 0;
    numbers.inspect(move |_| {
        if left == 0 {
            unwind_if(stop);
            left = NUMBERS;
        }
        left -= 1;
    })
}

/// Ends the work from inside a callback of a library that cannot be stopped otherwise, when the flag is set.
pub(crate) fn unwind_if(stop: &AtomicBool) {
    if stop.load(Relaxed) {
        resume_unwind(Box::new(Stopped));
    }
}

/// A panic, which is a mistake in this program, as an exception.
pub(crate) fn panic_error(panic: &(dyn Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("stopped");
    PyRuntimeError::new_err(format!("internal error: {text}"))
}
