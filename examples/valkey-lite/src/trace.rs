//! Measurements that are recorded as more than one event. All others are an attribute of the function that they
//! measure, or a closure where they are a step of one.

use std::io;

use lttng_provider::{Stopwatch, Unit, traced};
use valkey_trace::valkey_aof;
use valkey_trace::valkey_commands::{Protocol, command_call};
use valkey_trace::valkey_server::{command, fast_command};

/// Begins to measure a command: reads the clock if any of its events is recorded.
///
/// By hand, and not by `#[traced]` with `also`: a command may change its client, so the attribute would have to copy
/// the client's addresses before each command.
pub fn start_command() -> Stopwatch<command_call> {
    Stopwatch::start_if(command_call::enabled() || command::enabled() || fast_command::enabled())
}

/// Records a command: `command_call`, and the same value again as `command` or `fast_command`.
pub fn finish_command(
    watch: Stopwatch<command_call>,
    (peer, local): (&str, &str),
    name: &str,
    is_fast: bool,
) {
    let Some(duration) = watch.elapsed() else { return };
    let duration = Unit::Microseconds.count(duration);
    command_call::emit(Protocol::Socket, peer, local, name, duration);
    if is_fast { fast_command::emit(duration) } else { command::emit(duration) }
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
