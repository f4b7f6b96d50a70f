//! Long-running work: without the interpreter's lock, and interruptible by Ctrl-C.

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

/// The interval at which the interpreter is asked whether Ctrl-C was pressed.
const HEARTBEAT: Duration = Duration::from_millis(50);

/// How long to work on blocks between these checks: on the caller's own thread they are cheap.
const TURN: Duration = Duration::from_millis(10);

/// The number of boards in a block: tens of microseconds of work, so that checking the clock costs nothing.
const BLOCK: usize = 4096;

/// The numbers of a file that are written between two checks of the flag.
const NUMBERS: usize = 1 << 16;

/// The panic payload that unwinds a library which cannot be stopped otherwise.
struct Stopped;

/// Works on `count` boards of this many nanoseconds each, block by block on the caller's thread. Long work runs without
/// the interpreter's lock, and stops between two blocks if a signal handler raises; results written so far remain.
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

/// Runs something on a separate thread. If a signal handler raises, the flag is set, and the exception is raised when
/// the work has ended. A panic becomes a `RuntimeError`.
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

/// Runs something that cannot be stopped, but can safely be abandoned, such as reading a file. If a signal
/// handler raises, the exception is raised at once, and the later result is dropped.
pub(crate) fn abandonable<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (done, waiting) = channel();
    std::thread::spawn(move || {
        // The caller may no longer be waiting.
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

/// Numbers being written to a file: when the flag is set, they end the writing, and an existing file is unchanged.
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

/// Unwinds from a callback of a library that cannot be stopped otherwise, if the flag is set.
pub(crate) fn unwind_if(stop: &AtomicBool) {
    if stop.load(Relaxed) {
        resume_unwind(Box::new(Stopped));
    }
}

/// A panic, which is a bug in this program, as an exception.
pub(crate) fn panic_error(panic: &(dyn Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("stopped");
    PyRuntimeError::new_err(format!("internal error: {text}"))
}
