//! From events in the order of time to intervals of threads.

use std::collections::HashMap;
use std::sync::Arc;

use ctf_reader::{Brief, EventClass, Events, Gap, OrderedEvent, Progress, Reader, Report, Value, Window};

use super::interval::{Interval, IntervalName};
use super::lexicon::{KindEntry, Lexicon};
use super::open::OpenIntervals;
use crate::analysis::histogram::IMPLAUSIBLE;
use crate::analysis::plan::ClassPlan;
use crate::analysis::roster::Roster;
use crate::analysis::selection::{LeftOut, Misfit, Selection};
use crate::analysis::slots::Slots;
use crate::datum::Datum;
use crate::meaning::ClassMeaning;
use crate::pair::Side;

/// How many threads are told apart; all others of a process are one.
const MOST_THREADS: usize = 1 << 16;

/// Intervals that are longer, and times that are further from 1970, come from clocks that went wrong.
const LONGEST: i64 = 1 << 56;
const TIMES: std::ops::Range<i64> = -(1 << 61)..1 << 62;

/// Takes intervals and what goes with them, in the order of time.
pub trait Listener {
    /// An event of a process happened, of whatever kind.
    fn event(&mut self, process: usize, time: i64);

    /// An interval of a thread has ended.
    fn ended(&mut self, thread: usize, interval: Interval, feed: &Feed);

    /// An event says what pieces of its thread's work add up to; they lie at no particular place in time.
    fn summed(&mut self, thread: usize, sum: Interval);

    /// From `since` until `until` events of these threads may be missing.
    fn lost(&mut self, threads: &mut dyn Iterator<Item = usize>, since: i64, until: i64);
}

/// A process that events came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Process {
    /// The machine, by the number of its name.
    pub host: usize,
    /// The name of the machine.
    pub host_name: Option<String>,
    /// Its id, where that was recorded.
    pub pid: Option<i64>,
    /// Its name, where that was recorded.
    pub name: Option<String>,
}

/// A thread that events came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Its process.
    pub process: usize,
    /// Its id; without it, all threads of the process are one.
    pub tid: Option<i64>,
}

/// Makes intervals of events.
pub struct Feed {
    roster: Roster,
    /// What to make of the events of each class.
    roles: Vec<Option<ClassRole>>,
    pub lexicon: Lexicon,
    /// The machine of each trace, by number, and their names.
    hosts: HashMap<String, usize>,
    host_of_trace: HashMap<usize, usize>,
    pub processes: Vec<Process>,
    process_numbers: HashMap<(usize, Option<i64>), usize>,
    pub threads: Vec<Thread>,
    thread_numbers: HashMap<(usize, Option<i64>), usize>,
    /// The last thread that was looked up: most events are from the same one as the event before.
    recent: Option<(usize, Option<i64>, Option<i64>, usize)>,
    open: Vec<OpenIntervals>,
    /// Where events are missing, the next one last.
    gaps: Vec<Gap>,
    durations: Vec<u64>,
    /// How many durations are implausible, and so are no intervals.
    pub implausible: u64,
}

/// What to make of the events of a class.
#[derive(Clone, Copy, Debug)]
struct ClassRole {
    act: Act,
    kind: u32,
    /// The slots of the process, the thread, the name of the process and the client.
    pid: Option<usize>,
    tid: Option<usize>,
    procname: Option<usize>,
    client: Option<usize>,
    host: usize,
    unit_ns: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    /// They end intervals, whose lengths they have.
    Ends,
    /// They have lengths of what lies at no particular place in time.
    Sums,
    /// They begin an interval or end one.
    Pairs(Side),
    /// They only say that their process was active.
    Marks,
}

impl Feed {
    /// `gaps` are in the order in which they begin.
    pub fn new(selection: &Arc<Selection>, mut gaps: Vec<Gap>) -> Self {
        gaps.reverse();
        Feed {
            roster: Roster::new(Arc::clone(selection)),
            roles: Vec::new(),
            lexicon: Lexicon::default(),
            hosts: HashMap::new(),
            host_of_trace: HashMap::new(),
            processes: Vec::new(),
            process_numbers: HashMap::new(),
            threads: Vec::new(),
            thread_numbers: HashMap::new(),
            recent: None,
            open: Vec::new(),
            gaps,
            durations: Vec::new(),
            implausible: 0,
        }
    }

