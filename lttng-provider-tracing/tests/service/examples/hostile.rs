//! Values that do not fit, and code that misbehaves while it is recorded. Warnings are printed.

use std::fmt;
use std::time::Duration;

use lttng_provider_tracing::Bridge;
use tracing::{error, info, info_span};
use tracing_subscriber::prelude::*;

fn main() {
    let bridge = Bridge::new(bridged_service::events()).on_warning(|warning| println!("{warning}"));
    tracing_subscriber::registry().with(bridge.layer()).init();
    std::panic::set_hook(Box::new(|_| ()));
    for _ in 0..3 {
        hostile("", 300);
        hostile("a\0b", -1);
    }
    hostile(&"x".repeat(1 << 20), 7);
    info_span!("hostile", text = ?Panics, number = ?Panics, list = "1, 2");
    info_span!("hostile", text = ?Endless, number = "seven", list = 0);
    info_span!("hostile", text = ?Traces, number = 8.0, list = 0);
    let span = info_span!("hostile", text = "", number = 0, list = 0);
    for number in 0..100_000 {
        span.record("text", "y".repeat(100));
        span.record("number", number % 10);
    }
    drop(span);
    events();
}

fn hostile(text: &str, number: i64) {
    info_span!("hostile", text, number, list = 0);
}

fn events() {
    info!(request = "GET", "hello {}", "world");
    error!(request = ?String::from("SET \"x\""), "refused");
    info!(latency = ?Duration::from_micros(1_500));
    info!(latency = u64::MAX);
    // Not of the catalog.
    info!("unrelated");
}

struct Panics;

impl fmt::Debug for Panics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("before")?;
        panic!("a Debug that panics");
    }
}

struct Endless;

impl fmt::Debug for Endless {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        loop {
            f.write_str("endless ")?;
        }
    }
}

/// Uses what is being recorded.
struct Traces;

impl fmt::Debug for Traces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        info_span!("hostile", text = "inner", number = 9, list = 0).in_scope(|| info!(request = "inner"));
        f.write_str("outer")
    }
}
