//! What has arrived and has not been merged yet: between the threads that receive and the one that decodes.
//!
//! A stream that has enough waiting is not asked for more, so that a slow reader slows the receiving down and memory stays
//! bounded. Each stream has its own share, because a merge that waits for one stream cannot empty the others.
//!
//! A packet is handed out when every session of its lane has been asked for new streams after it arrived. A relay knows a
//! stream before its first event is recorded, so no stream appears later that has events before those in the packet.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ctf_reader::{NextPacket, Packet};

use crate::{Error, Status, Url};

/// The number of waiting packets of a stream from which on it is not asked for more.
const WAITING_PACKETS: usize = 4;

/// The number of bytes in packets, held by the inbox and the merge, from which on only empty streams are asked for more.
const WAITING_BYTES: usize = 32 << 20;

/// The most bytes that may be held at all.
const MAX_BYTES: usize = 1 << 30;

/// The bytes of memory that are kept for packets to come while nobody needs them.
const SPARE_BYTES: usize = WAITING_BYTES;

/// What has arrived, shared by all threads.
#[derive(Debug, Default)]
pub struct Inbox {
    state: Mutex<InboxState>,
    /// Something has arrived.
    arrived: Condvar,
    /// There is room again, or everything shall end.
    room: Condvar,
}

#[derive(Debug, Default)]
struct InboxState {
    sessions: Vec<SessionEntry>,
    traces: Vec<TraceQueue>,
    /// Whether anything has arrived since the reader last waited.
    has_news: bool,
    is_closing: bool,
    /// The packets that the inbox or the merge had when they were last counted, and those that came since.
    held: Vec<Arc<Vec<u8>>>,
    /// The bytes of their memory; some may have been merged since.
    held_bytes: usize,
    /// The memory of packets that were merged: it needs no clearing, and the kernel has given it already.
    spare: Vec<Vec<u8>>,
}

#[derive(Debug)]
struct SessionEntry {
    status: Status,
    /// The lane of the merge that its events are in.
    lane: usize,
    /// When it was last asked for new streams, and all that there were are known.
    asked: Option<Instant>,
    unseen_streams: u64,
}

#[derive(Debug)]
struct TraceQueue {
    session: usize,
    name: PathBuf,
    metadata: Vec<u8>,
    streams: Vec<StreamQueue>,
    is_complete: bool,
}

#[derive(Debug, Default)]
struct StreamQueue {
    /// The packets, and when they arrived.
    packets: VecDeque<(Instant, Packet)>,
    /// The clock's count up to which nothing was recorded after the last packet.
    quiet_until: Option<u64>,
    is_away: bool,
    has_ended: bool,
}

impl Inbox {
    fn lock(&self) -> MutexGuard<'_, InboxState> {
        // The state is consistent after each statement, so a thread that panicked has broken nothing.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes something that the reader must know.
    fn change<T>(&self, change: impl FnOnce(&mut InboxState) -> T) -> T {
        let mut state = self.lock();
        let changed = change(&mut state);
        state.has_news = true;
        self.arrived.notify_all();
        changed
    }

    // For the threads that receive:

    pub fn add_session(&self, lane: usize, status: Status) -> usize {
        self.change(|state| {
            state.sessions.push(SessionEntry { status, lane, asked: None, unseen_streams: 0 });
            state.sessions.len() - 1
        })
    }

    pub fn set_status(&self, session: usize, status: Status) {
        self.change(|state| state.sessions[session].status = status);
    }

    /// Notes the number of streams of a session that were not shown, on this connection.
    pub fn set_unseen(&self, session: usize, streams: u64) {
        self.change(|state| {
            let known = &mut state.sessions[session].unseen_streams;
            *known = streams.max(*known);
        });
    }

    /// Notes that all streams that a session had at this time are known.
    pub fn set_asked(&self, session: usize, time: Instant) {
        self.change(|state| state.sessions[session].asked = Some(time));
    }

    pub fn add_trace(&self, session: usize, name: PathBuf) -> usize {
        let (metadata, streams, is_complete) = (Vec::new(), Vec::new(), false);
        self.change(|state| {
            state.traces.push(TraceQueue { session, name, metadata, streams, is_complete });
            state.traces.len() - 1
        })
    }

    pub fn add_stream(&self, trace: usize) -> usize {
        self.change(|state| {
            let streams = &mut state.traces[trace].streams;
            streams.push(StreamQueue::default());
            streams.len() - 1
        })
    }

    pub fn add_metadata(&self, trace: usize, bytes: &[u8]) {
        self.change(|state| state.traces[trace].metadata.extend(bytes));
    }

    /// Counts the bytes of packets that are in memory, for [`has_room`](Inbox::has_room). That looks at all of them, so it is
    /// done once for all streams.
    pub fn count_held(&self) {
        self.lock().count_held();
    }

