//! What a trace contains.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use serde::{Serialize, Serializer};

use crate::datum::{Datum, pairs};
use crate::finding::{Notes, TraceFinding};
use crate::groups::table::Groups;
use crate::reading::{CollectBeside, Failure, Roster, Selection, SourceWindow, grown, key};
use crate::source::Source;
use ctf_reader::{Brief, Collect, EventClass, Events, Field, Report, Trace, Wanted};

/// With more processes than this, none is listed.
const PROCESS_CAP: usize = 10_000;

/// What traces contain.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Info {
    /// What was read.
    pub trace: TraceFinding,
    /// The number of events of each name.
    pub events_by_name: BTreeMap<String, u64>,
    /// The processes that the events came from, the busiest first; none if there are too many.
    pub processes: Option<Vec<ProcessInfo>>,
    /// The number of processes after those.
    pub hidden_processes: u64,
    /// The traces, one for each UUID.
    pub traces: Vec<TraceInfo>,
    /// Notes for the reader.
    pub notes: Notes,
}

/// A process, as far as the trace identifies it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProcessInfo {
    /// The machine that it ran on, if there is more than one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Its number.
    pub pid: Option<Datum>,
    /// Its name.
    pub name: Option<Datum>,
    /// The number of events that came from it.
    pub events: u64,
}

/// One of the traces.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TraceInfo {
    /// The folders that directly hold its metadata.
    pub folders: Vec<String>,
    /// What the tracer recorded of its environment, in its order.
    #[serde(serialize_with = "as_map")]
    #[cfg_attr(test, schemars(with = "BTreeMap<String, String>"))]
    pub environment: Vec<(String, String)>,
    /// The number of streams.
    pub streams: usize,
    /// The number of packets in the window.
    pub packets: u64,
    /// The machine that it was recorded on.
    pub host: Option<String>,
    /// The tracer and its version, where they were recorded.
    pub tracer: Option<String>,
    /// How far events lie outside of the times in which they can have been recorded, if some do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outside: Option<Outside>,
}

/// Events that lie outside of the times of their session: a clock was wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Outside {
    /// How long before its creation the first event is.
    pub before_ns: u64,
    /// How long after the last change of its files the last event is.
    pub after_ns: u64,
}

/// How far an event may lie before the creation of its session, which is recorded in whole seconds; nanoseconds.
const EARLIEST: i64 = 2_000_000_000;

/// How far an event may lie after the last change of its files, which another machine may have written; nanoseconds.
const LATEST: i64 = 60_000_000_000;

impl Outside {
    /// Compares the first and the last event of a trace with the times of its session, as far as these are known.
    fn new(trace: &Trace, (begin, end): (i64, i64)) -> Option<Self> {
        let created = trace.environment("trace_creation_datetime").and_then(creation)?;
        let beyond = |distance: i64, most: i64| if distance > most { distance.unsigned_abs() } else { 0 };
        // Times before the creation are those of a copy.
        let written = last_change(&trace.folders).filter(|written| *written >= created);
        let outside = Outside {
            before_ns: beyond(created.saturating_sub(begin), EARLIEST),
            after_ns: written.map_or(0, |written| beyond(end.saturating_sub(written), LATEST)),
        };
        (outside.before_ns > 0 || outside.after_ns > 0).then_some(outside)
    }
}

/// When a session was created, as LTTng writes it: `20261116T101247+0000`.
fn creation(text: &str) -> Option<i64> {
    let time = jiff::fmt::strtime::parse("%Y%m%dT%H%M%S%z", text).ok()?.to_timestamp().ok()?;
    i64::try_from(time.as_nanosecond()).ok()
}

/// When a file of a trace was last changed; none for a trace in an archive.
fn last_change(folders: &[PathBuf]) -> Option<i64> {
    let files = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    let changed = files.filter_map(|file| file.metadata().ok()?.modified().ok()).max()?;
    i64::try_from(changed.duration_since(UNIX_EPOCH).ok()?.as_nanos()).ok()
}

fn as_map<S: Serializer>(list: &[(String, String)], serializer: S) -> Result<S::Ok, S::Error> {
    pairs(list.iter().map(|(name, value)| (name, value)), serializer)
}

