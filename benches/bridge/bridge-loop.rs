//! Opens and closes one span in a loop: `bridge-loop KIND 1 COUNT`. The kinds are in `main`.
//!
//! For each line of its input it does one round of COUNT spans, and prints how many nanoseconds that took.

use std::hint::black_box;
use std::io;
use std::time::Instant;

use lttng_provider::traced;
use tracing::{Subscriber, info_span};
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::layer::Layer;
use tracing_subscriber::prelude::*;
use tracing_subscriber::{fmt, registry};
use valkey_trace::valkey_commands::{self, Protocol};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, kind, _threads, count] = &arguments[..] else { panic!("usage: bridge-loop KIND 1 COUNT") };
    let log = || fmt::layer().with_span_events(FmtSpan::CLOSE).with_writer(io::sink);
    let run = match kind.as_str() {
        "traced" => loop_traced,
        "bare" => loop_bare,
        "alone" => {
            registry().with(lttng_provider_tracing::layer!(valkey_trace)).init();
            loop_alone
        }
        "alone_unnamed" => {
            registry().with(lttng_provider_tracing::layer!(valkey_trace)).init();
            loop_alone_unnamed
        }
        "other" => {
            registry().with(Other).init();
            loop_other
        }
        "beside" => {
            registry().with(Other).with(lttng_provider_tracing::layer!(valkey_trace)).init();
            loop_beside
        }
        "beside_unnamed" => {
            registry().with(Other).with(lttng_provider_tracing::layer!(valkey_trace)).init();
            loop_beside_unnamed
        }
        "log" => {
            registry().with(log()).init();
            loop_log
        }
        other => panic!("no kind {other}"),
    };
    let count: u64 = count.parse().expect("a number of spans");
    for _ in io::stdin().lines() {
        let start = Instant::now();
        run(count);
        println!("{}", start.elapsed().as_nanos());
    }
}

/// A layer that wants every span and does nothing with it, in place of whatever a service has.
struct Other;

impl<S: Subscriber> Layer<S> for Other {}

/// A span that the catalog has an event for, `valkey_commands:command_call`.
#[inline(always)]
fn named(name: &str) {
    info_span!("command_call", prot = 0, addr = "127.0.0.1:43590", laddr = "127.0.0.1:7101", name)
        .in_scope(|| black_box(()));
}

/// A span that it has none for.
#[inline(always)]
fn unnamed(name: &str) {
    info_span!("unnamed", prot = 0, addr = "127.0.0.1:43590", laddr = "127.0.0.1:7101", name)
        .in_scope(|| black_box(()));
}

/// The same event without a span.
#[inline(always)]
#[traced(
    valkey_commands::command_call,
    fields(prot = Protocol::Socket, addr = "127.0.0.1:43590", laddr = "127.0.0.1:7101")
)]
fn directly(name: &str) {
    black_box(());
}

/// Defines a function whose name is known to callgrind.
macro_rules! measured_loop {
    ($name:ident, $function:ident) => {
        #[unsafe(no_mangle)]
        #[inline(never)]
        extern "C" fn $name(count: u64) {
            // Functions that differ in nothing are made one, and callgrind then knows only one of the names.
            black_box(stringify!($name));
            for _ in 0..count {
                $function(black_box("get"));
            }
        }
    };
}

measured_loop!(loop_traced, directly);
measured_loop!(loop_bare, named);
measured_loop!(loop_alone, named);
measured_loop!(loop_alone_unnamed, unnamed);
measured_loop!(loop_other, named);
measured_loop!(loop_beside, named);
measured_loop!(loop_beside_unnamed, unnamed);
measured_loop!(loop_log, named);
