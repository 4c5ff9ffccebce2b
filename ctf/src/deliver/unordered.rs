//! Packets to events in any order, on all threads.
//!
//! Each packet begins with a full timestamp, so packets can be decoded in any order. Threads take packets
//! from one list, each with a collector of its own, and the collectors are absorbed in the end:
//!
//! ```text
//! packets ─┬─> thread: read parts, decode their events into a collector ─┬─absorb─> collector
//!          └─> thread: …                                                 ┘
//! ```
//!
//! Each thread reads two packets at a time, which are [decoded](crate::decode::fast::run) in turns.

use std::io;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::open_packet::{OpenPacket, PART};
use crate::decode::part::{Decoding, decode};
use crate::decode::stream_plan::StreamPlan;
use crate::decode::tally::Tally;
use crate::metadata::Metadata;
use crate::packets::LocatedPacket;
use crate::packets::bytes::{Bytes, Location};
use crate::{Collect, Damage, Progress, Window};

/// How many places of damage to name in all.
pub const MAX_DAMAGE: usize = 1000;

/// Packets of one trace and how to decode them.
#[derive(Debug)]
pub struct Job<'t> {
    /// The layout of the packets.
    pub metadata: &'t Metadata,
    /// How to decode the events, for each stream class.
    pub plans: Vec<Arc<StreamPlan>>,
    /// The files that hold the packets.
    pub files: &'t [Arc<Location>],
    /// The packets, each once.
    pub packets: Vec<&'t LocatedPacket>,
}

/// What came of reading packets.
pub struct Read<C: Collect> {
    pub collector: C,
    pub stopped: Option<C::Stop>,
    pub tally: Tally,
    pub damage: Vec<Damage>,
}

impl<C: Collect> Read<C> {
    fn new(collector: C) -> Read<C> {
        Read { collector, stopped: None, tally: Tally::default(), damage: Vec::new() }
    }

    fn absorb(&mut self, other: Read<C>) {
        self.collector.absorb(other.collector);
        self.stopped = self.stopped.take().or(other.stopped);
        self.tally.add(other.tally);
        self.damage.extend(other.damage);
    }
}

/// Reads all packets.
pub fn read<C: Collect>(
    jobs: &[Job<'_>],
    window: Window,
    threads: usize,
    collector: C,
    progress: &Progress,
) -> Read<C> {
    let mut items: Vec<Item<'_>> = jobs
        .iter()
        .enumerate()
        .flat_map(|(trace, job)| job.packets.iter().map(move |&packet| Item { trace, job, packet }))
        .collect();
    // In the order of the files, so that the system reads ahead.
    items.sort_by_key(|item| (item.trace, item.packet.file, item.packet.offset));
    progress.total.store(items.iter().map(|item| item.packet.length).sum(), Ordering::Relaxed);
    let next = AtomicUsize::new(0);
    let is_stopped = AtomicBool::new(false);
    let work = |collector: C| {
        let take = || items.get(next.fetch_add(1, Ordering::Relaxed)).copied();
        let (is_stopped, buffers) = (&is_stopped, Vec::new());
        let mut worker = Worker { progress, is_stopped, buffers, file: None, read: Read::new(collector) };
        if let ControlFlow::Break(stop) = worker.packets(take, window) {
            is_stopped.store(true, Ordering::Relaxed);
            worker.read.stopped = Some(stop);
        }
        worker.read
    };
    let threads = threads.clamp(1, items.len().max(1));
    let mut read = if threads == 1 {
        work(collector)
    } else {
        let parts: Vec<C> = (0..threads).map(|_| collector.split()).collect();
        let absorbed = Mutex::new(Read::new(collector));
        std::thread::scope(|scope| {
            for part in parts {
                let (work, absorbed) = (&work, &absorbed);
                scope.spawn(move || {
                    let read = work(part);
                    absorbed.lock().unwrap_or_else(PoisonError::into_inner).absorb(read);
                });
            }
        });
        absorbed.into_inner().unwrap_or_else(PoisonError::into_inner)
    };
    read.damage.sort();
    read.damage.truncate(MAX_DAMAGE);
    read
}

/// A packet, and what it is a packet of.
#[derive(Clone, Copy)]
struct Item<'j> {
    trace: usize,
    job: &'j Job<'j>,
    packet: &'j LocatedPacket,
}

