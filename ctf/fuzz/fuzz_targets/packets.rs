//! Any bytes as a trace: metadata up to the first NUL, and a stream file behind it. All fields of all events
//! are decoded, one by one and all at once, and then none, which must find the same events:
//! `cargo +nightly fuzz run packets`.

#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use ltt_top::source::native::Native;
use ltt_top::source::{Brief, Collect, EventClass, Events, Progress, Source, Value, Window};

/// Wants all fields or none, and looks at them in every way.
#[derive(Clone)]
struct Look {
    all: bool,
    /// For each class how many fields it has.
    fields: Vec<usize>,
}

impl Collect for Look {
    fn want(&mut self, class: &Arc<EventClass>) -> Option<Vec<usize>> {
        self.fields.push(class.fields.len());
        self.all.then(|| (0..class.fields.len()).collect())
    }
    fn events(&mut self, events: &Events<'_>) {
        for field in 0..self.fields[events.class] {
            let (mut briefs, mut integers) = (Vec::new(), Vec::new());
            events.fields.briefs(field, &mut briefs);
            events.fields.integers(field, &mut integers);
            let values: Vec<Value<'_>> = events.iter().map(|event| event.value(field)).collect();
            assert!(values.iter().map(Brief::from).eq(briefs));
            assert!(values.iter().map(Value::raw).eq(integers));
        }
        assert!(events.iter().map(|event| event.timestamp()).is_sorted());
    }
    fn split(&self) -> Look {
        self.clone()
    }
    fn absorb(&mut self, _: Look) {}
}

fuzz_target!(|bytes: &[u8]| {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    let (metadata, stream) = bytes.split_at(end);
    let stream: Arc<[u8]> = stream.get(1..).unwrap_or_default().into();
    let Ok(mut native) = Native::in_memory(metadata, vec![("stream".into(), stream)]) else { return };
    let mut reports = [true, false].map(|all| {
        let collected =
            native.read(Window::default(), Look { all, fields: Vec::new() }, &Progress::default());
        collected.expect("an open trace can be read").1
    });
    let [all, none] = &mut reports;
    assert_eq!(all, none);
});
