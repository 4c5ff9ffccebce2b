//! Packets to events in the order of time: a k-way merge over packets.
//!
//! Within a packet events are in order. A packet is opened when the merge reaches the earliest time that its header
//! allows, its *floor*, and then offers its next event to the merge until it has none left:
//!
//! ```text
//!              stream 0   │ packet ──────────│   │ packet ───────│      │ packet (not open) …
//!              stream 1      │ packet ───────────────│  │ packet (not open) …
//!                                     ^ the merge: the earliest of all next events, unless a floor is earlier
//! ```
//!
//! So packets of one stream may overlap, as they do where a tracer closed one before it had written its last events or
//! where a clock was set back between them, and memory is bounded by the packets that are open at a time. A stream
//! that has nothing yet, as over a network, holds back the events after its *watermark*, the time up to which it is known
//! to be complete. A stream that is *away* holds nothing back.
//!
//! Packets are read and their events located some thousands at a time, [ahead](super::ahead) of the merge and on other threads
//! where there are any; what is left to the merge is to compare times and to hand out what is between two of them.
//!
//! Events of the same time come in the order of their streams, and then of their packets and positions in them.
//!
//! Traces may be in several *lanes*. Each lane is merged by itself, so one that has to wait does not hold back the others.

use std::cmp::Reverse;
use std::ops::{ControlFlow, RangeInclusive};
use std::path::PathBuf;
use std::sync::Arc;

use super::active_packet::ActivePacket;
use super::ahead::{Crew, Helper};
use super::arrivals::Arrivals;
use super::digest::{DigestedEvent, DigestedRun, Digester};
use super::in_turns::{Turns, in_turns, sides};
use super::lane::{Current, Head, Lane};
use super::located_events::LocatedEvents;
use super::merged::Next;
use super::ordered_event::OrderedEvent;
use super::packet_reader::{PacketReader, Portion};
use super::packet_source::PacketSource;
use super::step::{Pause, Step};
use crate::decode::tally::Tally;
use crate::layout::{Layout, Want};
use crate::{EventClass, Gap, Progress, Report, Trace, Wanted, Window};

/// Events in the order of time; [`Reader::in_order`](crate::Reader::in_order) makes one.
///
/// ```
/// # mod made { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/example.rs")); }
/// # use made::*;
/// use ctf_reader::{Step, Window, all_fields};
///
/// let reader = example();
/// let mut events = reader.in_order(Window::default(), all_fields);
/// let mut times = Vec::new();
/// while let Step::Event(event) = events.next_event() {
///     times.push((event.timestamp(), event.stream()));
/// }
/// assert_eq!(times, [(10, 0), (20, 1), (30, 0)]);
/// assert_eq!(events.report().events, 3);
/// ```
pub struct InOrder<'r> {
    /// What is not open yet.
    arrivals: Arrivals<'r>,
    limits: RangeInclusive<i64>,
    /// Packets that are open, and in free slots those that were, whose memory is used again.
    open: Vec<ActivePacket>,
    free: Vec<usize>,
    /// The lanes; there is always one.
    lanes: Vec<Lane>,
    /// The lane that the last event came from.
    lane: usize,
    /// The packet that the last event came from.
    current: Option<Current>,
    tally: Tally,
    /// Those who read ahead.
    crew: Crew,
    digester: Option<Arc<dyn Digester>>,
    progress: Option<&'r Progress>,
    /// The size of all packets that are known from the start, in bytes.
    size: u64,
    /// Whether sources may still be added.
    expects_sources: bool,
}

/// What the merge found to be next.
enum Choice {
    Packet(usize),
    Wait,
    End,
}

