//! Memory, counted where it is allocated: unlike the size of a process, that is the same on every machine.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The system's allocator, which counts the bytes in use and the most there have been.
///
/// ```
/// use lttng_testing::CountingAllocator;
///
/// #[global_allocator]
/// static ALLOCATOR: CountingAllocator = CountingAllocator::new();
///
/// let (text, peak) = ALLOCATOR.peak_of(|| "x".repeat(1_000_000).len());
/// assert_eq!(text, 1_000_000);
/// assert!((1_000_000..1_100_000).contains(&peak));
/// ```
#[derive(Debug)]
pub struct CountingAllocator {
    used: AtomicUsize,
    peak: AtomicUsize,
    /// All that was ever allocated.
    total: AtomicUsize,
}

impl CountingAllocator {
    /// An allocator that has given out nothing yet.
    #[allow(clippy::new_without_default, reason = "a global allocator is a constant, which `default` is not")]
    pub const fn new() -> CountingAllocator {
        CountingAllocator { used: AtomicUsize::new(0), peak: AtomicUsize::new(0), total: AtomicUsize::new(0) }
    }

    /// Does some work, and returns by how many bytes memory in use grew at most meanwhile, over all threads.
    pub fn peak_of<R>(&self, work: impl FnOnce() -> R) -> (R, usize) {
        let before = self.used.load(Relaxed);
        self.peak.store(before, Relaxed);
        let result = work();
        (result, self.peak.load(Relaxed).saturating_sub(before))
    }

    /// Does some work, and returns how many bytes all threads allocated meanwhile, freed or not.
    pub fn allocated_by<R>(&self, work: impl FnOnce() -> R) -> (R, usize) {
        let before = self.total.load(Relaxed);
        let result = work();
        (result, self.total.load(Relaxed) - before)
    }

    /// The bytes in use, by all threads.
    pub fn used(&self) -> usize {
        self.used.load(Relaxed)
    }

    fn add(&self, bytes: usize) {
        let used = self.used.fetch_add(bytes, Relaxed) + bytes;
        self.peak.fetch_max(used, Relaxed);
        self.total.fetch_add(bytes, Relaxed);
    }
}

// SAFETY: every call is passed on unchanged to the system's allocator; counting touches no memory of the caller.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.add(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`, which is the same for both.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        self.add(layout.size());
        // SAFETY: the caller keeps the contract of `alloc_zeroed`, which is the same for both.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        self.used.fetch_sub(layout.size(), Relaxed);
        // SAFETY: `memory` came from `System` through this allocator, with this layout.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        self.add(size);
        self.used.fetch_sub(layout.size(), Relaxed);
        // SAFETY: `memory` came from `System` through this allocator, with this layout.
        unsafe { System.realloc(memory, layout, size) }
    }
}
