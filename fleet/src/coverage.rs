//! Which packets of a trace a table holds, so that each is exported once: packets identify what was recorded, wherever chunks,
//! snapshots and archives of it are found.
//!
//! Packets are kept as runs: those of a stream in one file that follow each other. Runs that ended long ago are joined.

use std::collections::BTreeMap;

use ctf_reader::PacketInfo;
use serde::{Deserialize, Serialize};

/// How long after the end of a run its folder may still be compared with it, in nanoseconds: two days.
const COMPARED_NS: i64 = 2 * 86_400_000_000_000;

/// Packets of a stream that follow each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    stream: String,
    /// The numbers of the first and the last.
    sequence: Option<(u64, u64)>,
    /// When the first and the last were begun, and when the last was closed.
    begin: i64,
    last: i64,
    end: i64,
    packets: u64,
    /// The sum of what identifies each of them.
    sum: u64,
    /// The file that they were in, and where they ended; of joined runs those of the last.
    file: String,
    file_end: u64,
}

/// The packets of a trace that are exported.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coverage {
    pub runs: Vec<Run>,
    /// How many parts of them were damaged.
    pub damaged: u64,
}

/// What becomes of a packet.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    New,
    /// It is exported, as part of this run.
    Known(usize),
}

impl Coverage {
    /// Finds a packet.
    pub fn look_up(&self, packet: &PacketInfo<'_>) -> Verdict {
        let (stream, begin) = (stream_of(packet), begin_of(packet));
        let holds = |run: &Run| {
            run.stream == stream
                && (run.begin..=run.last).contains(&begin)
                && match (run.sequence, packet.sequence) {
                    (Some((first, last)), Some(number)) => (first..=last).contains(&number),
                    (first, number) => first.is_none() && number.is_none(),
                }
        };
        self.runs.iter().position(holds).map_or(Verdict::New, Verdict::Known)
    }

    /// Why a source is not what was exported from it, if that can be told: `found` are the packets that are known.
    pub fn misfit<'p>(&self, found: impl Iterator<Item = (usize, PacketInfo<'p>)>) -> Option<String> {
        let mut seen: BTreeMap<usize, Seen> = BTreeMap::new();
        for (run, packet) in found {
            let seen = seen.entry(run).or_default();
            seen.packets += 1;
            seen.sum = seen.sum.wrapping_add(identity(&packet));
            seen.has_last |= begin_of(&packet) == self.runs[run].last;
            seen.file = file_of(&packet);
        }
        seen.iter().find_map(|(&run, seen)| {
            let run = &self.runs[run];
            if seen.packets > run.packets || (seen.packets == run.packets && seen.sum != run.sum) {
                return Some(format!("{}: packets changed after they were exported", seen.file));
            }
            // Retention and ring buffers remove whole files, or packets from the beginning on.
            (seen.packets < run.packets && seen.file == run.file && !seen.has_last)
                .then(|| format!("{}: packets at the end that were exported are missing", seen.file))
        })
    }

    /// Adds packets, stream by stream in the order of their streams.
    pub fn add<'p>(&mut self, packets: impl Iterator<Item = PacketInfo<'p>>) {
        for packet in packets {
            let (stream, file, begin) = (stream_of(&packet), file_of(&packet), begin_of(&packet));
            let (end, file_end) = (packet.end.unwrap_or(begin), packet.offset + packet.length);
            let follows = |run: &&mut Run| {
                run.stream == stream
                    && run.file == file
                    && run.last <= begin
                    && match (run.sequence, packet.sequence) {
                        (Some((_, last)), Some(next)) => last + 1 == next,
                        (last, next) => last.is_none() && next.is_none() && run.file_end == packet.offset,
                    }
            };
            match self.runs.last_mut().filter(follows) {
                Some(run) => {
                    run.sequence = run.sequence.zip(packet.sequence).map(|((first, _), last)| (first, last));
                    (run.last, run.end, run.file_end) = (begin, end, file_end);
                    run.packets += 1;
                    run.sum = run.sum.wrapping_add(identity(&packet));
                }
                None => {
                    let sequence = packet.sequence.map(|number| (number, number));
                    let (last, packets, sum) = (begin, 1, identity(&packet));
                    self.runs.push(Run { stream, sequence, begin, last, end, packets, sum, file, file_end });
                }
            }
        }
        self.join();
    }

    /// Joins runs that ended long before the newest one.
    fn join(&mut self) {
        let newest = self.runs.iter().map(|run| run.end).max().unwrap_or_default();
        let is_old = |run: &Run| run.end < newest.saturating_sub(COMPARED_NS);
        self.runs.sort_by(|a, b| (&a.stream, a.begin).cmp(&(&b.stream, b.begin)));
        self.runs.dedup_by(|later, earlier| {
            let follows = later.stream == earlier.stream
                && earlier.last <= later.begin
                && earlier
                    .sequence
                    .zip(later.sequence)
                    .is_some_and(|((_, last), (next, _))| last + 1 == next);
            let is_joined = follows && is_old(later);
            if is_joined {
                earlier.sequence =
                    earlier.sequence.zip(later.sequence).map(|((first, _), (_, last))| (first, last));
                (earlier.last, earlier.end, earlier.file_end) = (later.last, later.end, later.file_end);
                earlier.packets += later.packets;
                earlier.sum = earlier.sum.wrapping_add(later.sum);
                earlier.file.clone_from(&later.file);
            }
            is_joined
        });
    }

    /// Forgets what ended before a time: such packets are never exported again.
    pub fn forget_before(&mut self, time: i64) {
        self.runs.retain(|run| run.end >= time);
    }
}

#[derive(Default)]
struct Seen {
    packets: u64,
    sum: u64,
    has_last: bool,
    file: String,
}

fn stream_of(packet: &PacketInfo<'_>) -> String {
    match packet.instance {
        Some(instance) => format!("{}/{instance}", packet.stream),
        None => {
            format!("{}/{}", packet.stream, packet.file.file_name().unwrap_or_default().to_string_lossy())
        }
    }
}

/// A packet without a time is known by its place.
fn begin_of(packet: &PacketInfo<'_>) -> i64 {
    packet.begin.unwrap_or(packet.offset as i64)
}

fn file_of(packet: &PacketInfo<'_>) -> String {
    packet.file.to_string_lossy().into_owned()
}

/// What identifies a packet, and what is known of its content.
fn identity(packet: &PacketInfo<'_>) -> u64 {
    let parts = [
        packet.sequence.unwrap_or(u64::MAX),
        begin_of(packet) as u64,
        packet.end.unwrap_or(i64::MAX) as u64,
        packet.length,
    ];
    let bytes = parts.iter().flat_map(|part| part.to_le_bytes());
    // FNV-1a.
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
