//! Packets to events in any order, on all threads.
//!
//! Each packet begins with a full timestamp, so packets can be decoded in any order. Threads take packets
//! from one list, each thread has its own collector, and the collectors are absorbed in the end:
//!
//! ```text
//! packets ─┬─> thread: read parts, decode their events into a collector ─┬─absorb─> collector
//!          └─> thread: …                                                 ┘
//! ```
//!
//! Each thread reads two packets at a time, which are [decoded](crate::decode::fast::run) in turns. Of packets of which an earlier
//! reading has noted all events that are wanted, only these are decoded.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;
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
use crate::packets::notes::{NotedEvents, Noting, PacketKey, PacketNotes};
use crate::{Collect, Damage, Progress, Window};

/// The most places of damage that a [`Report`](crate::Report) lists.
pub const MAX_DAMAGE: usize = 1000;

/// The most batches of events whose room is used again.
const MAX_ROWS: usize = 64;

/// Packets of one trace and how to decode them.
#[derive(Debug)]
pub struct TraceTask<'t> {
    /// The layout of the packets.
    pub metadata: &'t Metadata,
    /// How to decode the events, for each stream class.
    pub plans: Vec<Arc<StreamPlan>>,
    /// The files that hold the packets.
    pub files: &'t [Arc<Location>],
    /// The packets, each once.
    pub packets: Vec<&'t LocatedPacket>,
}

/// The result of reading packets.
pub struct ReadOutcome<C: Collect> {
    pub collector: C,
    pub stopped: Option<C::Stop>,
    pub tally: Tally,
    pub damage: Vec<Damage>,
    /// What this reading has noted.
    pub noting: Noting,
}

impl<C: Collect> ReadOutcome<C> {
    fn new(collector: C) -> ReadOutcome<C> {
        ReadOutcome {
            collector,
            stopped: None,
            tally: Tally::default(),
            damage: Vec::new(),
            noting: Noting::default(),
        }
    }

    fn absorb(&mut self, other: ReadOutcome<C>) {
        self.collector.absorb(other.collector);
        self.stopped = self.stopped.take().or(other.stopped);
        self.tally.add(other.tally);
        self.damage.extend(other.damage);
        self.noting.packets.extend(other.noting.packets);
    }
}

/// Reads all packets, on this number of threads; of those with notes only the noted events.
pub fn read<C: Collect>(
    tasks: &[TraceTask<'_>],
    notes: &NotedEvents,
    window: Window,
    threads: usize,
    collector: C,
    progress: &Progress,
) -> ReadOutcome<C> {
    let mut packet_tasks: Vec<PacketTask<'_>> = tasks
        .iter()
        .enumerate()
        .flat_map(|(trace, trace_task)| {
            trace_task.packets.iter().map(move |&packet| PacketTask { trace, trace_task, packet })
        })
        .collect();
    // In the order of the files, so that the system reads ahead.
    packet_tasks.sort_by_key(|task| (task.trace, task.packet.file, task.packet.offset));
    progress.set_total(packet_tasks.iter().map(|task| task.packet.length).sum());
    let next = AtomicUsize::new(0);
    let is_stopped = AtomicBool::new(false);
    let work = |collector: C| {
        let take = || packet_tasks.get(next.fetch_add(1, Ordering::Relaxed)).copied();
        let (is_stopped, buffers, rows) = (&is_stopped, Vec::new(), Vec::new());
        let mut worker = Worker {
            progress,
            is_stopped,
            notes,
            buffers,
            rows,
            file: None,
            read: ReadOutcome::new(collector),
        };
        if let ControlFlow::Break(stop) = worker.packets(take, window) {
            is_stopped.store(true, Ordering::Relaxed);
            worker.read.stopped = Some(stop);
        }
        worker.read
    };
    let threads = threads.clamp(1, packet_tasks.len().max(1));
    let mut read = if threads == 1 {
        work(collector)
    } else {
        let parts: Vec<C> = (0..threads).map(|_| collector.split()).collect();
        let absorbed = Mutex::new(ReadOutcome::new(collector));
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

#[derive(Clone, Copy)]
struct PacketTask<'j> {
    trace: usize,
    trace_task: &'j TraceTask<'j>,
    packet: &'j LocatedPacket,
}

impl PacketTask<'_> {
    fn key(&self) -> PacketKey {
        (self.trace, self.packet.file, self.packet.offset)
    }

    fn path(&self) -> &Path {
        &self.trace_task.files[self.packet.file].path
    }
}

/// What one thread keeps from packet to packet.
struct Worker<'p, C: Collect> {
    progress: &'p Progress,
    /// Whether the collector of any thread has ended the reading.
    is_stopped: &'p AtomicBool,
    /// What an earlier reading has noted.
    notes: &'p NotedEvents,
    /// For reuse.
    buffers: Vec<Vec<u8>>,
    rows: Vec<Vec<u32>>,
    /// The file that was read last, with the numbers of its trace and its own: the next packet is likely in it too.
    file: Option<((usize, usize), Rc<Bytes>)>,
    read: ReadOutcome<C>,
}

