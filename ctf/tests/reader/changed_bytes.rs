//! A changed bit anywhere in a small trace's files: each reading ends, without a panic, in little memory.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;

use ctf_reader::{Reader, Window};

use crate::case::Case;
use crate::child::peak_memory_of;
use crate::small::SmallTrace;
use crate::support::read_both_ways;

/// What came of reading a trace with each change.
#[derive(Debug, Default)]
struct Outcome {
    readings: usize,
    unreadable: usize,
    damaged: usize,
    /// The most events that were read.
    events: u64,
}

/// Changes some bits of each byte of a file, one at a time. `bits` gives those of the byte at an offset.
fn change_each_byte<const N: usize>(
    folder: &Path,
    name: &str,
    bits: impl Fn(usize) -> [usize; N],
) -> Outcome {
    let path = folder.join(name);
    let sound = fs::read(&path).unwrap();
    let file = fs::File::options().write(true).open(&path).unwrap();
    let mut outcome = Outcome::default();
    for (offset, &byte) in sound.iter().enumerate() {
        for bit in bits(offset) {
            file.write_all_at(&[byte ^ 1 << bit], offset as u64).unwrap();
            outcome.add(read(folder, if bit == 0 { 2 } else { 1 }));
        }
        file.write_all_at(&[byte], offset as u64).unwrap();
    }
    assert_eq!(fs::read(&path).unwrap(), sound);
    outcome
}

impl Outcome {
    /// Adds what came of a reading.
    fn add(&mut self, read: Option<(u64, bool)>) {
        self.readings += 1;
        match read {
            Some((events, is_damaged)) => {
                self.damaged += usize::from(is_damaged);
                self.events = self.events.max(events);
            }
            None => self.unreadable += 1,
        }
    }
}

/// Reads a trace. Returns the number of events and whether there was damage; `None` if it cannot be opened.
fn read(folder: &Path, threads: usize) -> Option<(u64, bool)> {
    let reader = Reader::open(&[folder]).ok()?;
    // The order depends on when packets say that they begin.
    let (events, report, _) = read_both_ways(&reader.threads(threads), Window::default());
    Some((events.len() as u64, !report.damage.is_empty()))
}

/// All bits.
fn each_bit(_: usize) -> [usize; 8] {
    std::array::from_fn(|bit| bit)
}

/// A different one for neighbouring bytes.
fn one_bit(offset: usize) -> [usize; 1] {
    [offset % 8]
}

#[test]
#[ignore = "make check: damages a trace thousands of times"]
fn every_changed_bit_of_a_small_trace_is_survived() {
    let peak = peak_memory_of("changed_bytes::every_changed_bit_of_a_small_trace_is_survived", || {
        let trace = SmallTrace::write();
        let metadata = change_each_byte(trace.folder(), "metadata", each_bit);
        assert!(metadata.damaged + metadata.unreadable > metadata.readings / 4, "{metadata:?}");
        let stream = change_each_byte(trace.folder(), "stream_0", each_bit);
        assert!(stream.damaged > 0, "{stream:?}");
        assert_eq!((stream.unreadable, stream.events), (0, SmallTrace::EVENTS), "{stream:?}");
        let index = change_each_byte(trace.folder(), "index/stream_0.idx", each_bit);
        // The stream file alone says what is in it.
        assert_eq!((index.unreadable, index.damaged, index.events), (0, 0, SmallTrace::EVENTS), "{index:?}");
    });
    assert!(peak < 100 << 20, "{peak} bytes of memory");
}

#[test]
#[ignore = "make check: damages a trace thousands of times"]
fn every_changed_byte_of_a_small_ctf_2_trace_is_survived() {
    let peak = peak_memory_of("changed_bytes::every_changed_byte_of_a_small_ctf_2_trace_is_survived", || {
        let case = Case::load("ctf2_roles_mark_what_describes_a_packet");
        let folder = tempfile::tempdir().unwrap();
        case.write(folder.path());
        let metadata = change_each_byte(folder.path(), "metadata", one_bit);
        assert!(metadata.damaged + metadata.unreadable > metadata.readings / 4, "{metadata:?}");
        let stream = change_each_byte(folder.path(), "stream", each_bit);
        assert!(stream.damaged > 0 && stream.unreadable == 0, "{stream:?}");
    });
    assert!(peak < 100 << 20, "{peak} bytes of memory");
}