    /// Whether a stream should be asked for more.
    pub fn has_room(&self, trace: usize, stream: usize) -> bool {
        let state = self.lock();
        let waiting = state.traces[trace].streams[stream].packets.len();
        waiting == 0 || (waiting < WAITING_PACKETS && state.held_bytes < WAITING_BYTES)
    }

    /// Memory for a packet of this length, of one that was merged if there is any. Short packets do not take that of long ones.
    pub fn spare_memory(&self, length: usize) -> Vec<u8> {
        let spare = self.lock().spare.pop();
        spare.filter(|memory| memory.capacity() / 2 <= length).unwrap_or_default()
    }

    pub fn add_packet(
        &self,
        trace: usize,
        stream: usize,
        name: PathBuf,
        bytes: Vec<u8>,
    ) -> Result<(), Error> {
        let bytes = Arc::new(bytes);
        self.change(|state| {
            if state.held_bytes + bytes.capacity() > MAX_BYTES {
                state.count_held();
            }
            if state.held_bytes + bytes.capacity() > MAX_BYTES {
                return Err(Error::protocol(format!(
                    "the relay sends more than {} MiB that cannot be merged yet",
                    MAX_BYTES >> 20
                )));
            }
            state.held.push(Arc::clone(&bytes));
            state.held_bytes += bytes.capacity();
            let queue = &mut state.traces[trace].streams[stream];
            queue.packets.push_back((Instant::now(), Packet::from_bytes(name, bytes)));
            (queue.is_away, queue.quiet_until) = (false, None);
            Ok(())
        })
    }

    pub fn set_quiet(&self, trace: usize, stream: usize, until: u64) {
        self.change(|state| {
            let queue = &mut state.traces[trace].streams[stream];
            (queue.is_away, queue.quiet_until) = (false, Some(until));
        });
    }

    pub fn set_away(&self, trace: usize, stream: usize) {
        self.change(|state| state.traces[trace].streams[stream].is_away = true);
    }

    pub fn end_stream(&self, trace: usize, stream: usize) {
        self.change(|state| state.traces[trace].streams[stream].has_ended = true);
    }

    /// Ends all traces of a session.
    pub fn end_session(&self, session: usize, status: Status) {
        self.change(|state| {
            state.sessions[session].status = status;
            for trace in state.traces.iter_mut().filter(|trace| trace.session == session) {
                trace.is_complete = true;
                trace.streams.iter_mut().for_each(|stream| stream.has_ended = true);
            }
        });
    }

    /// Waits until there is room or everything shall end, and not longer than this. Returns whether it shall end.
    pub fn pause(&self, time: Duration) -> bool {
        let state = self.lock();
        let is_open = |state: &mut InboxState| !state.is_closing;
        let waited = self.room.wait_timeout_while(state, time, is_open);
        waited.unwrap_or_else(PoisonError::into_inner).0.is_closing
    }

    /// Waits until the reader takes a packet, or everything shall end, and not longer than this.
    pub fn wait_for_room(&self, time: Duration) -> bool {
        let state = self.lock();
        let (state, _) = self.room.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner);
        state.is_closing
    }

    pub fn is_closing(&self) -> bool {
        self.lock().is_closing
    }

    // For the thread that reads:

    /// Waits until something has arrived since the last time, and not longer than this. Returns whether it has.
    pub fn wait(&self, time: Duration) -> bool {
        let state = self.lock();
        let is_idle = |state: &mut InboxState| !state.has_news;
        let waited = self.arrived.wait_timeout_while(state, time, is_idle);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner).0;
        std::mem::take(&mut state.has_news)
    }

    /// Tells all threads to end.
    pub fn close(&self) {
        self.change(|state| state.is_closing = true);
        self.room.notify_all();
    }

    pub fn statuses(&self) -> Vec<Status> {
        let status = |SessionEntry { status, unseen_streams, .. }: &SessionEntry| Status {
            unseen_streams: *unseen_streams,
            ..status.clone()
        };
        self.lock().sessions.iter().map(status).collect()
    }

    pub fn lanes(&self) -> Vec<usize> {
        self.lock().sessions.iter().map(|session| session.lane).collect()
    }

    /// The names of the traces from a number on, where they come from, and their lanes.
    pub fn traces_from(&self, first: usize) -> Vec<(PathBuf, Url, usize)> {
        let state = self.lock();
        let from = |trace: &TraceQueue| {
            let SessionEntry { status, lane, .. } = &state.sessions[trace.session];
            (trace.name.clone(), status.url.clone(), *lane)
        };
        state.traces.iter().skip(first).map(from).collect()
    }

    pub fn take_metadata(&self, trace: usize) -> Vec<u8> {
        std::mem::take(&mut self.lock().traces[trace].metadata)
    }

    pub fn streams(&self, trace: usize) -> usize {
        self.lock().traces[trace].streams.len()
    }

    pub fn next_packet(&self, trace: usize, stream: usize) -> NextPacket {
        let mut state = self.lock();
        let lane = state.sessions[state.traces[trace].session].lane;
        let mut others = state.sessions.iter().filter(|session| session.lane == lane);
        let is_ready = state.traces[trace].streams[stream]
            .packets
            .front()
            .is_some_and(|(arrived, _)| others.all(|session| session.is_past(*arrived)));
        let queue = &mut state.traces[trace].streams[stream];
        let next = if is_ready { queue.packets.pop_front() } else { None };
        match next {
            Some((_, packet)) => {
                self.room.notify_all();
                NextPacket::Packet(packet)
            }
            None if !queue.packets.is_empty() => NextPacket::Quiet(None),
            None if queue.has_ended => NextPacket::End,
            None if queue.is_away => NextPacket::Away,
            None => NextPacket::Quiet(queue.quiet_until),
        }
    }

    pub fn is_complete(&self, trace: usize) -> bool {
        self.lock().traces[trace].is_complete
    }
}

