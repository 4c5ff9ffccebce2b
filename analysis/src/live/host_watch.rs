//! Incidents of one host for as long as it is watched, in bounded memory.
//!
//! A watch keeps what it has met: threads, clients, names, what is usual. So that no figure depends on how long a host has been
//! watched, each watch counts the incidents that begin in one epoch, an hour of the events' clock. Its successor receives
//! events for some time before that, to know what is usual, and the predecessor for some time after it, to settle what it
//! has seen:
//!
//! ```text
//!  watch 1  ────────────────────────┤ counts ├───────────┤ settles
//!  watch 2                  learns ├──────────┤ counts ├──────────────┤
//! ```
//!
//! Where much happens, it learns [a second in ten](super::lessons).
//!
//! An epoch ends early if a table becomes full: what that costs is said by the counts of what was forgotten.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use ctf_reader::{ClassIndex, Digest, DigestedEvent, EventClass, Gap, Wanted};

use super::counters::{add, nanoseconds};
use super::ledger::SeriesName;
use super::lessons::Lessons;
use super::metrics::CAUSE_COUNTERS;
use crate::finding::{Forgotten, TraceFinding};
use crate::incidents::{Incident, IncidentWatch};
use crate::intervals::EventDigester;
use crate::reading::{ClassPlan, Selection};
use crate::samples::Sample;

/// How long an epoch is, and how long its watch receives events before and after it; nanoseconds.
pub const EPOCH: i64 = 3600 * SECOND;
pub const LEARN: i64 = 600 * SECOND;
const SETTLE: i64 = 60 * SECOND;
const SECOND: i64 = 1_000_000_000;

/// An epoch ends early when a table is this full, after this time in which its successor learns.
const FULL: f64 = 0.75;
const HASTE: i64 = 60 * SECOND;

/// The time from one look at the tables to the next.
const LOOK: i64 = SECOND;

/// The most names of causes that are kept of ended watches, and the most incidents, of those and of each watch: they are shown
/// soon after they ended, and the longest stay.
const MOST_CAUSES: usize = 10_000;
const MOST_INCIDENTS: usize = 1000;

/// The watch of a host.
pub(super) struct HostWatch {
    selection: Arc<Selection>,
    threshold: u64,
    host: Option<String>,
    digester: Arc<EventDigester>,
    classes: Vec<Arc<EventClass>>,
    /// The watch of this epoch, of the one before if it is still settling, and of the next if it learns already.
    current: IncidentWatch,
    previous: Option<IncidentWatch>,
    next: Option<IncidentWatch>,
    lessons: Lessons,
    /// When this epoch ends, when something is to be done next, and when the previous watch has settled.
    end: i64,
    due: i64,
    settled: i64,
    past: HostTotals,
    /// Incidents of ended watches that were not reported, and the number of those that are no longer kept.
    late: Vec<Incident>,
    missed: u64,
}

/// What was found on a host, in all.
#[derive(Clone, Debug, Default)]
pub(super) struct HostTotals {
    pub host: String,
    pub incidents: u64,
    pub blocked_ns: u64,
    pub causes: HashMap<SeriesName, [u64; CAUSE_COUNTERS]>,
    /// What could not be told apart because there was too much of it.
    pub forgotten: Forgotten,
    /// The number of threads, and of clients, that were forgotten by their age.
    pub aged: (u64, u64),
}

impl HostWatch {
    pub fn new(
        selection: &Arc<Selection>,
        threshold: u64,
        host: Option<&str>,
        digester: &Arc<EventDigester>,
    ) -> HostWatch {
        HostWatch {
            selection: Arc::clone(selection),
            threshold,
            host: host.map(str::to_owned),
            digester: Arc::clone(digester),
            classes: Vec::new(),
            current: watch(selection, threshold, digester),
            previous: None,
            next: None,
            lessons: Lessons::default(),
            end: i64::MIN,
            due: i64::MIN,
            settled: i64::MAX,
            past: HostTotals { host: host.unwrap_or_default().to_owned(), ..HostTotals::default() },
            late: Vec::new(),
            missed: 0,
        }
    }

    fn watches(&mut self) -> impl Iterator<Item = &mut IncidentWatch> {
        self.previous.iter_mut().chain([&mut self.current]).chain(&mut self.next)
    }

    /// The fields that the events of a class are needed with.
    pub fn want(&mut self, class: &Arc<EventClass>) -> Option<Wanted> {
        self.classes.push(Arc::clone(class));
        let host = self.host.clone();
        // All watches have met the same classes in the same order, and want the same.
        self.watches().map(|watch| watch.want(class, host.as_deref())).last().flatten()
    }

    pub fn gap(&mut self, gap: &Gap) {
        self.watches().for_each(|watch| watch.gap(*gap));
    }

    pub fn sample(&mut self, time: i64, sample: &Sample) {
        self.watches().for_each(|watch| watch.sample(None, time, sample.clone()));
    }

    /// How the events of a class are processed; none if they are only counted.
    pub fn plan(&self, class: ClassIndex) -> Option<&ClassPlan> {
        // All watches know the same classes.
        self.current.plan(class)
    }

    pub fn count(&mut self, class: ClassIndex, events: u64) {
        self.watches().for_each(|watch| watch.count(class, events));
    }

