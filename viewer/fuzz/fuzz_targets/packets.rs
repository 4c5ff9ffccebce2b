//! Any bytes as a trace: metadata up to the first NUL, and a stream file behind it. All fields of all events
//! are decoded, and then none, which must find the same events: `cargo +nightly fuzz run packets`.

#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use ltt_top::source::native::Native;
use ltt_top::source::{Collect, Event, EventClass, Progress, Source, Window};

/// Wants all fields or none, and counts.
struct Count {
    all: bool,
    values: usize,
}

impl Collect for Count {
    fn want(&mut self, class: &Arc<EventClass>) -> Option<Vec<usize>> {
        self.all.then(|| (0..class.fields.len()).collect())
    }
    fn event(&mut self, event: &Event<'_>) {
        self.values += event.values.len();
    }
    fn split(&self) -> Count {
        Count { all: self.all, values: 0 }
    }
    fn absorb(&mut self, other: Count) {
        self.values += other.values;
    }
}

fuzz_target!(|bytes: &[u8]| {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    let (metadata, stream) = bytes.split_at(end);
    let stream: Arc<[u8]> = stream.get(1..).unwrap_or_default().into();
    let Ok(mut native) = Native::in_memory(metadata, vec![("stream".into(), stream)]) else { return };
    let mut reports = [true, false].map(|all| {
        let collected = native.read(Window::default(), Count { all, values: 0 }, &Progress::default());
        collected.expect("an open trace can be read").1
    });
    let [all, none] = &mut reports;
    assert_eq!(all, none);
});