/// What one thread keeps from packet to packet.
struct Worker<'p, C: Collect> {
    progress: &'p Progress,
    /// Whether the collector of any thread has ended the reading.
    is_stopped: &'p AtomicBool,
    /// To be used again.
    buffers: Vec<Vec<u8>>,
    /// The file that was read last, with the numbers of its trace and its own: the next packet is likely in it too.
    file: Option<((usize, usize), Rc<Bytes>)>,
    read: Read<C>,
}

impl<C: Collect> Worker<'_, C> {
    /// Reads packets for as long as there are any to take.
    fn packets<'j>(&mut self, take: impl Fn() -> Option<Item<'j>>, window: Window) -> ControlFlow<C::Stop> {
        let mut open: Vec<(Item<'j>, Rc<Bytes>, OpenPacket)> = Vec::new();
        loop {
            if self.is_stopped.load(Ordering::Relaxed) {
                return ControlFlow::Continue(());
            }
            while open.len() < 2 {
                let Some(item) = take() else { break };
                open.extend(self.open(item).map(|(bytes, packet)| (item, bytes, packet)));
            }
            if open.is_empty() {
                return ControlFlow::Continue(());
            }
            let parts = open
                .iter()
                .map(|(.., packet)| Decoding::new(&packet.plan, packet.part(), packet.cursor(), window));
            let mut parts: Vec<_> = parts.collect();
            let flow = decode(&mut parts, &mut self.read.collector);
            let ends: Vec<_> = parts.into_iter().map(|part| (part.cursor, part.tally, part.stop)).collect();
            for ((item, bytes, mut packet), (cursor, tally, stop)) in
                std::mem::take(&mut open).into_iter().zip(ends)
            {
                self.read.tally.add(tally);
                let Some(stop) = stop else { continue };
                if packet.goes_on(cursor, stop) {
                    match packet.read(&bytes) {
                        Ok(()) => open.push((item, bytes, packet)),
                        Err(error) => self.unreadable(item, &error),
                    }
                    continue;
                }
                if let Some((offset, reason)) = packet.verdict(stop) {
                    self.damaged(item, offset, reason);
                }
                self.done(item);
                self.buffers.push(packet.take_buffer());
            }
            flow?;
        }
    }

    fn open(&mut self, item: Item<'_>) -> Option<(Rc<Bytes>, OpenPacket)> {
        let Item { job, packet, .. } = item;
        let plan = Arc::clone(&job.plans[packet.header.stream]);
        let buffer = self.buffers.pop().unwrap_or_default();
        let opened = self.file(item).and_then(|bytes| {
            let packet = OpenPacket::open(job.metadata, plan, packet, &bytes, PART, buffer)?;
            Ok((bytes, packet))
        });
        opened.map_err(|error| self.unreadable(item, &error)).ok()
    }

    fn file(&mut self, Item { trace, job, packet }: Item<'_>) -> io::Result<Rc<Bytes>> {
        let key = (trace, packet.file);
        match &self.file {
            Some((known, bytes)) if *known == key => Ok(Rc::clone(bytes)),
            _ => {
                let bytes = Rc::new(job.files[packet.file].open()?);
                self.file = Some((key, Rc::clone(&bytes)));
                Ok(bytes)
            }
        }
    }

    fn unreadable(&mut self, item: Item<'_>, error: &io::Error) {
        self.damaged(item, item.packet.offset, format!("cannot be read: {error}"));
        self.done(item);
    }

    fn damaged(&mut self, Item { job, packet, .. }: Item<'_>, offset: u64, reason: String) {
        if self.read.damage.len() < MAX_DAMAGE {
            let path = job.files[packet.file].path.clone();
            self.read.damage.push(Damage { path, offset: Some(offset), reason });
        }
    }

    fn done(&self, Item { packet, .. }: Item<'_>) {
        self.progress.done.fetch_add(packet.length, Ordering::Relaxed);
    }
}
