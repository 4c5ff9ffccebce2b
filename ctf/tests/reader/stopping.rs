//! Collectors that end the reading early.

use std::fs::File;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ctf_reader::{Collect, EventClass, Events, Progress, Reader, Wanted, Window};

use crate::support::{Recording, SharedTrace};

/// Has seen enough after a number of events, which all its parts count together.
struct Enough {
    limit: u64,
    all: Arc<AtomicU64>,
    seen: u64,
}

impl Enough {
    fn new(limit: u64) -> Enough {
        Enough { limit, all: Arc::default(), seen: 0 }
    }
}

impl Collect for Enough {
    type Stop = ();

    fn want(&mut self, class: &Arc<EventClass>) -> Option<Wanted> {
        Some(Wanted::of(class))
    }

    fn events(&mut self, events: &Events<'_>) -> ControlFlow<()> {
        self.seen += events.count as u64;
        let before = self.all.fetch_add(events.count as u64, Ordering::Relaxed);
        // Only one part has enough: the others must be told to stop.
        let is_last = (before..before + events.count as u64).contains(&self.limit);
        if is_last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn split(&self) -> Enough {
        Enough { limit: self.limit, all: Arc::clone(&self.all), seen: 0 }
    }

    fn absorb(&mut self, other: Enough) {
        self.seen += other.seen;
    }
}

#[test]
fn collector_that_has_seen_enough_ends_the_reading_on_all_threads() {
    let shared = SharedTrace::unpack();
    for threads in [1, 2, 8] {
        let reader = Reader::open(&[shared.folder()]).unwrap().threads(threads);
        let read = reader.read(Window::default(), Enough::new(20_000), &Progress::default());
        assert_eq!(read.stopped, Some(()), "{threads} threads");
        let seen = read.collector.seen;
        // A thread learns of it when it has decoded the parts that it has in memory.
        assert!((20_000..200_000).contains(&seen), "{seen} events with {threads} threads");
    }
}

#[test]
fn collector_may_stop_at_the_very_last_event_or_not_at_all() {
    let recorded = Recording::copy();
    for (threads, limit, stopped) in
        [(1, u64::MAX, None), (8, u64::MAX, None), (1, 1799, Some(())), (8, 1799, Some(()))]
    {
        let reader = Reader::open(&[recorded.folder()]).unwrap().threads(threads);
        let read = reader.read(Window::default(), Enough::new(limit), &Progress::default());
        assert_eq!((read.stopped, read.collector.seen, read.report.events), (stopped, 1800, 1800));
    }
}

/// Writes a line for each event.
struct Print(File);

impl Collect for Print {
    type Stop = io::Error;

    fn want(&mut self, class: &Arc<EventClass>) -> Option<Wanted> {
        Some(Wanted::of(class))
    }

    fn events(&mut self, events: &Events<'_>) -> ControlFlow<io::Error> {
        for event in events.iter() {
            if let Err(error) = writeln!(self.0, "{}", event.timestamp()) {
                return ControlFlow::Break(error);
            }
        }
        ControlFlow::Continue(())
    }

    fn split(&self) -> Print {
        Print(self.0.try_clone().unwrap())
    }

    fn absorb(&mut self, _: Print) {}
}

#[test]
fn collector_that_fails_gives_its_error() {
    let recorded = Recording::copy();
    for threads in [1, 8] {
        let reader = Reader::open(&[recorded.folder()]).unwrap().threads(threads);
        let full = File::options().write(true).open("/dev/full").unwrap();
        let read = reader.read(Window::default(), Print(full), &Progress::default());
        let error = read.stopped.expect("the disk is full");
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }
}
