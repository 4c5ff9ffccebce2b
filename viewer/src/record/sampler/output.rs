//! Where samples go.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ltt_analysis::samples::{Sample, SampleQueue, SampleWriter};
use rustix::time::ClockId;

use super::{monotonic, nanoseconds};
use crate::outcome::warn;

/// Samples of several threads are put in order before they are written; none is this much late, in nanoseconds.
const LATE: u64 = 100_000_000;

/// Where samples go: to files beside a trace, or to the analysis of live events.
pub enum Output {
    Folder { recording: PathBuf, writer: SampleWriter, sampled: SampleQueue, waiting: Vec<(i64, Sample)> },
    Queue(SampleQueue),
}

impl Output {
    /// Into the folder of a recording.
    pub fn folder(recording: &Path) -> Output {
        let hostname = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let writer = SampleWriter::new(recording, hostname.trim(), offset());
        let (recording, sampled) = (recording.to_owned(), SampleQueue::default());
        Output::Folder { recording, writer, sampled, waiting: Vec::new() }
    }

    /// What takes the samples.
    pub fn sink(&self) -> Sink {
        match self {
            Output::Folder { sampled, .. } => Sink { queue: sampled.clone(), is_live: false },
            Output::Queue(queue) => Sink::live(queue.clone()),
        }
    }

    /// Writes what was sampled until shortly before now; returns whether more can be written.
    pub fn write(&mut self, now: u64) -> bool {
        let Output::Folder { writer, sampled, waiting, .. } = self else { return true };
        waiting.extend(sampled.take());
        waiting.sort_by_key(|(time, _)| *time);
        let until = i64::try_from(now.saturating_sub(LATE)).unwrap_or(i64::MAX);
        let ready = waiting.partition_point(|(time, _)| *time < until);
        let mut samples = waiting.drain(..ready);
        let added = samples.try_for_each(|(time, sample)| writer.add(time.cast_unsigned(), &sample));
        is_done(added.and_then(|()| writer.flush()))
    }

    /// Writes what is left.
    pub fn finish(&mut self) {
        if self.write(u64::MAX)
            && let Output::Folder { recording, writer, .. } = self
        {
            is_done(writer.finish(recording));
        }
    }
}

fn is_done(written: io::Result<()>) -> bool {
    if let Err(error) = &written {
        warn(&format!("cannot write samples of the scheduler: {error}; the recording goes on without them"));
    }
    written.is_ok()
}

/// Takes samples from any thread, and never waits for a disk.
#[derive(Clone)]
pub struct Sink {
    queue: SampleQueue,
    is_live: bool,
}

impl Sink {
    /// To the analysis of live events.
    pub fn live(queue: SampleQueue) -> Sink {
        Sink { queue, is_live: true }
    }

    /// Adds a sample of this time of the monotonic clock.
    pub fn add(&self, time: u64, sample: Sample) {
        let offset = if self.is_live { offset() } else { 0 };
        self.queue.push(i64::try_from(time).unwrap_or(i64::MAX).saturating_add(offset), sample);
    }
}

/// Nanoseconds from 1970 to the origin of the monotonic clock.
fn offset() -> i64 {
    let before = monotonic();
    let now = nanoseconds(ClockId::Realtime);
    let middle = before + (monotonic() - before) / 2;
    i64::try_from(now).unwrap_or(i64::MAX).saturating_sub_unsigned(middle)
}
