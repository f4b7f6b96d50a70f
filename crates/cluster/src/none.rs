//! Without MPI: a process is alone.

use std::time::Duration;

use crate::{JoinError, Tag};

/// Never exists.
pub(crate) enum Backend {}

pub(crate) fn join(size: usize) -> Result<Option<((), Backend, usize, usize)>, JoinError> {
    if size > 1 { Err(JoinError::WithoutMpi(size)) } else { Ok(None) }
}

impl Backend {
    pub(crate) fn send(&self, _: usize, _: Tag, _: &[u8]) {
        match *self {}
    }

    pub(crate) fn poll(&self, _: Option<usize>, _: Tag) -> Option<(usize, Vec<u8>)> {
        match *self {}
    }

    pub(crate) fn barrier(&self, _: Duration) {
        match *self {}
    }

    pub(crate) fn all_or(&self, _: &mut [u64], _: Duration) {
        match *self {}
    }

    pub(crate) fn all_sum(&self, _: &mut [f32], _: Duration) {
        match *self {}
    }

    pub(crate) fn abort(&self, _: i32) -> ! {
        match *self {}
    }
}
