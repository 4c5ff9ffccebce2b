//! Packets to events, on as many threads as there are.
//!
//! Each packet begins with a full timestamp, so packets can be decoded in any order. Threads take packets
//! from one list, each with a collector of its own, and the collectors are absorbed in the end:
//!
//! ```text
//! packets ─┬─> thread: read a part, decode its events into a collector ─┬─absorb─> collector
//!          └─> thread: …                                                ┘
//! ```
//!
//! A packet is read in parts that fit the processor's cache. A part ends anywhere: the event that it cuts is
//! decoded again at the beginning of the next, which starts at a multiple of [`PAGE`] so that alignments hold.

use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::bits::Fault;
use super::decoding::{self, Cursor, Part, Stop, Tally};
use super::file::{Place, StreamFile};
use super::ledger::Filed;
use super::metadata::Metadata;
use super::packet;
use super::stream::StreamPlan;
use crate::source::{Collect, Damage, Progress, Window};

/// How much of a packet to read at a time.
const PART: usize = 256 << 10;

/// No alignment is larger than this many bytes.
const PAGE: usize = 4096;

/// How many places of damage to name in all.
const MAX_DAMAGE: usize = 1000;

/// The packets of one trace and how to decode them.
#[derive(Debug)]
pub struct Job<'m> {
    /// The layout of the packets.
    pub metadata: &'m Metadata,
    /// How to decode the events, for each stream class.
    pub plans: Vec<StreamPlan<'m>>,
    /// The files that hold the packets.
    pub files: Vec<Place>,
    /// The packets, each once.
    pub packets: Vec<Filed>,
}

/// What reading found beside the events.
#[derive(Debug, Default)]
pub struct Outcome {
    /// How many events there were, and when.
    pub tally: Tally,
    /// What could not be read.
    pub damage: Vec<Damage>,
}

/// Reads all packets.
pub fn read<C: Collect>(
    jobs: &[Job<'_>],
    window: Window,
    threads: usize,
    mut collector: C,
    progress: &Progress,
) -> (C, Outcome) {
    let mut items: Vec<(&Job<'_>, &Filed)> = jobs
        .iter()
        .flat_map(|job| job.packets.iter().map(move |filed| (job, filed)))
        .filter(|(_, filed)| filed.packet.is_in_window)
        .collect();
    // In the order of the files, so that the system reads ahead.
    items.sort_by_key(|(job, filed)| (job.files[filed.file].path.as_path(), filed.packet.offset));
    progress.total.store(items.iter().map(|(_, filed)| filed.packet.length).sum(), Ordering::Relaxed);
    let next = AtomicUsize::new(0);
    let work = |collector: &mut C| {
        let mut worker = Worker { window, progress, buffer: Vec::new(), slots: Vec::new(), open: None };
        let mut outcome = Outcome::default();
        while let Some((job, filed)) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            worker.packet(job, filed, collector, &mut outcome);
        }
        outcome
    };
    let threads = threads.clamp(1, items.len().max(1));
    let mut outcome = Outcome::default();
    if threads == 1 {
        outcome = work(&mut collector);
    } else {
        let absorbed = Mutex::new((&mut collector, &mut outcome));
        let parts: Vec<C> = {
            let collector = absorbed.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            (0..threads).map(|_| collector.0.split()).collect()
        };
        std::thread::scope(|scope| {
            for mut part in parts {
                let (work, absorbed) = (&work, &absorbed);
                scope.spawn(move || {
                    let found = work(&mut part);
                    let mut absorbed = absorbed.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    absorbed.0.absorb(part);
                    absorbed.1.add(found);
                });
            }
        });
    }
    outcome.damage.sort();
    outcome.damage.truncate(MAX_DAMAGE);
    (collector, outcome)
}

impl Outcome {
    fn add(&mut self, other: Outcome) {
        self.tally.add(other.tally);
        self.damage.extend(other.damage);
    }
}

/// What one thread keeps from packet to packet.
struct Worker<'p> {
    window: Window,
    progress: &'p Progress,
    buffer: Vec<u8>,
    slots: Vec<i128>,
    /// The file that was read last: the next packet is likely in it too.
    open: Option<StreamFile>,
}

