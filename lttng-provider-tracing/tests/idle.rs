//! While no session records, spans are disabled and the level of the program is that of the other layers.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use lttng_provider_tracing::{Bridge, generated};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::prelude::*;

static IS_ON: AtomicBool = AtomicBool::new(false);
static RECORDED: AtomicUsize = AtomicUsize::new(0);

static EVENTS: [generated::Event; 1] = [generated::Event {
    provider: "test",
    name: "sale",
    callsites: None,
    fields: &[],
    duration: None,
    enabled: || IS_ON.load(Ordering::Relaxed),
    begin: || (),
    record: |_| {
        RECORDED.fetch_add(1, Ordering::Relaxed);
    },
}];

/// Whether a span is made, and whether it is recorded; always at the same call site.
fn span() -> (bool, bool) {
    let before = RECORDED.load(Ordering::Relaxed);
    let is_made = !tracing::info_span!("sale").is_disabled();
    (is_made, RECORDED.load(Ordering::Relaxed) > before)
}

#[test]
fn session_that_comes_and_goes_turns_spans_on_and_off() {
    let Some(layer) = Bridge::new(&EVENTS).layer() else { return println!("tracing is off") };
    tracing::subscriber::set_global_default(tracing_subscriber::registry().with(layer)).unwrap();
    assert_eq!(span(), (false, false));
    assert_eq!(LevelFilter::current(), LevelFilter::OFF);
    for is_on in [true, false, true, false] {
        IS_ON.store(is_on, Ordering::Relaxed);
        let began = Instant::now();
        while span() != (is_on, is_on) || (LevelFilter::current() == LevelFilter::OFF) == is_on {
            assert!(began.elapsed() < Duration::from_secs(60), "spans stay as they were");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