impl TraceInfo {
    /// A trace with events in this span.
    fn new(trace: &Trace, span: Option<(i64, i64)>) -> Self {
        let known = |name| trace.environment(name);
        let tracer = known("tracer_name").zip(known("tracer_major")).zip(known("tracer_minor"));
        TraceInfo {
            folders: trace.folders.iter().map(|folder| folder.to_string_lossy().into_owned()).collect(),
            environment: trace.environment.clone(),
            streams: trace.streams,
            packets: trace.packets,
            host: known("hostname").map(str::to_owned),
            tracer: tracer.map(|((name, major), minor)| format!("{name} {major}.{minor}")),
            outside: span.and_then(|span| Outside::new(trace, span)),
        }
    }
}

/// Counts events by name and by process, and lists at most `limit` processes.
pub(super) fn info<S: Source>(
    input: &mut SourceWindow<'_, S>,
    selection: &Arc<Selection>,
    limit: usize,
) -> Result<Info, Failure> {
    let (collector, report) = input.read(InfoCollector::of(selection))?;
    collector.finish(&report, limit)
}

/// The processes, the busiest first. Traces of one host may contain the same process.
fn processes(counts: Groups<u64>, trace: &TraceFinding) -> Vec<ProcessInfo> {
    /// The host, what is known, and the values.
    type Identity = (Option<String>, usize, Box<[u8]>);
    let mut processes: BTreeMap<Identity, u64> = BTreeMap::new();
    for (origin, key, events) in counts.into_entries() {
        let host = trace.host(origin / ORIGINS);
        *processes.entry((host, origin % ORIGINS, key)).or_default() += events;
    }
    let mut processes: Vec<_> = processes.into_iter().collect();
    processes.sort_by(|((_, _, a_key), a), ((_, _, b_key), b)| (b, a_key).cmp(&(a, b_key)));
    processes
        .into_iter()
        .map(|((host, known, key), events)| ProcessInfo::new(host, known, &key, events))
        .collect()
}

/// Which fields identify the process of a class: any of these, added up.
const PID: usize = 1;
const NAME: usize = 2;

/// The number of these kinds for each trace.
const ORIGINS: usize = 4;

impl ProcessInfo {
    fn new(host: Option<String>, known: usize, key: &[u8], events: u64) -> Self {
        let mut values = key::decode(key).into_iter();
        let mut next = |what| (known & what != 0).then(|| values.next()).flatten();
        ProcessInfo { host, pid: next(PID), name: next(NAME), events }
    }
}

pub(super) struct InfoCollector {
    roster: Roster,
    /// What is known of each class; the parts of a split collector share it.
    classes: Arc<Vec<Option<InfoClass>>>,
    /// The number of events of each class.
    counts: Vec<u64>,
    /// The first and the last event of each trace.
    spans: Vec<Option<(i64, i64)>>,
    processes: Groups<u64>,
    too_many: bool,
    /// Room for a key, and for the brief forms of its values.
    key: Vec<u8>,
    briefs: [Vec<Brief>; 2],
}

#[derive(Clone)]
struct InfoClass {
    name: String,
    /// What tells the process.
    process: Vec<Field>,
    /// What they tell, and of which trace: the kind of the process's group.
    origin: usize,
}

/// Events of one process in a row, nearly always all that are handed over together.
struct Row {
    first: usize,
    last: usize,
    events: u64,
}

impl InfoCollector {
    /// Counts the events that count.
    pub fn of(selection: &Arc<Selection>) -> Self {
        InfoCollector::new(Roster::new(Arc::clone(selection)), Arc::default())
    }

    /// What the traces contain, with at most `limit` processes.
    pub fn finish(self, report: &Report, limit: usize) -> Result<Info, Failure> {
        let left_out = self.roster.finish()?;
        let trace = TraceFinding::new(report);
        let mut events_by_name = BTreeMap::new();
        for (class, &count) in self.classes.iter().zip(&self.counts) {
            if let (Some(class), 1..) = (class, count) {
                *events_by_name.entry(class.name.clone()).or_default() += count;
            }
        }
        let processes = (!self.too_many).then(|| processes(self.processes, &trace));
        let hidden = processes.as_ref().map_or(0, |processes| processes.len().saturating_sub(limit));
        let processes = processes.map(|processes| processes.into_iter().take(limit).collect());
        Ok(Info {
            trace,
            events_by_name,
            processes,
            hidden_processes: hidden as u64,
            traces: report
                .traces
                .iter()
                .enumerate()
                .map(|(number, trace)| TraceInfo::new(trace, self.spans.get(number).copied().flatten()))
                .collect(),
            notes: Notes { left_out, ..Notes::default() },
        })
    }