impl SessionEntry {
    /// Whether all streams that existed at this time are known. A relay that is away is not waited for.
    fn is_past(&self, time: Instant) -> bool {
        match self.status.state {
            crate::State::Connecting | crate::State::Attached => self.asked.is_some_and(|asked| asked > time),
            _ => true,
        }
    }
}

impl InboxState {
    /// Counts the bytes in packets that the inbox or the merge holds.
    fn count_held(&mut self) {
        let mut spare_bytes: usize = self.spare.iter().map(Vec::capacity).sum();
        for packet in std::mem::take(&mut self.held) {
            match Arc::try_unwrap(packet) {
                Err(held) => self.held.push(held),
                Ok(memory) if spare_bytes + memory.capacity() <= SPARE_BYTES => {
                    spare_bytes += memory.capacity();
                    self.spare.push(memory);
                }
                Ok(_) => {}
            }
        }
        self.held_bytes = self.held.iter().map(|packet| packet.capacity()).sum();
        #[cfg(test)]
        tests::COUNTED.with(|counted| counted.set(counted.get() + self.held.len()));
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::State;

    thread_local! {
        /// The number of packets that were looked at to count their bytes.
        pub static COUNTED: Cell<usize> = const { Cell::new(0) };
    }

    #[test]
    fn filling_an_inbox_looks_at_each_packet_once_a_turn() {
        const STREAMS: usize = 1000;
        let inbox = Inbox::default();
        let url: Url = "net://localhost/demo".parse().unwrap();
        let session = inbox.add_session(0, Status::new(&url, State::Attached));
        let trace = inbox.add_trace(session, "trace".into());
        (0..STREAMS).for_each(|_| _ = inbox.add_stream(trace));
        for turn in 0..=WAITING_PACKETS {
            inbox.count_held();
            for stream in 0..STREAMS {
                assert_eq!(inbox.has_room(trace, stream), turn < WAITING_PACKETS);
                if turn < WAITING_PACKETS {
                    inbox.add_packet(trace, stream, "packet".into(), vec![0; 100]).unwrap();
                }
            }
        }
        let waiting: usize = (0..=WAITING_PACKETS).map(|turn| turn * STREAMS).sum();
        assert_eq!(COUNTED.with(Cell::get), waiting);
        assert_eq!(inbox.lock().held_bytes, WAITING_PACKETS * STREAMS * 100);
    }

    #[test]
    fn memory_of_merged_packets_is_used_again_and_bounded() {
        const LENGTH: usize = 1 << 20;
        let inbox = Inbox::default();
        let url: Url = "net://localhost/demo".parse().unwrap();
        let session = inbox.add_session(0, Status::new(&url, State::Ended));
        let trace = inbox.add_trace(session, "trace".into());
        let stream = inbox.add_stream(trace);
        let spare = || {
            inbox.count_held();
            inbox.lock().spare.len()
        };
        for _ in 0..50 {
            inbox.add_packet(trace, stream, "packet".into(), vec![7; LENGTH]).unwrap();
        }
        assert_eq!((spare(), inbox.lock().held_bytes), (0, 50 * LENGTH), "they wait");
        while let NextPacket::Packet(_) = inbox.next_packet(trace, stream) {}
        assert_eq!((spare(), inbox.lock().held_bytes), (SPARE_BYTES / LENGTH, 0));
        assert_eq!(inbox.spare_memory(LENGTH), [7; LENGTH], "it is not cleared");
        assert_eq!(inbox.spare_memory(LENGTH / 2 - 1), [0; 0], "a short packet does not take it");
        assert_eq!(spare(), SPARE_BYTES / LENGTH - 2);
    }
}
