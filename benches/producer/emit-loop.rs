//! Emits one event in a loop: `emit-loop duration|command_call THREADS COUNT`.
//!
//! For each line of its input it does one round, COUNT events on each thread, and prints how many nanoseconds
//! that took. `baseline.c` does the same in C.

use std::arch::asm;
use std::time::Instant;
use std::{io, thread};

use valkey_trace::valkey_commands::{Protocol, command_call};
use valkey_trace::valkey_db::expire_del;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, event, threads, count] = &arguments[..] else {
        panic!("usage: emit-loop duration|command_call THREADS COUNT");
    };
    let run = if event == "duration" { loop_duration } else { loop_command_call };
    let threads: usize = threads.parse().expect("a number of threads");
    let count: u64 = count.parse().expect("a number of events");
    for _ in io::stdin().lines() {
        let start = Instant::now();
        thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(|| run(count));
            }
            run(count);
        });
        println!("{}", start.elapsed().as_nanos());
    }
}

/// Keeps the compiler from knowing the value, and from dropping what computes it, at no cost.
#[inline(always)]
fn hide(mut value: u64) -> u64 {
    // SAFETY: it emits no instruction.
    unsafe { asm!("/* {0} */", inout(reg) value, options(nomem, nostack, preserves_flags)) };
    value
}

/// Its name is known to callgrind.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn loop_duration(count: u64) {
    for duration in 0..count {
        expire_del::emit(hide(duration));
    }
}

/// Its name is known to callgrind.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn loop_command_call(count: u64) {
    for duration in 0..count {
        command_call::emit(Protocol::Socket, "127.0.0.1:43590", "127.0.0.1:7101", "get", hide(duration));
    }
}
