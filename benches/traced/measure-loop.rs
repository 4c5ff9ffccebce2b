//! Measures one function in a loop:
//! `measure-loop guard|traced|stopwatch|traced_details|traced_copies 1 COUNT`.
//!
//! For each line of its input it does one round of COUNT calls, and prints how many nanoseconds that took.

use std::hint::black_box;
use std::io;
use std::time::Instant;

use lttng_provider::traced;
use valkey_trace::valkey_commands::{self, Protocol, command_call};
use valkey_trace::valkey_db::{self, expire_del};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, kind, _threads, count] = &arguments[..] else {
        panic!("usage: measure-loop guard|traced|stopwatch|traced_details|traced_copies 1 COUNT");
    };
    let run = match kind.as_str() {
        "guard" => loop_guard,
        "traced" => loop_traced,
        "stopwatch" => loop_stopwatch,
        "traced_details" => loop_traced_details,
        _ => loop_traced_copies,
    };
    let count: u64 = count.parse().expect("a number of calls");
    for _ in io::stdin().lines() {
        let start = Instant::now();
        run(count);
        println!("{}", start.elapsed().as_nanos());
    }
}

/// A function that is measured by hand, by a guard.
#[inline(always)]
fn guarded(number: u64) -> u64 {
    let _guard = expire_del::guard();
    black_box(number)
}

/// The same by the macro.
#[inline(always)]
#[traced(valkey_db::expire_del)]
fn traced(number: u64) -> u64 {
    black_box(number)
}

/// A function that is measured by hand, with details that it still has in the end.
#[inline(always)]
fn stopped(name: &str, number: u64) -> u64 {
    let stopwatch = command_call::start();
    let result = black_box(number);
    stopwatch.finish(|| command_call::details(Protocol::Socket, "127.0.0.1:43590", "127.0.0.1:7101", name));
    result
}

/// The same by the macro, which keeps the details from the beginning on.
#[inline(always)]
#[traced(
    valkey_commands::command_call,
    fields(prot = Protocol::Socket, addr = "127.0.0.1:43590", laddr = "127.0.0.1:7101")
)]
fn traced_with_details(name: &str, number: u64) -> u64 {
    black_box(number)
}

/// The same, with text that the macro does not know to outlive the call, and so copies.
#[inline(always)]
#[traced(
    valkey_commands::command_call,
    fields(prot = Protocol::Socket, addr = addr(), laddr = "127.0.0.1:7101", name = name.trim())
)]
fn traced_with_copies(name: &str, number: u64) -> u64 {
    black_box(number)
}

fn addr() -> &'static str {
    "127.0.0.1:43590"
}

/// Defines a function whose name is known to callgrind.
macro_rules! measured_loop {
    ($name:ident, $number:ident => $call:expr) => {
        #[unsafe(no_mangle)]
        #[inline(never)]
        extern "C" fn $name(count: u64) {
            for $number in 0..count {
                $call;
            }
        }
    };
}

measured_loop!(loop_guard, number => guarded(number));
measured_loop!(loop_traced, number => traced(number));
measured_loop!(loop_stopwatch, number => stopped(black_box("get"), number));
measured_loop!(loop_traced_details, number => traced_with_details(black_box("get"), number));
measured_loop!(loop_traced_copies, number => traced_with_copies(black_box("get"), number));
