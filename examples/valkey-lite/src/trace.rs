//! Measurements that are recorded as more than one event, or of which an event is the sum. All others are an
//! attribute of the function that they measure.

use std::io;
use std::time::{Duration, Instant};

use lttng_provider::{DurationEvent, NoDetails, Unit};
use valkey_trace::valkey_aof::{aof_write, aof_write_active_child, aof_write_alone, aof_write_pending_fsync};
use valkey_trace::valkey_commands::{Protocol, command_call};
use valkey_trace::valkey_server::{command, eventloop_cron, fast_command};

use crate::client::{Client, Stream};
use crate::command::{Command, FAST};

/// The execution of a command: `command_call`, and the same value again as `command` or `fast_command`.
pub struct CommandMeasurement {
    started: Option<Instant>,
}

impl CommandMeasurement {
    /// Reads the clock if any of the three is recorded.
    pub fn start() -> Self {
        let is_recorded = command_call::enabled() || command::enabled() || fast_command::enabled();
        Self { started: is_recorded.then(Instant::now) }
    }

    pub fn finish(self, client: &Client, called: &Command) {
        let Some(started) = self.started else { return };
        let duration = Unit::Microseconds.count(started.elapsed());
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
}

/// A write to the append-only file: `aof_write`, and the same value again by what else went on.
pub fn append_only_write<R>(
    is_syncing: bool,
    has_child: bool,
    write: impl FnOnce() -> io::Result<R>,
) -> io::Result<R> {
    let is_recorded = aof_write::enabled()
        || aof_write_pending_fsync::enabled()
        || aof_write_active_child::enabled()
        || aof_write_alone::enabled();
    let started = is_recorded.then(Instant::now);
    let result = write();
    if let Some(started) = started {
        let duration = Unit::Microseconds.count(started.elapsed());
        aof_write::emit(duration);
        match (is_syncing, has_child) {
            (true, _) => aof_write_pending_fsync::emit(duration),
            (false, true) => aof_write_active_child::emit(duration),
            (false, false) => aof_write_alone::emit(duration),
        }
    }
    result
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