impl<'r> InOrder<'r> {
    /// Merges the packets of sources, each of which is a trace. `want` says for each event class which fields to
    /// decode, as [`Collect::want`](crate::Collect::want) does, also of classes that metadata adds later.
    pub fn new(
        sources: Vec<Box<dyn PacketSource + 'r>>,
        window: Window,
        want: impl FnMut(&Arc<EventClass>) -> Option<Wanted> + 'r,
    ) -> InOrder<'r> {
        let mut merge = InOrder::of(window, 1, Box::new(want), Report::default());
        sources.into_iter().for_each(|source| merge.add_source("", source));
        merge
    }

    /// Adds a trace whose packets are merged from now on. Damage is reported under its name.
    ///
    /// Its events may be earlier than those that have been handed out already.
    pub fn add_source(&mut self, name: impl Into<PathBuf>, source: Box<dyn PacketSource + 'r>) {
        self.add_source_to(0, name, source);
    }

    /// Adds a trace to a lane. Lanes are counted from 0, which [`add_source`](InOrder::add_source) adds to.
    ///
    /// Events are in order among those of a lane only, and no lane waits for another.
    pub fn add_source_to(
        &mut self,
        lane: usize,
        name: impl Into<PathBuf>,
        source: Box<dyn PacketSource + 'r>,
    ) {
        self.arrivals.report.traces.push(Trace { folders: vec![name.into()], ..Trace::default() });
        if self.lanes.len() <= lane {
            self.lanes.resize_with(lane + 1, Lane::default);
        }
        self.arrivals.add(lane, source, Arc::new(Layout::default()));
    }

    /// Says whether sources may still be added. As long as they may, [`Step::Wait`] comes where [`Step::End`] would.
    pub fn expect_sources(&mut self, expects: bool) {
        self.expects_sources = expects;
    }

    /// Asks all sources for metadata and streams, and streams that are [away](crate::NextPacket::Away) for packets.
    ///
    /// The merge asks a source by itself when one of its streams has nothing left. A program that merges what arrives
    /// over time calls this before the next step after [`Step::Wait`], and from time to time while events never end.
    pub fn look_for_more(&mut self) {
        self.arrivals.look_for_more();
        self.lanes.iter_mut().for_each(|lane| lane.is_waiting = false);
        if let Some(current) = &mut self.current {
            current.floor = self.arrivals.floor(self.lane).map(|(time, _)| time);
        }
    }

    /// The time before which nothing more is to come, except from streams that are away or not known yet.
    pub fn watermark(&self) -> Option<i64> {
        (0..self.lanes.len()).filter_map(|lane| self.watermark_of(lane)).min()
    }

    /// The [watermark](InOrder::watermark) of a lane.
    pub fn watermark_of(&self, lane: usize) -> Option<i64> {
        let current = self.current.filter(|_| lane == self.lane);
        let current = current.and_then(|current| self.open[current.slot].next_time());
        let head = self.lanes.get(lane)?.heads.peek().map(|Reverse(head)| head.0);
        let floor = self.arrivals.floor(lane).map(|(time, _)| time);
        [current, head, floor].into_iter().flatten().min().filter(|&time| time > i64::MIN)
    }

    /// Merges the packets of traces that are added before the first step, on this number of threads.
    pub(crate) fn of(window: Window, threads: usize, want: Box<Want<'r>>, report: Report) -> InOrder<'r> {
        InOrder {
            arrivals: Arrivals::new(want, report),
            limits: window.limits(),
            open: Vec::new(),
            free: Vec::new(),
            lanes: vec![Lane::default()],
            lane: 0,
            current: None,
            tally: Tally::default(),
            crew: Crew::new(threads),
            digester: None,
            progress: None,
            size: 0,
            expects_sources: false,
        }
    }

    /// Adds a trace, whose packets have this size as far as they are known; its layout may come with its metadata.
    pub(crate) fn add(&mut self, source: Box<dyn PacketSource + 'r>, layout: Arc<Layout>, size: u64) {
        self.size += size;
        self.arrivals.add(0, source, layout);
    }

    /// Lets another thread see how far reading has come.
    pub fn with_progress(mut self, progress: &'r Progress) -> InOrder<'r> {
        progress.set_total(self.size);
        self.progress = Some(progress);
        self
    }

    /// Has events digested where they are read.
    pub fn with_digester(mut self, digester: Arc<dyn Digester>) -> InOrder<'r> {
        self.digester = Some(digester);
        self
    }

    /// Has a thread that works on what is handed out read ahead at times, in place of one that does nothing else.
    pub fn helper(&mut self) -> Helper {
        self.crew.helper()
    }

    /// The next event, or why none can be handed out.
    #[inline]
    pub fn next_event(&mut self) -> Step<'_> {
        match self.next_packet() {
            Choice::Packet(slot) => {
                let packet = &self.open[slot];
                // There is one, or the packet would not have been chosen.
                let (Some(next), Some(view)) = (packet.events.peek(), packet.view()) else {
                    return Step::End;
                };
                self.tally.count(1, next.timestamp, next.timestamp);
                Step::Event(view.event(next, packet.events.next_place()))
            }
            Choice::Wait => Step::Wait,
            Choice::End => Step::End,
        }
    }

    /// Hands out events, at most this number, until a function wants no more of them. That is faster than one
    /// [`next_event`](InOrder::next_event) after the other: most events come before all others together with their neighbours.
    #[inline]
    pub fn next_events(
        &mut self,
        most: usize,
        mut take: impl FnMut(&OrderedEvent<'_>) -> ControlFlow<()>,
    ) -> Pause {
        self.next_runs(most, |run| run.each(|digested| take(&digested.event())))
    }

    /// Hands out events like [`next_events`](InOrder::next_events), for consumers that need no more of most of them than what a
    /// [`Digester`] made of them.
    #[inline]
    pub fn next_digests(
        &mut self,
        most: usize,
        mut take: impl FnMut(DigestedEvent<'_>) -> ControlFlow<()>,
    ) -> Pause {
        self.next_runs(most, |run| run.each(&mut take))
    }

    /// Hands out events like [`next_digests`](InOrder::next_digests), as many at once as come before all others. A function that
    /// wants no more of them says how many it took, which is one at least.
    #[inline]
    pub fn next_runs(
        &mut self,
        most: usize,
        mut take: impl FnMut(DigestedRun<'_>) -> ControlFlow<usize>,
    ) -> Pause {
        let mut left = most;
        while left > 0 {
            let slot = match self.next_packet() {
                Choice::Packet(slot) => slot,
                Choice::Wait => return Pause::Wait,
                Choice::End => return Pause::End,
            };
            let (Some(current), Some(time)) = (self.current, self.open[slot].next_time()) else { break };
            let (other, last) = self.lanes[self.lane].beside(&current, time);
            let second = other.map(|(.., slot)| &self.open[slot]);
            let Some(sides) = sides(&self.open[slot], second) else { break };
            let turns = in_turns(&sides, last, left, &mut take);
            let Some(last) = turns.taken[turns.side].checked_sub(1) else { break };
            let taken = turns.taken[0] + turns.taken[1];
            self.tally.count(taken as u64, time, sides[turns.side].events[last].timestamp);
            left -= taken;
            self.pass(current, other, &turns);
            if turns.is_stopped {
                break;
            }
        }
        Pause::Enough
    }

    /// Passes events of the current packet and another one, but for the last, which is passed when the next is asked for.
    #[inline(always)]
    fn pass(&mut self, current: Current, other: Option<Head>, turns: &Turns) {
        let [mine, others] = turns.taken;
        let is_other = turns.side == 1;
        self.open[current.slot].events.advance(mine - usize::from(!is_other));
        let Some(other) = other.filter(|_| others > 0) else { return };
        self.open[other.3].events.advance(others - usize::from(is_other));
        let mine = (i64::MAX, current.stream, current.number, current.slot);
        let (next, (_, stream, number, slot)) = if is_other { (other, mine) } else { (mine, other) };
        // It has more events, or it would have been the last.
        let time = self.open[slot].next_time().unwrap_or(i64::MAX);
        let lane = &mut self.lanes[self.lane];
        lane.replace_first((time, stream, number, slot));
        self.current = Some(lane.current(next, current.floor));
    }

    /// Passes the last event, and finds the packet that has the next one.
    #[inline(always)]
    fn next_packet(&mut self) -> Choice {
        if let Some(current) = self.current {
            let packet = &mut self.open[current.slot];
            packet.events.advance(1);
            if let Some(time) = packet.next_time() {
                if time <= current.last {
                    return Choice::Packet(current.slot);
                }
                if let Some(other) = self.lanes[self.lane].take_turns(current, time) {
                    self.current = Some(other);
                    return Choice::Packet(other.slot);
                }
            }
            self.put_back(current);
        }
        self.choose()
    }

    /// Where events are missing before packets that have come since the last call. For traces that are complete from the
    /// start, [`Reader::gaps`](crate::Reader::gaps) has the gaps.
    pub fn new_gaps(&mut self) -> Vec<Gap> {
        std::mem::take(&mut self.arrivals.gaps)
    }

    /// What was found other than the events; it is complete when the last event has been handed out.
    pub fn report(&self) -> Report {
        let mut report = self.arrivals.report();
        self.tally.add_to(&mut report);
        report.damage.sort();
        report
    }

    /// Returns the current packet to the others.
    #[inline(never)]
    fn put_back(&mut self, current: Current) {
        self.current = None;
        self.settle(current.slot);
    }

    /// Finds the next packet of the next lane that has one.
    #[inline(never)]
    fn choose(&mut self) -> Choice {
        let mut is_end = true;
        for _ in 0..self.lanes.len() {
            self.lane = (self.lane + 1) % self.lanes.len();
            if !self.lanes[self.lane].is_waiting {
                match self.choose_in_lane() {
                    Choice::Packet(slot) => return Choice::Packet(slot),
                    Choice::Wait => self.lanes[self.lane].is_waiting = true,
                    Choice::End => continue,
                }
            }
            is_end = false;
        }
        // The next time all of them are asked again.
        self.lanes.iter_mut().for_each(|lane| lane.is_waiting = false);
        if is_end { Choice::End } else { Choice::Wait }
    }

    /// Finds the packet with the earliest event of the lane, and opens others as their floors are reached.
    fn choose_in_lane(&mut self) -> Choice {
        let lane = self.lane;
        loop {
            let head = self.lanes[lane].heads.peek().map(|Reverse(head)| *head);
            let floor = self.arrivals.floor(lane);
            match (head, floor) {
                // At the same time too: what is not open may have an event that goes first.
                (_, Some((time, stream))) if head.is_none_or(|head| time <= head.0) => {
                    self.arrivals.pop_floor(lane);
                    if self.arrivals.streams[stream].next.is_some() {
                        self.open_next(stream);
                    } else if !self.arrivals.ask_again(stream) {
                        return Choice::Wait;
                    }
                }
                (Some(head), _) => {
                    self.lanes[lane].heads.pop();
                    let current = self.lanes[lane].current(head, floor.map(|(time, _)| time));
                    self.current = Some(current);
                    return Choice::Packet(current.slot);
                }
                (None, _) => {
                    // Every stream has ended or is away; there may be new ones.
                    self.arrivals.look_for_more();
                    if self.arrivals.floor(lane).is_none() {
                        let is_end = self.arrivals.is_complete() && !self.expects_sources;
                        return if is_end { Choice::End } else { Choice::Wait };
                    }
                }
            }
        }
    }

    /// Opens a stream's next packet, and looks for the one after it.
    fn open_next(&mut self, stream: usize) {
        self.leave(stream);
        let arrivals = &mut self.arrivals;
        let entry = &mut arrivals.streams[stream];
        let (number, trace) = (entry.packets, &arrivals.traces[entry.trace]);
        let Some(Next { packet, place, .. }) = entry.next.take() else { return };
        entry.packets += 1;
        entry.open += 1;
        if let Some(end) = packet.header.end {
            let timebase = &trace.layout.timebases[packet.header.stream];
            entry.watermark = entry.watermark.max(timebase.time(end));
        }
        let slot = self.free.pop().unwrap_or(self.open.len());
        let events = LocatedEvents::default();
        let length = packet.length;
        let active = ActivePacket { events, next: place, damage: None, length, stream, number };
        match self.open.get_mut(slot) {
            Some(free) => *free = active,
            None => self.open.push(active),
        }
        self.settle(slot);
        self.arrivals.find_next(stream);
        // What arrives over time is opened as late as possible: metadata that it needs may still come.
        let is_file = |next: &Next| next.storage.is_file();
        if self.portion().ahead > 0 && self.arrivals.streams[stream].next.as_ref().is_some_and(is_file) {
            self.leave(stream);
        }
    }

    /// Leaves a stream's next packet to be opened and its first events to be located, unless that was done.
    fn leave(&mut self, stream: usize) {
        let portion = self.portion();
        let Arrivals { streams, traces, .. } = &mut self.arrivals;
        let trace = &traces[streams[stream].trace];
        let Some(Next { storage, packet, place: place @ None }) = &mut streams[stream].next else { return };
        let (layout, plan) = (Arc::clone(&trace.layout), Arc::clone(&trace.plans[packet.header.stream]));
        let (limits, digester) = (self.limits.clone(), self.digester.clone());
        let (storage, packet) = (storage.clone(), packet.clone());
        let reader = PacketReader::new(storage, packet, layout, plan, portion, limits, digester);
        *place = Some(self.crew.leave(Box::new(reader)));
    }

    /// How much is read at a time.
    fn portion(&self) -> Portion {
        Portion::of(self.arrivals.lasting, self.crew.is_empty())
    }

    /// Puts an open packet where the merge finds it, or closes it if it has no more events.
    fn settle(&mut self, slot: usize) {
        let packet = &mut self.open[slot];
        match packet.refill(&mut self.crew, &mut self.arrivals.files, &mut self.tally) {
            Some(time) => {
                let lane = self.arrivals.traces[self.arrivals.streams[packet.stream].trace].lane;
                self.lanes[lane].heads.push(Reverse((time, packet.stream, packet.number, slot)));
            }
            None => self.close(slot),
        }
    }

    /// Closes a packet that has no more events.
    fn close(&mut self, slot: usize) {
        let ActivePacket { stream, length, .. } = self.open[slot];
        if let Some(damage) = self.open[slot].damage.take() {
            self.arrivals.damaged(damage);
        }
        if let Some(progress) = self.progress {
            progress.add(length);
        }
        self.crew.reuse(std::mem::take(&mut self.open[slot].events));
        self.free.push(slot);
        self.arrivals.streams[stream].open -= 1;
        // The stream's next packet may have had to wait for this one.
        self.arrivals.give_floor(stream);
    }
}