    fn new(roster: Roster, classes: Arc<Vec<Option<InfoClass>>>) -> Self {
        let (counts, processes) = (vec![0; classes.len()], Groups::default());
        let (spans, key, briefs) = Default::default();
        InfoCollector { roster, classes, counts, spans, processes, too_many: false, key, briefs }
    }

    fn check_room(&mut self) {
        if self.processes.keyed() > PROCESS_CAP {
            self.processes.take_keyed();
            self.too_many = true;
        }
    }
}

impl CollectBeside for InfoCollector {
    fn want_besides(&mut self, class: &Arc<EventClass>, wanted: &mut Wanted) -> bool {
        if !self.roster.want_besides(class, wanted) {
            return false;
        }
        let fields = [(PID, class.field("vpid")), (NAME, class.field("procname"))];
        let found = fields.into_iter().filter_map(|(what, field)| Some((what, field?)));
        let (known, process): (Vec<usize>, _) =
            found.map(|(what, field)| (what, wanted.value_at(field))).unzip();
        let origin = class.trace * ORIGINS + known.iter().sum::<usize>();
        grown(&mut self.counts, class.index);
        *grown(Arc::make_mut(&mut self.classes), class.index) =
            Some(InfoClass { name: class.name.clone(), process, origin });
        true
    }
}

impl Collect for InfoCollector {
    type Stop = Infallible;

    fn want(&mut self, class: &Arc<EventClass>) -> Option<Wanted> {
        self.want_alone(class)
    }

    fn events(&mut self, events: &Events<'_>) -> ControlFlow<Infallible> {
        let Some(plan) = self.roster.count(events) else { return ControlFlow::Continue(()) };
        let (class, all) = (self.classes.get(events.class), self.counts.get_mut(events.class));
        let (Some(Some(class)), Some(all)) = (class, all) else { return ControlFlow::Continue(()) };
        let mut end_row = |row: Option<Row>| {
            let Some(row) = row else { return };
            self.key.clear();
            let (first, last) = (events.get(row.first), events.get(row.last));
            class.process.iter().for_each(|&field| key::encode(&first.value(field), &mut self.key));
            *self.processes.entry(class.origin, &self.key, || 0) += row.events;
            *all += row.events;
            let span = grown(&mut self.spans, class.origin / ORIGINS);
            widen(span, (first.timestamp(), last.timestamp()));
        };
        let has_conditions = plan.has_conditions();
        if !has_conditions && class.process.iter().all(|&field| events.are_common([field])) {
            end_row(events.count.checked_sub(1).map(|last| Row {
                first: 0,
                last,
                events: events.count as u64,
            }));
        } else {
            self.briefs.iter_mut().for_each(Vec::clear);
            class.process.iter().zip(&mut self.briefs).for_each(|(&field, into)| events.briefs(field, into));
            let briefs = &self.briefs[..class.process.len()];
            let mut row: Option<Row> = None;
            for number in 0..events.count {
                if has_conditions && !plan.admits(&events.get(number)) {
                    continue;
                }
                let is_same =
                    |of: &Vec<Brief>, other: usize| of[number] == of[other] && of[number] != Brief::OTHER;
                match &mut row {
                    Some(row) if briefs.iter().all(|of| is_same(of, row.first)) => {
                        row.last = number;
                        row.events += 1;
                    }
                    _ => end_row(row.replace(Row { first: number, last: number, events: 1 })),
                }
            }
            end_row(row);
        }
        self.check_room();
        ControlFlow::Continue(())
    }

    fn split(&self) -> Self {
        InfoCollector::new(self.roster.emptied(), Arc::clone(&self.classes))
    }

    fn absorb(&mut self, other: Self) {
        self.roster.absorb(other.roster);
        if self.classes.len() < other.classes.len() {
            self.classes = Arc::clone(&other.classes);
        }
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        self.counts.iter_mut().zip(&other.counts).for_each(|(mine, theirs)| *mine += theirs);
        for (origin, key, events) in other.processes.into_entries() {
            *self.processes.entry(origin, &key, || 0) += events;
        }
        for (trace, span) in other.spans.into_iter().enumerate() {
            if let Some(span) = span {
                widen(grown(&mut self.spans, trace), span);
            }
        }
        self.too_many |= other.too_many;
        self.check_room();
    }
}

/// Makes a span hold another one.
fn widen(span: &mut Option<(i64, i64)>, (begin, end): (i64, i64)) {
    let (first, last) = span.unwrap_or((begin, end));
    *span = Some((first.min(begin), last.max(end)));
}