    /// The fields that the events of a class are needed with; see [`ctf_reader::Collect::want`].
    pub fn want(&mut self, class: &Arc<EventClass>, host: Option<&str>) -> Option<Vec<usize>> {
        let mut slots = Slots(self.roster.want(class)?);
        let plan = self.roster.plan(class.index);
        let meaning = self.roster.selection().dictionary.look_up(class);
        let hosts = self.hosts.len();
        let host = match host {
            Some(host) => *self.hosts.entry(host.to_owned()).or_insert(hosts),
            // Machines that are not named are told apart by their traces.
            None => *self.hosts.entry(format!("\0{}", class.trace)).or_insert(hosts),
        };
        self.host_of_trace.insert(class.trace, host);
        let role = plan.filter(|_| meaning.repeats.is_none()).map(|plan| {
            let (act, event) = act(&meaning, &class.name);
            let kind = &self.roster.kinds()[plan.kind];
            let unit_ns = u64::try_from(kind.unit_ns()).unwrap_or(1);
            let kind = self.lexicon.kind(KindEntry {
                event,
                known_as: meaning.event.clone(),
                keys: kind.keys.clone(),
                is_outermost: meaning.is_outermost,
                explains: meaning.explains.clone(),
            });
            let mut slot = |name: &str| class.field(name).map(|field| slots.of(field));
            let (pid, tid, procname) = (slot("vpid"), slot("vtid"), slot("procname"));
            let client = meaning.client.map(|field| slots.of(field));
            ClassRole { act, kind, pid, tid, procname, client, host, unit_ns }
        });
        // What only repeats another event is not even looked at: that is a third of what a server records.
        if meaning.repeats.is_some() {
            return None;
        }
        if self.roles.len() <= class.index {
            self.roles.resize_with(class.index + 1, || None);
        }
        self.roles[class.index] = role;
        Some(slots.0)
    }

    /// Reads a window in the order of time, tells the listener what comes of it, and says what was read.
    pub fn follow(
        &mut self,
        reader: &Reader,
        window: Window,
        progress: &Progress,
        listener: &mut impl Listener,
    ) -> Report {
        let traces = reader.traces();
        let want = |class: &Arc<EventClass>| self.want(class, traces[class.trace].environment("hostname"));
        let mut wanted: Vec<_> = reader.classes().map(want).collect();
        let take = |class: &Arc<EventClass>| wanted[class.index].take();
        let mut events = reader.in_order(window, take).with_progress(progress);
        while let Some(event) = events.next_event() {
            self.event(&event, listener);
        }
        events.report()
    }

    /// Takes note that events are missing.
    pub fn gap(&mut self, gap: Gap) {
        let place = self.gaps.partition_point(|other| other.since > gap.since);
        self.gaps.insert(place, gap);
    }

    /// Takes an event, and tells the listener what comes of it.
    pub fn event(&mut self, event: &OrderedEvent<'_>, listener: &mut impl Listener) {
        let time = event.timestamp();
        while let Some(gap) = self.gaps.pop_if(|gap| gap.since < time) {
            self.lose(gap, listener);
        }
        let of_one: Events<'_> = event.events();
        let Some(plan) = self.roster.count(&of_one) else { return };
        if !TIMES.contains(&time) {
            self.implausible += 1;
            return;
        }
        if plan.has_conditions() && !plan.admits(&of_one.get(0)) {
            return;
        }
        plan.durations(&of_one, &mut self.durations);
        let Some(Some(role)) = self.roles.get(of_one.class) else { return };
        let role = *role;
        let thread = self.thread(&role, event);
        listener.event(self.threads[thread].process, time);
        if role.act == Act::Marks {
            return;
        }
        let client = role.client.and_then(|slot| self.lexicon.client(&event.value(slot)));
        match role.act {
            Act::Marks => {}
            Act::Ends | Act::Sums => {
                let Some(&ticks) = self.durations.first() else { return };
                let length = i64::try_from(ticks.saturating_mul(role.unit_ns)).ok();
                let Some(length) = length.filter(|length| ticks < IMPLAUSIBLE && *length < LONGEST) else {
                    self.implausible += 1;
                    return;
                };
                let Some(name) = self.name(of_one.class, role.kind, event) else { return };
                let interval = Interval { begin: time.saturating_sub(length), end: time, name, client };
                match role.act {
                    Act::Sums => listener.summed(thread, interval),
                    _ => listener.ended(thread, interval, self),
                }
            }
            Act::Pairs(Side::Begin) => {
                let Some(name) = self.name(of_one.class, role.kind, event) else { return };
                self.open[thread].begin(time, name, client);
            }
            Act::Pairs(Side::End) => {
                let name = self.name(of_one.class, role.kind, event);
                let is_said =
                    |(_, value): &(String, Datum)| !matches!(value, Datum::Text(text) if text.is_empty());
                let has_key = name.is_some_and(|name| self.lexicon.key(name).0.iter().any(is_said));
                let ended = self.open[thread].end(time, role.kind, name.filter(|_| has_key), client);
                if let Some(interval) = ended {
                    listener.ended(thread, interval, self);
                }
            }
        }
    }

