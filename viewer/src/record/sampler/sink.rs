//! Where samples go.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ltt_analysis::samples::{Sample, SampleQueue, SampleWriter};
use rustix::time::ClockId;

use super::{monotonic, nanoseconds};
use crate::outcome::warn;

/// Where samples go: to files beside a trace, or to the analysis of live events.
pub enum Sink {
    Folder { recording: PathBuf, writer: SampleWriter, has_failed: bool },
    Queue(SampleQueue),
}

impl Sink {
    /// Into the folder of a recording.
    pub fn folder(recording: &Path) -> Sink {
        let hostname = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let writer = SampleWriter::new(recording, hostname.trim(), offset());
        Sink::Folder { recording: recording.to_owned(), writer, has_failed: false }
    }

    /// Adds a sample of this time of the monotonic clock.
    pub fn add(&mut self, time: u64, sample: Sample) {
        match self {
            Sink::Folder { writer, has_failed, .. } => check(writer.add(time, &sample), has_failed),
            Sink::Queue(queue) => {
                let time = i64::try_from(time).unwrap_or(i64::MAX).saturating_add(offset());
                queue.push(time, sample);
            }
        }
    }

    /// Whether nothing more can be written.
    pub fn has_failed(&self) -> bool {
        matches!(self, Sink::Folder { has_failed: true, .. })
    }

    /// Writes what has been sampled so far.
    pub fn flush(&mut self) {
        if let Sink::Folder { writer, has_failed, .. } = self {
            check(writer.flush(), has_failed);
        }
    }

    /// Writes what is left.
    pub fn finish(&mut self) {
        if let Sink::Folder { recording, writer, has_failed: has_failed @ false } = self {
            check(writer.finish(recording), has_failed);
        }
    }
}

fn check(written: io::Result<()>, has_failed: &mut bool) {
    if let Err(error) = written
        && !std::mem::replace(has_failed, true)
    {
        warn(&format!("cannot write samples of the scheduler: {error}; the recording goes on without them"));
    }
}

/// Nanoseconds from 1970 to the origin of the monotonic clock.
fn offset() -> i64 {
    let before = monotonic();
    let now = nanoseconds(ClockId::Realtime);
    let middle = before + (monotonic() - before) / 2;
    i64::try_from(now).unwrap_or(i64::MAX).saturating_sub_unsigned(middle)
}
