//! Work that may take long: without the interpreter's lock, and stopped by Ctrl-C.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc::{RecvTimeoutError, channel},
    },
    time::Duration,
};

use pyo3::{exceptions::PyRuntimeError, prelude::*};

/// How often the interpreter is asked whether Ctrl-C was pressed.
const HEARTBEAT: Duration = Duration::from_millis(50);

/// What unwinds a library that has no other way to be stopped.
struct Stopped;

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
