//! Traces, opened: their metadata is understood and their packets are found.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::collect::{Collect, Collected, Nothing};
use crate::deliver::file_source::FileSource;
use crate::deliver::ordered::InOrder;
use crate::deliver::unordered::{self, TraceTask};
use crate::discover::{Discovery, TraceFiles, discover};
use crate::layout::{Layout, Want};
use crate::metadata::{self, Metadata};
use crate::open_trace::OpenTrace;
use crate::packets::notes::NotedEvents;
use crate::packets::{LocatedPacket, TracePackets};
use crate::{Damage, Error, EventClass, Gap, PacketInfo, Progress, Report, Trace, Wanted, Window};

/// Reads traces.
///
/// All metadata is read and all packets are found when the reader is opened, once, and any number of readings can
/// follow.
///
/// ```
/// # mod made { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/example.rs")); }
/// # use made::*;
/// let reader = example();
/// assert_eq!(reader.span(), Some(10..=30));
/// let classes: Vec<_> = reader.classes().map(|class| class.name.as_str()).collect();
/// assert_eq!(classes, ["hello:greeted"]);
/// ```
#[derive(Debug)]
pub struct Reader {
    traces: Vec<OpenTrace>,
    damage: Vec<Damage>,
    threads: usize,
}

impl Reader {
    /// Opens all traces in and below the given folders.
    ///
    /// What cannot be read is reported as [damage](Report::damage); it is an error only if nothing is left.
    pub fn open<P: AsRef<Path>>(folders: &[P]) -> Result<Reader, Error> {
        Reader::open_found(discover(folders)?)
    }