    /// Processes an event of a class, with what it says.
    #[inline]
    pub fn event(&mut self, event: DigestedEvent<'_>, class: ClassIndex, digest: Digest) {
        if event.timestamp() >= self.due {
            self.advance(event.timestamp());
        }
        self.current.digested(event, class, digest);
        if let Some(previous) = &mut self.previous {
            previous.digested(event, class, digest);
        }
        if let Some(next) = &mut self.next
            && self.lessons.take_in()
        {
            next.digested(event, class, digest);
        }
    }

    /// Begins and ends watches, up to a time.
    #[cold]
    #[inline(never)]
    fn advance(&mut self, time: i64) {
        if let Some(next) = &mut self.next
            && let Some([since, until]) = self.lessons.look(time, self.end)
        {
            let traces: BTreeSet<usize> = self.classes.iter().map(|class| class.trace).collect();
            traces.into_iter().for_each(|trace| next.gap(Gap::new(trace, since, until)));
        }
        if self.end == i64::MIN {
            self.end = end_of_epoch(time);
            self.current.count_until(self.end);
        }
        if self.next.is_none() && self.current.fullness() >= FULL && time.saturating_add(HASTE) < self.end {
            self.end = time.saturating_add(HASTE);
            self.current.count_until(self.end);
            self.begin_next();
        }
        if self.next.is_none() && time >= self.end.saturating_sub(LEARN) {
            self.begin_next();
        }
        if time >= self.end
            && let Some(next) = self.next.take()
        {
            self.end_previous();
            self.previous = Some(std::mem::replace(&mut self.current, next));
            self.settled = self.end.saturating_add(SETTLE);
            self.end = end_of_epoch(time);
            self.current.count_until(self.end);
        }
        if time >= self.settled {
            self.end_previous();
        }
        if self.digester.is_full() {
            self.digester.forget();
        }
        self.due = time.saturating_add(LOOK);
    }

    fn begin_next(&mut self) {
        let mut next = watch(&self.selection, self.threshold, &self.digester);
        next.count_from(self.end);
        // It has met what the epoch has, like the watch, and must not outgrow it.
        self.digester.forget();
        self.classes.iter().for_each(|class| _ = next.want(class, self.host.as_deref()));
        self.next = Some(next);
        self.lessons = Lessons::default();
    }

    /// Ends the previous watch; what it has found is kept in short.
    fn end_previous(&mut self) {
        let Some(mut ended) = self.previous.take() else { return };
        ended.finish();
        let (newest, hidden) = ended.newest(MOST_INCIDENTS, true);
        self.late.splice(0..0, newest);
        self.missed += hidden + self.late.len().saturating_sub(MOST_INCIDENTS) as u64;
        self.late.truncate(MOST_INCIDENTS);
        self.past.add(&ended);
        let (threads, clients) = ended.known();
        self.past.aged = (self.past.aged.0 + threads, self.past.aged.1 + clients);
        self.settled = i64::MAX;
    }

    /// The last settled incidents that were not reported, the newest first, and the number of other ones.
    pub fn newest(&self, limit: usize, has_hosts: bool) -> (Vec<Incident>, u64) {
        let (mut newest, mut hidden) = self.current.newest(limit, has_hosts);
        if let Some(previous) = &self.previous {
            let (before, others) = previous.newest(limit, has_hosts);
            newest.extend(before);
            hidden += others;
        }
        // They were kept with the host: whether there are several is known only when they are shown.
        let late = self.late.iter().cloned();
        newest.extend(late.map(|incident| if has_hosts { incident } else { incident.without_host() }));
        hidden += self.missed + newest.len().saturating_sub(limit) as u64;
        newest.truncate(limit);
        (newest, hidden)
    }

    /// Marks all incidents settled so far as reported.
    pub fn mark_reported(&mut self) {
        self.watches().for_each(IncidentWatch::mark_reported);
        self.late.clear();
        self.missed = 0;
    }

    /// What was found so far.
    pub fn totals(&self) -> HostTotals {
        let mut totals = self.past.clone();
        self.previous.iter().chain([&self.current]).for_each(|watch| totals.add(watch));
        totals
    }

    /// Ends the watch: no more events will arrive.
    pub fn finish(&mut self) {
        self.watches().for_each(IncidentWatch::finish);
    }
}

impl HostTotals {
    fn add(&mut self, watch: &IncidentWatch) {
        self.forgotten.add(watch.forgotten());
        let Ok(found) = watch.finding(TraceFinding::default(), 0) else { return };
        self.incidents += found.found;
        self.blocked_ns += nanoseconds(found.blocked.0);
        for cause in &found.causes {
            let name = SeriesName { host: self.host.clone(), ..SeriesName::of_cause(cause) };
            let is_full = self.causes.len() >= MOST_CAUSES && !self.causes.contains_key(&name);
            // All others are one, without a name.
            let name =
                if is_full { SeriesName { host: self.host.clone(), ..SeriesName::default() } } else { name };
            add(self.causes.entry(name).or_default(), &[cause.count, nanoseconds(cause.total.0)]);
        }
    }
}

fn watch(selection: &Arc<Selection>, threshold: u64, digester: &Arc<EventDigester>) -> IncidentWatch {
    let mut watch = IncidentWatch::new(selection, threshold, Vec::new());
    watch.share(digester);
    watch.keep(MOST_INCIDENTS);
    watch
}

/// The end of the epoch that a time is in.
fn end_of_epoch(time: i64) -> i64 {
    time.div_euclid(EPOCH).saturating_add(1).saturating_mul(EPOCH)
}