impl Worker<'_> {
    fn packet<C: Collect>(&mut self, job: &Job<'_>, filed: &Filed, collector: &mut C, outcome: &mut Outcome) {
        let place = &job.files[filed.file];
        let damage = match self.open(place) {
            Ok(file) => match self.events(&file, job, filed, collector, &mut outcome.tally) {
                Ok(damage) => {
                    self.open = Some(file);
                    damage
                }
                Err(error) => Some((filed.packet.offset, format!("cannot be read: {error}"))),
            },
            Err(error) => Some((filed.packet.offset, format!("cannot be opened: {error}"))),
        };
        self.progress.done.fetch_add(filed.packet.length, Ordering::Relaxed);
        if let Some((offset, reason)) = damage
            && outcome.damage.len() < MAX_DAMAGE
        {
            outcome.damage.push(Damage { path: place.path.clone(), offset: Some(offset), reason });
        }
    }

    fn open(&mut self, place: &Place) -> io::Result<StreamFile> {
        match self.open.take() {
            Some(file) if file.path == place.path => Ok(file),
            _ => place.open(),
        }
    }

    /// Decodes the events of a packet, and says where and why that ended early, if it did.
    fn events<C: Collect>(
        &mut self,
        file: &StreamFile,
        job: &Job<'_>,
        filed: &Filed,
        collector: &mut C,
        tally: &mut Tally,
    ) -> io::Result<Option<(u64, String)>> {
        let (packet, header) = (&filed.packet, &filed.packet.header);
        let plan = &job.plans[header.stream];
        let mut head = Vec::new();
        let mut context = Vec::new();
        self.slots.clear();
        self.slots.resize(job.metadata.slots, 0);
        if plan.needs_context() || !self.slots.is_empty() {
            let bytes = file.read(packet.offset, header.events_at.div_ceil(8) as usize, &mut head)?;
            let stream = &job.metadata.streams[header.stream];
            context = packet::context(job.metadata, stream, bytes, &mut self.slots).unwrap_or_default();
        }
        let available = if header.is_open {
            written(file, packet.offset, packet.length, &mut self.buffer)?
        } else {
            packet.length
        };
        let content = header.content_size.unwrap_or(u64::MAX).min(available.saturating_mul(8));
        let mut part = PART;
        let mut base = 0;
        let mut cursor = Cursor { at: header.events_at as usize, clock: header.begin };
        let stop = loop {
            let left = usize::try_from(content.div_ceil(8) - base).unwrap_or(usize::MAX);
            let bytes = file.read(packet.offset + base, part.min(left), &mut self.buffer)?;
            let end = usize::try_from(content - base * 8).unwrap_or(usize::MAX);
            let part_of_packet = Part { bytes, end, context: &context };
            let (found, stop) =
                decoding::decode(plan, part_of_packet, &mut cursor, self.window, &mut self.slots, collector);
            tally.add(found);
            if stop != Stop::Short || bytes.len() < part || bytes.len() == left {
                break stop;
            }
            match cursor.at / 8 / PAGE * PAGE {
                0 => part = part.saturating_mul(2),
                passed => {
                    base += passed as u64;
                    cursor.at -= passed * 8;
                }
            }
        };
        // What concerns the whole packet is named at its beginning.
        let at = if header.is_open || packet.is_cut { 0 } else { base + cursor.at as u64 / 8 };
        Ok(verdict(filed, stop).map(|reason| (packet.offset + at, reason)))
    }
}

/// What is wrong with a packet whose events ended like this.
fn verdict(filed: &Filed, stop: Stop) -> Option<String> {
    let packet = &filed.packet;
    let reason = match stop {
        _ if packet.header.is_open => {
            return Some("the tracer did not close this packet: it still runs or was killed".into());
        }
        Stop::End | Stop::Short if packet.is_cut => return Some("the file ends within this packet".into()),
        Stop::End => return None,
        Stop::Short => in_words(Fault::Short).into(),
        Stop::UnknownClass(id) => format!("the metadata describes no event with id {id}"),
        Stop::NoRoom => "an event takes no room".into(),
        Stop::Fault(fault) => in_words(fault).into(),
    };
    Some(format!("{reason}; the rest of the packet is left out"))
}

fn in_words(fault: Fault) -> &'static str {
    match fault {
        Fault::Short => "an event ends behind the packet's content",
        Fault::NoChoice => "a variant's tag chooses none of its members",
        Fault::BadLength => "a sequence has an impossible length",
    }
}

/// How much of a packet that was left open has been written: all but the zeros at its end.
fn written(file: &StreamFile, offset: u64, length: u64, buffer: &mut Vec<u8>) -> io::Result<u64> {
    let mut written = 0;
    let mut at = 0;
    while at < length {
        let wanted = PART.min(usize::try_from(length - at).unwrap_or(PART));
        let bytes = file.read(offset + at, wanted, buffer)?;
        if let Some(last) = bytes.iter().rposition(|&byte| byte != 0) {
            written = at + last as u64 + 1;
        }
        if bytes.len() < wanted {
            break;
        }
        at += bytes.len() as u64;
    }
    Ok(written)
}