    /// Opens the traces that were found.
    pub fn open_found(found: Discovery) -> Result<Reader, Error> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let mut reader = Reader { traces: Vec::new(), damage: found.damage, threads };
        let mut next_class = 0;
        for files in found.traces {
            if let Some(metadata) = reader.metadata_of(&files) {
                let layout = Layout::new(metadata, reader.traces.len(), &Layout::default(), &mut next_class);
                let packets = TracePackets::find(&layout.metadata, files.streams);
                let layout = Arc::new(layout);
                reader.traces.push(OpenTrace { folders: files.folders, layout, packets });
            }
        }
        match reader.damage.first() {
            Some(first) if reader.traces.is_empty() => Err(first.into()),
            _ => Ok(reader),
        }
    }

    /// Opens a trace that is in memory: the bytes of its metadata file, and of its stream files under a name.
    pub fn from_bytes(metadata: &[u8], streams: Vec<(PathBuf, Arc<[u8]>)>) -> Result<Reader, Error> {
        let traces = vec![TraceFiles::from_bytes(metadata.to_vec(), streams)];
        Reader::open_found(Discovery { traces, damage: Vec::new() })
    }

    /// Sets the number of threads that decode; by default there is one for each core.
    pub fn threads(mut self, threads: usize) -> Reader {
        self.threads = threads.max(1);
        self
    }

    /// What is known of each trace without reading its events.
    pub fn traces(&self) -> Vec<Trace> {
        self.report(Window::default()).traces
    }

    /// All event classes, in the order of their [index](EventClass::index).
    pub fn classes(&self) -> impl Iterator<Item = &Arc<EventClass>> {
        self.traces.iter().flat_map(|trace| trace.layout.classes.iter().flatten())
    }

    /// The times of the first and the last event, without reading all of them.
    pub fn span(&self) -> Option<RangeInclusive<i64>> {
        let tasks = self.traces.iter().map(|trace| {
            let mut packets: Vec<_> = trace.packets.ends().flatten().collect();
            packets.dedup_by(|one, other| std::ptr::eq(*one, *other));
            trace_task(trace, &mut |_| None, packets.into_iter())
        });
        let tasks: Vec<_> = tasks.collect();
        let (notes, window) = (NotedEvents::default(), Window::default());
        let read = unordered::read(&tasks, &notes, window, self.threads, Nothing, &Progress::default());
        read.tally.span()
    }

    /// The least and the most time between the first and the last event, in nanoseconds, as far as the headers of packets say
    /// it: no event is read. `None` if they do not, as where a packet was not closed.
    pub fn length(&self) -> Option<RangeInclusive<u64>> {
        let streams = self.traces.iter().flat_map(OpenTrace::ends);
        let both = |one: [i64; 2], other: [i64; 2], bound: fn(i64, i64) -> i64| {
            [bound(one[0], other[0]), bound(one[1], other[1])]
        };
        let all = streams.reduce(|one, other| {
            let ([first, last], [others_first, others_last]) = (one?, other?);
            Some([both(first, others_first, i64::min), both(last, others_last, i64::max)])
        });
        let [first, last] = all??;
        let between = |from: i64, to: i64| if to > from { to.abs_diff(from) } else { 0 };
        Some(between(first[1], last[0])..=between(first[0], last[1]))
    }

    /// Reads all events in the window, in any order, on all threads.
    pub fn read<C: Collect>(&self, window: Window, collector: C, progress: &Progress) -> Collected<C> {
        self.read_noted(&mut NotedEvents::default(), window, collector, progress)
    }

    /// The same, but where an earlier reading of the window has [noted](Collect::noted) events, only these are read: the report
    /// counts no others. What this reading notes is added. Events can be noted that consist of whole bytes, after one of LTTng's
    /// headers; packets with others are read as a whole again.
    ///
    /// ```
    /// # mod made { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/example.rs")); }
    /// # use made::*;
    /// use std::convert::Infallible;
    /// use std::ops::ControlFlow;
    /// use std::sync::Arc;
    ///
    /// use ctf_reader::{Collect, EventClass, Events, NotedEvents, Progress, Wanted, Window};
    ///
    /// /// Notes the last of the events that are handed over together.
    /// #[derive(Default)]
    /// struct Last {
    ///     seen: usize,
    ///     noted: Vec<usize>,
    /// }
    ///
    /// impl Collect for Last {
    ///     type Stop = Infallible;
    ///
    ///     fn want(&mut self, class: &Arc<EventClass>) -> Option<Wanted> {
    ///         Some(Wanted::of(class))
    ///     }
    ///
    ///     fn events(&mut self, events: &Events<'_>) -> ControlFlow<Infallible> {
    ///         self.seen += events.count;
    ///         self.noted = vec![events.count - 1];
    ///         ControlFlow::Continue(())
    ///     }
    ///
    ///     fn noted(&self) -> Option<&[usize]> {
    ///         Some(&self.noted)
    ///     }
    ///
    ///     fn split(&self) -> Last {
    ///         Last::default()
    ///     }
    ///
    ///     fn absorb(&mut self, other: Last) {
    ///         self.seen += other.seen;
    ///     }
    /// }
    ///
    /// let (reader, mut notes) = (example(), NotedEvents::default());
    /// let mut read = || {
    ///     let read = reader.read_noted(&mut notes, Window::default(), Last::default(), &Progress::default());
    ///     read.collector.seen
    /// };
    /// // The headers of this trace are not LTTng's, so all is read again; of others it would be two.
    /// assert_eq!((read(), read()), (3, 3));
    /// ```
    pub fn read_noted<C: Collect>(
        &self,
        notes: &mut NotedEvents,
        window: Window,
        mut collector: C,
        progress: &Progress,
    ) -> Collected<C> {
        let tasks = self.traces.iter().map(|trace| {
            let packets = trace.packets.packets.iter().filter(|packet| trace.is_in_window(packet, window));
            trace_task(trace, &mut |class| collector.want(class), packets)
        });
        let tasks: Vec<_> = tasks.collect();
        let read = unordered::read(&tasks, notes, window, self.threads, collector, progress);
        notes.extend(read.noting.packets);
        let mut report = self.report(window);
        read.tally.add_to(&mut report);
        report.damage.extend(read.damage);
        report.damage.sort();
        Collected { collector: read.collector, report, stopped: read.stopped }
    }

    /// Hands out all events in the window in the order of time, across streams, traces and hosts.
    ///
    /// `want` says for each event class which fields to decode, as [`Collect::want`] does; [`all_fields`](crate::all_fields)
    /// wants all of all classes.
    ///
    /// Up to three [other threads](Reader::threads) read ahead, unless there are more than 32 streams.
    ///
    /// Where a clock was set back between packets, events still come in the order of their times. Where it was set back
    /// in the middle of a packet, events that are read ahead together (some hundreds or thousands) are put in order, and
    /// others come late; [`Report::clock_steps`] says whether that happened.
    pub fn in_order<'r>(
        &'r self,
        window: Window,
        want: impl FnMut(&Arc<EventClass>) -> Option<Wanted> + 'r,
    ) -> InOrder<'r> {
        let mut merge = InOrder::of(window, self.threads, Box::new(want), self.report(window));
        for (number, trace) in self.traces.iter().enumerate() {
            let source = FileSource::new(number, trace, window);
            let size = source.size();
            merge.add(Box::new(source), Arc::clone(&trace.layout), size);
        }
        merge
    }

    /// Where events are missing, in the order in which that began.
    pub fn gaps(&self, window: Window) -> Vec<Gap> {
        let traces = self.traces.iter().enumerate();
        let mut gaps: Vec<Gap> = traces.flat_map(|(number, trace)| trace.gaps(number, window)).collect();
        gaps.sort_by_key(|gap| (gap.since, gap.until));
        gaps
    }

    /// The packets that are not skipped, each once, stream by stream.
    pub fn packets(&self) -> impl Iterator<Item = PacketInfo<'_>> {
        self.traces.iter().enumerate().flat_map(|(number, trace)| trace.packet_infos(number))
    }

    /// Skips packets from now on. They still count as predecessors of others: what was discarded between them is known.
    pub fn skip_packets(&mut self, mut is_skipped: impl FnMut(&PacketInfo<'_>) -> bool) {
        for (number, trace) in self.traces.iter_mut().enumerate() {
            let infos = trace.packet_infos(number).filter(|packet| is_skipped(packet));
            let skipped: HashSet<(usize, u64)> =
                infos.map(|packet| (packet.file_number, packet.offset)).collect();
            for packet in &mut trace.packets.packets {
                packet.is_skipped |= skipped.contains(&(packet.file, packet.offset));
            }
        }
    }

    /// Times of at least `least` nanoseconds that no packet of a machine's programs covers, in the order in which they began:
    /// tracing was stopped meanwhile, or nothing happened after the buffers were flushed. The trace is any of that machine.
    pub fn uncovered(&self, window: Window, least: i64) -> Vec<Gap> {
        let mut hosts: HashMap<Option<String>, Vec<(i64, i64, usize)>> = HashMap::new();
        for (number, trace) in self.traces.iter().enumerate() {
            let variables: HashMap<String, String> = trace.layout.environment().collect();
            // The kernel's packets say nothing about programs.
            if variables.get("domain").is_none_or(|domain| domain != "kernel") {
                let spans = trace.covered().map(|(begin, end)| (begin, end, number));
                hosts.entry(variables.get("hostname").cloned()).or_default().extend(spans);
            }
        }
        let mut gaps = Vec::new();
        for spans in hosts.values_mut() {
            spans.sort_unstable();
            let mut reached = i64::MAX;
            for &(begin, end, trace) in spans.iter() {
                let is_in = window.until.is_none_or(|until| reached <= until)
                    && window.since.is_none_or(|since| begin >= since);
                if begin.saturating_sub(reached) >= least && is_in {
                    gaps.push(Gap { trace, since: reached, until: begin });
                }
                reached = if reached == i64::MAX { end } else { reached.max(end) };
            }
        }
        gaps.sort_by_key(|gap| (gap.since, gap.until));
        gaps
    }

    /// What is known before any event is read.
    pub(crate) fn report(&self, window: Window) -> Report {
        let mut report = Report { damage: self.damage.clone(), ..Report::default() };
        self.traces.iter().for_each(|trace| trace.add_to(window, &mut report));
        report
    }

    /// Reads the metadata of a trace. Chunks and snapshots repeat it, the later ones with more classes; the one that
    /// describes the most events, and of those the soundest, is the trace's.
    fn metadata_of(&mut self, files: &TraceFiles) -> Option<Metadata> {
        let read = files.metadata.iter().map(|(path, bytes)| (path, bytes.len(), metadata::read(bytes)));
        let (path, _, (metadata, problems)) = read.max_by_key(|(_, length, (metadata, problems))| {
            let events: usize = metadata.streams.iter().map(|stream| stream.events.len()).sum();
            (events, Reverse(problems.len()), *length)
        })?;
        let describes_nothing = metadata.streams.is_empty() && problems.is_empty();
        self.damage.extend(problems.into_iter().map(|reason| Damage::new(path, reason.to_string())));
        if describes_nothing {
            let why = "describes no stream: nothing was recorded, or there was no memory for buffers";
            self.damage.push(Damage::new(path, why));
        }
        (!metadata.streams.is_empty()).then_some(metadata)
    }
}

/// Some of a trace's packets, and how to decode them.
fn trace_task<'t>(
    trace: &'t OpenTrace,
    want: &mut Want<'_>,
    packets: impl Iterator<Item = &'t LocatedPacket>,
) -> TraceTask<'t> {
    TraceTask {
        metadata: &trace.layout.metadata,
        plans: trace.layout.plans(want),
        files: &trace.packets.files,
        packets: packets.collect(),
    }
}
