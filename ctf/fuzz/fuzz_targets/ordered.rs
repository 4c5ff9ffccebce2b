//! Any bytes as two traces, read in the order of time: the same events as in any order, and the same report.
//! `cargo +nightly fuzz run ordered`.

#![no_main]

use ctf_reader::{Step, Window, all_fields};
use libfuzzer_sys::fuzz_target;

mod support;

fuzz_target!(|bytes: &[u8]| {
    let Some(reader) = support::two_traces(bytes).and_then(support::open) else { return };
    let (mut expected, report) = support::read(&reader, true);
    let mut events = reader.in_order(Window::default(), all_fields);
    let (mut last, mut late) = (i64::MIN, 0);
    while let Step::Event(event) = events.next_event() {
        let class = event.class();
        let values = event.fields().map(|(_, value)| support::integer(&value));
        let sum = support::sum(event.timestamp(), values);
        expected[class.index] = expected[class.index].wrapping_sub(sum);
        late += u64::from(event.timestamp() < last);
        last = last.max(event.timestamp());
    }
    assert!(expected.iter().all(|&sum| sum == 0));
    assert_eq!(events.report(), report);
    assert!(late == 0 || report.clock_steps.count > 0);
});
