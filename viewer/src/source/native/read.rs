//! Packets to events, on as many threads as there are.
//!
//! Each packet begins with a full timestamp, so packets can be decoded in any order. Threads take packets
//! from one list, each with a collector of its own, and the collectors are absorbed in the end:
//!
//! ```text
//! packets ─┬─> thread: read parts, decode their events into a collector ─┬─absorb─> collector
//!          └─> thread: …                                                 ┘
//! ```
//!
//! Each thread reads two packets at a time, which are [walked over](super::walk) in turns.

use std::io;
use std::rc::Rc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::decoding::{Tally, decode};
use super::file::{Place, StreamFile};
use super::ledger::Filed;
use super::metadata::Metadata;
use super::parts::OpenPacket;
use super::stream::StreamPlan;
use crate::source::{Collect, Damage, Progress, Window};

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
    let mut items: Vec<Item<'_>> = jobs
        .iter()
        .flat_map(|job| job.packets.iter().map(move |filed| (job, filed)))
        .filter(|(_, filed)| filed.packet.is_in_window)
        .collect();
    // In the order of the files, so that the system reads ahead.
    items.sort_by_key(|(job, filed)| (job.files[filed.file].path.as_path(), filed.packet.offset));
    progress.total.store(items.iter().map(|(_, filed)| filed.packet.length).sum(), Ordering::Relaxed);
    let next = AtomicUsize::new(0);
    let work = |collector: &mut C| {
        let take = || items.get(next.fetch_add(1, Ordering::Relaxed)).copied();
        let mut worker = Worker { progress, buffers: Vec::new(), file: None, outcome: Outcome::default() };
        worker.packets(take, window, collector);
        worker.outcome
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

/// A packet, and what it is a packet of.
type Item<'j> = (&'j Job<'j>, &'j Filed);

impl Outcome {
    fn add(&mut self, other: Outcome) {
        self.tally.add(other.tally);
        self.damage.extend(other.damage);
    }

    fn damaged(&mut self, (job, filed): Item<'_>, offset: u64, reason: String) {
        if self.damage.len() < MAX_DAMAGE {
            let path = job.files[filed.file].path.clone();
            self.damage.push(Damage { path, offset: Some(offset), reason });
        }
    }
}

/// What one thread keeps from packet to packet.
struct Worker<'p> {
    progress: &'p Progress,
    /// To be used again.
    buffers: Vec<Vec<u8>>,
    /// The file that was read last: the next packet is likely in it too.
    file: Option<Rc<StreamFile>>,
    outcome: Outcome,
}

impl Worker<'_> {
    /// Reads packets for as long as there are any to take.
    fn packets<'j, C: Collect>(
        &mut self,
        take: impl Fn() -> Option<Item<'j>>,
        window: Window,
        collector: &mut C,
    ) {
        let mut open: Vec<OpenPacket<'j>> = Vec::new();
        loop {
            while open.len() < 2
                && let Some(item) = take()
            {
                open.extend(self.open(item));
            }
            if open.is_empty() {
                return;
            }
            open.retain_mut(|packet| self.read(packet));
            let contexts: Vec<_> = open.iter().map(OpenPacket::context).collect();
            let parts = open.iter().zip(&contexts).map(|(packet, context)| packet.decoding(context, window));
            let mut parts: Vec<_> = parts.collect();
            decode(&mut parts, collector);
            let ends: Vec<_> = parts.into_iter().map(|part| (part.cursor, part.tally, part.stop)).collect();
            drop(contexts);
            for (mut packet, (cursor, tally, stop)) in std::mem::take(&mut open).into_iter().zip(ends) {
                self.outcome.tally.add(tally);
                let Some(stop) = stop else { continue };
                if packet.goes_on(cursor, stop) {
                    open.push(packet);
                    continue;
                }
                if let Some((offset, reason)) = packet.verdict(stop) {
                    self.outcome.damaged(packet.filed(), offset, reason);
                }
                self.done(packet.filed());
                self.buffers.push(packet.into_buffer());
            }
        }
    }

    fn open<'j>(&mut self, item: Item<'j>) -> Option<OpenPacket<'j>> {
        let (job, filed) = item;
        let opened = self
            .file(&job.files[filed.file])
            .and_then(|file| OpenPacket::new(job, filed, file, self.buffers.pop().unwrap_or_default()));
        opened.map_err(|error| self.unreadable(item, &error)).ok()
    }

    fn file(&mut self, place: &Place) -> io::Result<Rc<StreamFile>> {
        if let Some(file) = self.file.as_ref().filter(|file| file.path == place.path) {
            return Ok(Rc::clone(file));
        }
        Ok(Rc::clone(self.file.insert(Rc::new(place.open()?))))
    }

    /// Reads a part of a packet, if that can be.
    fn read(&mut self, packet: &mut OpenPacket<'_>) -> bool {
        packet.read().map_err(|error| self.unreadable(packet.filed(), &error)).is_ok()
    }

    fn unreadable(&mut self, item: Item<'_>, error: &io::Error) {
        self.outcome.damaged(item, item.1.packet.offset, format!("cannot be read: {error}"));
        self.done(item);
    }

    fn done(&self, (_, filed): Item<'_>) {
        self.progress.done.fetch_add(filed.packet.length, Ordering::Relaxed);
    }
}
