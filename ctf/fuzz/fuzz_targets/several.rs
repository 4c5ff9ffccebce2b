//! Any bytes as two traces, read together: what is read must be the sum of what is read of each alone.
//! `cargo +nightly fuzz run several`.

#![no_main]

use libfuzzer_sys::fuzz_target;

mod support;

fuzz_target!(|bytes: &[u8]| {
    let Some(traces) = support::two_traces(bytes) else { return };
    let [one, other] = traces.clone().map(|trace| support::open([trace]));
    let (Some(one), Some(other)) = (one, other) else { return };
    for threads in [1, 2] {
        let both = support::open(traces.clone()).expect("each can be opened alone").threads(threads);
        let (mut expected, report) = support::read(&one, true);
        let (others, other_report) = support::read(&other, true);
        expected.extend(others);
        let (sums, together) = support::read(&both, true);
        assert_eq!(sums, expected);
        assert_eq!(together.events, report.events + other_report.events);
        assert_eq!(together.damage.len(), report.damage.len() + other_report.damage.len());
    }
});