impl<C: Collect> Worker<'_, C> {
    /// Reads packets until none are left.
    fn packets<'j>(
        &mut self,
        take: impl Fn() -> Option<PacketTask<'j>>,
        window: Window,
    ) -> ControlFlow<C::Stop> {
        let mut open: Vec<(PacketTask<'j>, Rc<Bytes>, OpenPacket)> = Vec::new();
        loop {
            if self.is_stopped.load(Ordering::Relaxed) {
                return ControlFlow::Continue(());
            }
            while open.len() < 2 {
                let Some(task) = take() else { break };
                if let Some(notes) = self.notes.of(task.key()) {
                    self.noted(task, notes, window)?;
                    continue;
                }
                open.extend(self.open(task, window).map(|(bytes, packet)| (task, bytes, packet)));
            }
            if open.is_empty() {
                return ControlFlow::Continue(());
            }
            let share = self.rows.len().div_ceil(open.len());
            let mut parts: Vec<Decoding<'_>> = Vec::new();
            for (.., packet) in &open {
                let rows = self.rows.split_off(self.rows.len().saturating_sub(share));
                parts.push(Decoding::new(&packet.plan, packet.part(), packet.cursor, window, rows));
            }
            let flow = decode(&mut parts, &mut self.read.collector);
            let mut ends = Vec::new();
            for mut part in parts {
                let notes = std::mem::take(&mut part.notes);
                ends.push((part.cursor, part.tally, part.stop, notes));
                self.rows.extend(part.into_rows());
            }
            self.rows.truncate(MAX_ROWS);
            for ((task, bytes, mut packet), (cursor, tally, stop, notes)) in
                std::mem::take(&mut open).into_iter().zip(ends)
            {
                self.read.tally.add(tally);
                packet.is_stepped |= tally.steps.count > 0;
                packet.note(notes);
                let Some(stop) = stop else { continue };
                if packet.goes_on(cursor, stop) {
                    match packet.read(&bytes, Vec::new) {
                        Ok(()) => open.push((task, bytes, packet)),
                        Err(error) => self.unreadable(task, &error),
                    }
                    continue;
                }
                match packet.verdict(stop) {
                    Some((offset, reason)) => self.damaged(Damage::new(task.path(), reason).at(offset)),
                    None => task.packet.marks.note(packet.take_marks()),
                }
                self.read.noting.keep(task.key(), std::mem::take(&mut packet.notes));
                self.done(task);
                self.buffers.extend(packet.into_buffer());
            }
            flow?;
        }
    }

    /// Reads the noted events of a packet.
    #[inline(never)]
    fn noted(&mut self, task: PacketTask<'_>, notes: &PacketNotes, window: Window) -> ControlFlow<C::Stop> {
        let mut parts = notes.parts.iter().filter(|part| !part.is_empty()).peekable();
        let Some((bytes, mut packet)) = parts.peek().and_then(|_| self.open(task, window)) else {
            self.done(task);
            return ControlFlow::Continue(());
        };
        for noted in parts {
            if let Err(error) = packet.read_noted(noted, &bytes) {
                self.unreadable(task, &error);
                return ControlFlow::Continue(());
            }
            let rows = std::mem::take(&mut self.rows);
            let mut part = Decoding::new(&packet.plan, packet.part(), packet.cursor, window, rows);
            let flow = part.noted(noted, &mut self.read.collector);
            self.read.tally.add(part.tally);
            self.rows.extend(part.into_rows());
            flow?;
        }
        self.done(task);
        self.buffers.extend(packet.into_buffer());
        ControlFlow::Continue(())
    }

    fn open(&mut self, task: PacketTask<'_>, window: Window) -> Option<(Rc<Bytes>, OpenPacket)> {
        let PacketTask { trace_task, packet, .. } = task;
        let plan = Arc::clone(&trace_task.plans[packet.header.stream]);
        let buffer = self.buffers.pop().unwrap_or_default();
        let opened = self.file(task).and_then(|bytes| {
            let limits = (PART, &window.limits());
            let packet = OpenPacket::open(trace_task.metadata, plan, packet, &bytes, limits, buffer)?;
            Ok((bytes, packet))
        });
        opened.map_err(|error| self.unreadable(task, &error)).ok()
    }

    fn file(&mut self, PacketTask { trace, trace_task, packet }: PacketTask<'_>) -> io::Result<Rc<Bytes>> {
        let key = (trace, packet.file);
        match &self.file {
            Some((known, bytes)) if *known == key => Ok(Rc::clone(bytes)),
            _ => {
                let bytes = Rc::new(trace_task.files[packet.file].open()?);
                self.file = Some((key, Rc::clone(&bytes)));
                Ok(bytes)
            }
        }
    }

    fn unreadable(&mut self, task: PacketTask<'_>, error: &io::Error) {
        self.damaged(Damage::io(task.path(), "read", error).at(task.packet.offset));
        self.done(task);
    }

    fn damaged(&mut self, damage: Damage) {
        if self.read.damage.len() < MAX_DAMAGE {
            self.read.damage.push(damage);
        }
    }

    fn done(&self, PacketTask { packet, .. }: PacketTask<'_>) {
        self.progress.add(packet.length);
    }
}
