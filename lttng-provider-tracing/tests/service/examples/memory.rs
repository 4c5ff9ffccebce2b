//! Counts allocations: `memory COUNT`. Prints the allocations of COUNT spans and events after the first, and the bytes that
//! are left of them.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicI64, Ordering};

use tracing::{info, info_span};
use tracing_subscriber::prelude::*;

struct Counting;

static ALLOCATIONS: AtomicI64 = AtomicI64::new(0);
static BYTES: AtomicI64 = AtomicI64::new(0);

thread_local! {
    /// Whether the thread is the one that makes spans; others may start and end meanwhile.
    static IS_COUNTED: Cell<bool> = const { Cell::new(false) };
}

fn count(allocations: i64, bytes: i64) {
    if IS_COUNTED.get() {
        ALLOCATIONS.fetch_add(allocations, Ordering::Relaxed);
        BYTES.fetch_add(bytes, Ordering::Relaxed);
    }
}

// SAFETY: The system's allocator does it all; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(1, layout.size() as i64);
        // SAFETY: As the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(0, -(layout.size() as i64));
        // SAFETY: As the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() {
    IS_COUNTED.set(true);
    let count: u64 =
        std::env::args().nth(1).and_then(|count| count.parse().ok()).expect("usage: memory COUNT");
    bridged_service::subscriber().init();
    // Call sites are registered, and the registry has its first page.
    (0..100).for_each(work);
    let (allocations, bytes) = (ALLOCATIONS.load(Ordering::Relaxed), BYTES.load(Ordering::Relaxed));
    (0..count).for_each(work);
    let allocations = ALLOCATIONS.load(Ordering::Relaxed) - allocations;
    let bytes = BYTES.load(Ordering::Relaxed) - bytes;
    println!("{allocations} {bytes}");
}

fn work(order: u64) {
    let text = "a text that is longer than what a value has room for within itself";
    let span = info_span!("hostile", text, number = order % 10, list = 0);
    span.in_scope(|| info!(request = text, "hello"));
    info_span!("wait", order).in_scope(|| ());
}