    /// What was left out, or why the selection makes no sense for this trace.
    pub fn finish(&self) -> Result<LeftOut, Misfit> {
        self.roster.finish()
    }

    /// Whether an interval of a thread may contain another one. Where threads are known, times tell; otherwise the catalogs
    /// must allow it too.
    pub fn may_contain(&self, thread: usize, outer: IntervalName, inner: IntervalName) -> bool {
        self.threads[thread].tid.is_some() || self.lexicon.may_contain(outer, inner)
    }

    /// Whether two threads ran on the same machine.
    pub fn are_on_one_host(&self, one: usize, other: usize) -> bool {
        let host = |thread: usize| self.processes[self.threads[thread].process].host;
        host(one) == host(other)
    }

    fn name(&mut self, class: usize, kind: u32, event: &OrderedEvent<'_>) -> Option<IntervalName> {
        let plan: &ClassPlan = self.roster.plan(class)?;
        let brief = plan.only_key().map_or(Brief::OTHER, |slot| Brief::from(&event.value(slot)));
        let of_one = event.events();
        Some(self.lexicon.name(kind, brief, |bytes| plan.encode_key(&of_one.get(0), bytes)))
    }

    /// The number of the thread that an event is from.
    #[inline]
    fn thread(&mut self, role: &ClassRole, event: &OrderedEvent<'_>) -> usize {
        let id = |slot: Option<usize>| slot.and_then(|slot| integer(&event.value(slot)));
        let (pid, tid) = (id(role.pid), id(role.tid));
        if let Some((host, recent_pid, recent_tid, thread)) = self.recent
            && (host, recent_pid, recent_tid) == (role.host, pid, tid)
        {
            return thread;
        }
        let thread = self.look_up_thread(role, pid, tid, event);
        self.recent = Some((role.host, pid, tid, thread));
        thread
    }

    #[inline(never)]
    fn look_up_thread(
        &mut self,
        role: &ClassRole,
        pid: Option<i64>,
        tid: Option<i64>,
        event: &OrderedEvent<'_>,
    ) -> usize {
        let processes = &mut self.processes;
        let process = *self.process_numbers.entry((role.host, pid)).or_insert_with(|| {
            let name = role.procname.map(|slot| match event.value(slot) {
                Value::Text(text) => String::from_utf8_lossy(text).into_owned(),
                _ => String::new(),
            });
            let host_name = self.hosts.iter().find(|(_, number)| **number == role.host);
            let host_name = host_name.map(|(name, _)| name.clone()).filter(|name| !name.starts_with('\0'));
            processes.push(Process { host: role.host, host_name, pid, name });
            processes.len() - 1
        });
        let tid = tid.filter(|_| self.threads.len() < MOST_THREADS);
        let (threads, open) = (&mut self.threads, &mut self.open);
        *self.thread_numbers.entry((process, tid)).or_insert_with(|| {
            threads.push(Thread { process, tid });
            open.push(OpenIntervals::default());
            threads.len() - 1
        })
    }

    /// Forgets what has begun on the threads of a machine, because events of it are missing.
    fn lose(&mut self, gap: Gap, listener: &mut impl Listener) {
        let Some(&host) = self.host_of_trace.get(&gap.trace) else { return };
        let (threads, processes) = (&self.threads, &self.processes);
        let affected = |&thread: &usize| processes[threads[thread].process].host == host;
        for thread in (0..threads.len()).filter(affected) {
            self.open[thread].forget();
        }
        listener.lost(&mut (0..threads.len()).filter(affected), gap.since, gap.until);
    }
}

/// What to make of the events of a class, and what its intervals are called.
fn act(meaning: &ClassMeaning, class: &str) -> (Act, String) {
    match (&meaning.duration, &meaning.pair) {
        (Some(_), _) if meaning.is_sum => (Act::Sums, class.to_owned()),
        (Some(_), _) => (Act::Ends, class.to_owned()),
        (None, Some((interval, side))) => (Act::Pairs(*side), interval.clone()),
        (None, None) => (Act::Marks, class.to_owned()),
    }
}

fn integer(value: &Value<'_>) -> Option<i64> {
    match value {
        Value::Unsigned(number) => i64::try_from(*number).ok(),
        Value::Signed(number) => Some(*number),
        _ => None,
    }
}

impl Process {
    /// The process's id as a value.
    pub fn pid(&self) -> Option<Datum> {
        self.pid.map(|pid| Datum::Integer(pid.into()))
    }
}
