//! Measurements that are recorded as more than one event. All others are an attribute of the function that they
//! measure, or a closure where they are a step of one.

use std::io;
use std::time::Duration;

use lttng_provider::{Stopwatch, Unit, traced};
use valkey_trace::valkey_aof;
use valkey_trace::valkey_commands::{Protocol, command_call};
use valkey_trace::valkey_server::{command, fast_command};

use crate::client::{Client, Route};
use crate::command::{Command, FAST};

/// Begins to measure a command: reads the clock if any of its events is recorded.
///
/// By hand, and not by `#[traced]` with `also`: a command may change its client, so the attribute would have to copy
/// the client's addresses before each command.
#[inline(always)]
pub fn start_command() -> Stopwatch<command_call> {
    Stopwatch::start_if(command_call::enabled() || command::enabled() || fast_command::enabled())
}

/// Records a command: `command_call`, and the same value again as `command` or `fast_command`.
#[inline(always)]
pub fn finish_command(watch: Stopwatch<command_call>, client: &Client, called: &Command) {
    if let Some(duration) = watch.elapsed() {
        record_command(duration, client, called);
    }
}

/// Apart from the path that each command takes, which then has no room on its stack for events.
#[cold]
#[inline(never)]
fn record_command(duration: Duration, client: &Client, called: &Command) {
    let duration = Unit::Microseconds.count(duration);
    let Route { protocol, peer, local } = &client.route;
    command_call::emit(protocol.unwrap_or(Protocol::Unlabelled(-1)), peer, local, called.name, duration);
    if called.is(FAST) {
        fast_command::emit(duration);
    } else {
        command::emit(duration);
    }
}

/// A write to the append-only file: `aof_write`, and the same value again by what else went on.
#[traced(
    valkey_aof::aof_write,
    also(valkey_aof::aof_write_pending_fsync, when = is_syncing),
    also(valkey_aof::aof_write_active_child, when = !is_syncing && has_child),
    also(valkey_aof::aof_write_alone, when = !is_syncing && !has_child)
)]
pub fn append_only_write<R>(
    is_syncing: bool,
    has_child: bool,
    write: impl FnOnce() -> io::Result<R>,
) -> io::Result<R> {
    write()
}
