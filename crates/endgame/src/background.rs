//! Threads beside the solver: what is found and solved is compressed and written while the next layer is worked on, and what comes next
//! is read.

use std::{
    io,
    sync::mpsc::{self, Receiver, SyncSender},
    thread::{Scope, ScopedJoinHandle},
};

use crate::{bitmap::Bitmap, layer::Layer, space::Space, store::Store};

/// A thread that takes layers, one at a time: a layer is handed over when the one before it is done, so that no more than one waits in
/// memory.
pub(crate) struct Background<'scope, T, R> {
    layers: SyncSender<T>,
    thread: ScopedJoinHandle<'scope, io::Result<R>>,
}

impl<'scope, T: Send + 'scope, R: Send + 'scope> Background<'scope, T, R> {
    /// Lets a thread work with a resource, which [`Background::join`] gives back.
    pub(crate) fn new(
        scope: &'scope Scope<'scope, '_>,
        mut resource: R,
        work: impl Fn(&mut R, T) -> io::Result<()> + Send + 'scope,
    ) -> Self {
        let (layers, handed_over) = mpsc::sync_channel(0);
        let thread = scope.spawn(move || {
            handed_over.iter().try_for_each(|layer| work(&mut resource, layer))?;
            Ok(resource)
        });
        Background { layers, thread }
    }

    /// Hands a layer over; `None` when the thread has ended, which only an error makes it do.
    pub(crate) fn push(&self, layer: T) -> Option<()> {
        self.layers.send(layer).ok()
    }

    /// Waits until all layers that were handed over are done.
    pub(crate) fn join(self) -> io::Result<R> {
        drop(self.layers);
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// Reads the layers before a sum, the largest sum first, each while the one before it is worked on.
pub(crate) fn read_ahead<'scope>(
    scope: &'scope Scope<'scope, '_>,
    space: &'scope Space,
    store: &'scope mut Store,
    sum: usize,
) -> Receiver<io::Result<Bitmap>> {
    let (layers, read) = mpsc::sync_channel(0);
    scope.spawn(move || {
        for sum in (0..sum).rev() {
            let bitmap = store.get(&Layer::new(space, sum));
            let is_damaged = bitmap.is_err();
            // Nobody listens any more when the solver was stopped.
            if layers.send(bitmap).is_err() || is_damaged {
                break;
            }
        }
    });
    read
}
