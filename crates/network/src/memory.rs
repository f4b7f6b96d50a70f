//! Memory for tables of up to tens of gigabytes: mapped, in huge pages, zeroed by the kernel
//! on first touch.

use std::{
    fmt, fs,
    sync::atomic::{AtomicU32, AtomicU64},
};

use memmap2::{Advice, MmapMut};

/// The size of a huge page.
const HUGE_PAGE: usize = 2 << 20;

/// Why memory could not be allocated.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// More than the machine has.
    #[error("{what} needs {}, but only {} of memory is available", Bytes(*.needed), Bytes(*.available))]
    TooLarge {
        /// What requested it.
        what: String,
        /// The number of bytes needed.
        needed: u64,
        /// The number of bytes available.
        available: u64,
    },
    /// The system refused the mapping.
    #[error("the system refused to map {}: {source}", Bytes(*.needed))]
    Refused {
        /// The number of bytes requested.
        needed: u64,
        /// The system's error.
        source: std::io::Error,
    },
}

/// A number of bytes, displayed with a unit.
pub(crate) struct Bytes(pub(crate) u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (gib, mib) = (self.0 as f64 / (1u64 << 30) as f64, self.0 as f64 / (1u64 << 20) as f64);
        if gib >= 1.0 { write!(f, "{gib:.1} GiB") } else { write!(f, "{mib:.1} MiB") }
    }
}

/// Types for which all-zero bytes are a valid value, and that threads may share.
pub trait Zeroed: Sync + private::Sealed {}
impl Zeroed for AtomicU32 {}
impl Zeroed for AtomicU64 {}

mod private {
    pub trait Sealed {}
    impl Sealed for std::sync::atomic::AtomicU32 {}
    impl Sealed for std::sync::atomic::AtomicU64 {}
}

/// A zeroed array of atomics in mapped memory.
pub struct Mapped<T: Zeroed> {
    mapping: MmapMut,
    start: *const T,
    len: usize,
}

// SAFETY: the mapping owns the memory, which shared references access only as atomics.
unsafe impl<T: Zeroed> Send for Mapped<T> {}
// SAFETY: as above.
unsafe impl<T: Zeroed> Sync for Mapped<T> {}

impl<T: Zeroed> Mapped<T> {
    /// Maps `len` zeroed elements, aligned to a huge page.
    ///
    /// # Errors
    /// If the system does not provide the memory.
    pub fn zeroed(len: usize) -> Result<Self, MemoryError> {
        let needed = len as u64 * size_of::<T>() as u64;
        let refused = |source| MemoryError::Refused { needed, source };
        let bytes = usize::try_from(needed).ok().and_then(|bytes| bytes.checked_add(HUGE_PAGE));
        let bytes = bytes.ok_or_else(|| refused(std::io::ErrorKind::OutOfMemory.into()))?;
        let mapping = memmap2::MmapOptions::new().len(bytes).no_reserve_swap().map_anon().map_err(refused)?;
        // This affects only speed, so a system without huge pages is not an error.
        #[cfg(target_os = "linux")]
        let _ = mapping.advise(Advice::HugePage);
        let start = mapping.as_ptr().map_addr(|address| address.next_multiple_of(HUGE_PAGE)).cast();
        Ok(Mapped { mapping, start, len })
    }

    /// The elements.
    #[inline(always)]
    pub fn as_slice(&self) -> &[T] {
        // SAFETY: the mapping holds `len` elements at `start`, aligned to far more than T, and
        // zeros are valid; it lives as long as `self`, and T is only changed atomically.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }
}

impl<T: Zeroed> Mapped<T> {
    /// Sets all elements to zero, by returning the memory to the system where possible.
    pub fn clear(&mut self) {
        #[cfg(target_os = "linux")]
        // SAFETY: the memory is private and not shared while `self` is borrowed exclusively; afterwards it reads as zeros,
        // which are valid.
        if unsafe { self.mapping.unchecked_advise(memmap2::UncheckedAdvice::DontNeed) }.is_ok() {
            return;
        }
        self.mapping.fill(0);
    }
}

/// The bytes of memory that can be allocated without swapping: what the system reports as available, within
/// the limits of the process and its control group. `None` if the system does not report it.
pub fn available_memory() -> Option<u64> {
    let meminfo = fs::read_to_string("/proc/meminfo").ok()?;
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let available = line.trim().trim_end_matches(" kB").parse::<u64>().ok()? * 1024;
    let group =
        |file: &str| fs::read_to_string(format!("/sys/fs/cgroup/{file}")).ok()?.trim().parse::<u64>().ok();
    let limit = group("memory.max").zip(group("memory.current")).map(|(max, now)| max.saturating_sub(now));
    let limits = [Some(available), limit, address_space()];
    limits.into_iter().flatten().min()
}

/// The bytes that the process may still map (`ulimit -v`); `None` without a limit.
fn address_space() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let limit = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let limit: u64 = limit.split_whitespace().next()?.parse().ok()?;
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let used = status.lines().find_map(|line| line.strip_prefix("VmSize:"))?;
    let used = used.trim().trim_end_matches(" kB").parse::<u64>().ok()? * 1024;
    Some(limit.saturating_sub(used))
}

/// Rejects what does not fit into memory, with the figures.
///
/// # Errors
/// If it needs more than is available.
pub fn check_fits(what: &str, needed: u64) -> Result<(), MemoryError> {
    match available_memory() {
        Some(available) if needed > available => {
            Err(MemoryError::TooLarge { what: what.into(), needed, available })
        }
        _ => Ok(()),
    }
}
