//! Measurements that are recorded as more than one event, or of which an event is the sum. All others are an
//! attribute of the function that they measure.

use std::io;
use std::time::{Duration, Instant};

use lttng_provider::{DurationEvent, NoDetails, Stopwatch, Unit, traced};
use valkey_trace::valkey_aof;
use valkey_trace::valkey_commands::{Protocol, command_call};
use valkey_trace::valkey_server::{command, eventloop_cron, fast_command};

use crate::client::{Client, Stream};
use crate::command::{Command, FAST};

/// The execution of a command: `command_call`, and the same value again as `command` or `fast_command`.
///
/// By hand, and not by `#[traced]` with `also`: a command may change its client, so the attribute would have to copy
/// the client's addresses before each command.
pub struct CommandMeasurement {
    watch: Stopwatch<command_call>,
}

impl CommandMeasurement {
    /// Reads the clock if any of the three is recorded.
    #[inline(always)]
    pub fn start() -> Self {
        let is_recorded = command_call::enabled() || command::enabled() || fast_command::enabled();
        Self { watch: Stopwatch::start_if(is_recorded) }
    }

    #[inline(always)]
    pub fn finish(self, client: &Client, called: &Command) {
        if let Some(duration) = self.watch.elapsed() {
            record_command(duration, client, called);
        }
    }
}

/// Apart from the path that each command takes, which then has no room on its stack for events.
#[cold]
#[inline(never)]
fn record_command(duration: Duration, client: &Client, called: &Command) {
    let duration = Unit::Microseconds.count(duration);
    let protocol = match client.stream() {
        Some(Stream::Tcp(_)) => Protocol::Socket,
        Some(Stream::Unix(_)) => Protocol::Unix,
        None => Protocol::Unlabelled(-1),
    };
    let addresses = &client.addresses;
    command_call::emit(protocol, &addresses.peer, &addresses.local, called.name, duration);
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

/// The pieces of cron work in one turn of the loop, recorded as their sum: `eventloop_cron`.
pub struct CronSum {
    sum: Option<Duration>,
}

impl CronSum {
    pub fn start() -> Self {
        Self { sum: eventloop_cron::enabled().then_some(Duration::ZERO) }
    }

    /// Does a piece of the work.
    pub fn add<R>(&mut self, piece: impl FnOnce() -> R) -> R {
        let Some(sum) = &mut self.sum else { return piece() };
        let started = Instant::now();
        let result = piece();
        *sum += started.elapsed();
        result
    }

    pub fn finish(self) {
        if let Some(sum) = self.sum {
            eventloop_cron::record_duration(sum, NoDetails {});
        }
    }
}
