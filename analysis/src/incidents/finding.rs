//! Incidents as they are found: plain, serialisable data.

use serde::Serialize;

use crate::datum::{Datum, Pairs};
use crate::finding::{LinkFinding, Notes, Ns, TraceFinding};
use crate::outliers::verdict::Period;
use crate::scheduling::{AccountSource, Extent, SystemCause};

/// The incidents of a trace.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Incidents {
    /// What was read.
    pub trace: TraceFinding,
    /// The shortest stall that is an incident.
    #[serde(rename = "threshold_us")]
    pub threshold: Ns,
    /// The time in which any process was held up.
    #[serde(rename = "blocked_us")]
    pub blocked: Ns,
    /// Its share of the trace's length.
    pub blocked_share: Option<f64>,
    /// How much of the incidents no event explains.
    #[serde(rename = "unexplained_us")]
    pub unexplained: Ns,
    /// How much of them nothing explains: no event, nor what the scheduler did.
    #[serde(rename = "unaccounted_us")]
    pub unaccounted: Ns,
    /// The number of intervals that were looked at.
    pub intervals: u64,
    /// The number of incidents in all.
    pub found: u64,
    /// The number of those that are turns of an event loop.
    pub turns: u64,
    /// Neighbouring incidents of one cause, those that held a process up the longest, in the order of time.
    pub episodes: Vec<Episode>,
    /// The number of shorter ones after those.
    pub hidden_episodes: u64,
    /// The longest incidents, in the order of time.
    pub incidents: Vec<Incident>,
    /// The number of shorter ones after those.
    pub hidden_incidents: u64,
    /// All incidents by cause, those that took the most time first.
    pub causes: Vec<CauseFinding>,
    /// Times in which groups were slower than in the rest of the trace, those that lost the most time first.
    pub periods: Vec<Period>,
    /// What can hold a program up and was recorded, but did not.
    pub not_causes: Vec<NotCause>,
    /// What can hold a program up and was not recorded.
    pub unrecorded: Vec<String>,
    /// Times in which event loops were not traced; what happened then is not known.
    pub untraced: Vec<UntracedFinding>,
    /// Processes that ended, and those that took their places.
    pub restarts: Vec<RestartFinding>,
    /// Intervals that were set aside, because they began within an earlier turn.
    pub set_aside: u64,
    /// Whether each incident is to be shown, instead of episodes.
    #[serde(skip)]
    pub shows_each: bool,
    /// Notes for the reader.
    pub notes: Notes,
}

/// Neighbouring incidents of one cause in one process.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Episode {
    /// When the first began: nanoseconds since 1970.
    pub begin_ns: i64,
    /// When the last ended.
    pub end_ns: i64,
    /// Their number.
    pub count: u64,
    /// How long they took together.
    #[serde(rename = "held_us")]
    pub held: Ns,
    /// Their share of the time from the first to the last.
    pub held_share: f64,
    /// How much of them no event explains.
    #[serde(rename = "unexplained_us")]
    pub unexplained: Ns,
    /// The time from one to the next, if that is about the same each time.
    #[serde(rename = "period_us")]
    pub period: Option<Ns>,
    /// The share of the steps from one to the next that differ from the period by less than a tenth.
    pub regularity: Option<f64>,
    /// The number of requests not answered in all of them, compared with the rate around each.
    pub not_served: u64,
    /// The number of clients that they were for.
    pub clients: u64,
    /// The longest of them.
    pub longest: Incident,
}

/// A time in which a thread was held up.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Incident {
    /// When it began: nanoseconds since 1970.
    pub begin_ns: i64,
    /// When it ended.
    pub end_ns: i64,
    /// How long it took.
    #[serde(rename = "held_us")]
    pub held: Ns,
    /// What was held up.
    pub kind: IncidentKind,
    /// The process.
    pub process: ProcessFinding,
    /// What held it up; none if no event explains it.
    pub cause: Option<LinkFinding>,
    /// From the outermost interval to the one within it that took the most time, and so on.
    pub chain: Vec<LinkFinding>,
    /// The largest parts of a turn, whichever the cause is.
    pub explained_by: Vec<LinkFinding>,
    /// How much of it no event explains.
    #[serde(rename = "unexplained_us")]
    pub unexplained: Ns,
    /// Where most of it lies if no event explains it: before or after the request that is the cause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beside: Option<BesideFinding>,
    /// What shows that a loop was kept from serving anybody, where no event does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// Whether samples were taken too seldom to tell what its thread did where no event explains it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_sampled_too_seldom: bool,
    /// What surely held its thread up for most of its time, or of the time that no event explains.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_by: Option<HeldBy>,
    /// What the scheduler did with its thread in all of its time, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<SchedulerFinding>,
    /// The total of pieces of it that an event reports.
    pub sum: Option<SumFinding>,
    /// Who waited; none if no client was served lately or is named, so that it cannot be told.
    pub waited: Option<WaitedFinding>,
    /// The approximate number of requests not answered, compared with the rate of half a second before and after.
    pub not_served: u64,
    /// What ran at the same time on other threads and in other processes of the machine.
    pub meanwhile: Vec<MeanwhileFinding>,
    /// What it means, and what helps.
    pub advice: Option<String>,
    /// Whether events of it may be missing, so that what is unexplained may be what was lost.
    pub is_incomplete: bool,
    /// Whether the window holds only a part of it.
    pub is_cut: bool,
    /// How much of it each cause explains; empty while events arrive.
    #[serde(skip)]
    pub charges: Vec<Charge>,
}

impl Incident {
    /// How much of it neither events nor, surely, the scheduler explain.
    pub fn unaccounted(&self) -> Ns {
        let Some(HeldBy { time, of, .. }) = &self.held_by else { return self.unexplained };
        // Some of what held it up may lie in events.
        let in_events = of.0.saturating_sub(self.unexplained.0);
        Ns(self.unexplained.0.saturating_sub(time.least.0.saturating_sub(in_events)))
    }

    /// The same where there is one machine alone, which is not named.
    pub(crate) fn without_host(mut self) -> Incident {
        self.process.host = None;
        self.meanwhile.iter_mut().for_each(|other| other.process.host = None);
        self
    }
}

/// What a cause explains of an incident.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charge {
    /// The place of the cause in [`Incidents::causes`].
    pub cause: usize,
    /// How much.
    pub explained: Ns,
}

/// A time of which bounds are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TimeRange {
    /// What is sure.
    #[serde(rename = "least_us")]
    pub least: Ns,
    /// What is possible.
    #[serde(rename = "most_us")]
    pub most: Ns,
}

impl From<Extent> for TimeRange {
    fn from(extent: Extent) -> Self {
        let [least, most] = [extent.least, extent.most].map(|time| Ns(time.max(0) as u128));
        TimeRange { least, most }
    }
}

/// What shows that an event loop was kept from serving anybody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// The scheduler kept its thread from running: proved.
    Scheduler,
    /// Its timer was overdue: proved.
    Timer,
    /// Clients that were regular came late, all at once: likely.
    Clients,
}

/// Time in no event beside a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BesideFinding {
    /// On which side of the request it lies.
    pub side: Side,
    /// How long it is.
    #[serde(rename = "time_us")]
    pub time: Ns,
}

/// A side of a request, or of another event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Before it, when it is read.
    Before,
    /// After it and before the loop sleeps, when answers are written.
    After,
    /// Around what occurs only while something blocks the loop that has no event: loading data.
    Around,
}

/// What held a thread up, whatever events say of that time, or where no event explains it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HeldBy {
    /// What it was.
    pub cause: SystemCause,
    /// For how long.
    pub time: TimeRange,
    /// Of how much: all of it, or what no event explains.
    #[serde(rename = "of_us")]
    pub of: Ns,
    /// The number of pages that had to be read.
    pub major_faults: u64,
    /// Who had its CPU, where that is known.
    pub had_cpu: Option<String>,
}

/// What the scheduler did with a thread.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SchedulerFinding {
    /// Where it is known from.
    pub source: AccountSource,
    /// The longest time between two looks at the thread; none if the kernel's events say each change.
    #[serde(rename = "sampled_every_us", skip_serializing_if = "Option::is_none")]
    pub sampled_every: Option<Ns>,
    /// The time on a CPU.
    pub on_cpu: TimeRange,
    /// The part of it in which a hypervisor gave the CPU to others.
    pub stolen: TimeRange,
    /// The time in which it was ready but had no CPU.
    pub queued: TimeRange,
    /// The part of it that a limit is the reason of.
    pub throttled: TimeRange,
    /// The time in which a signal or a debugger had stopped it.
    pub stopped: TimeRange,
    /// The time in which it was blocked and could not be interrupted, mostly by a device.
    pub device: TimeRange,
    /// The time in which it was blocked otherwise.
    pub asleep: TimeRange,
    /// How often it gave up a CPU.
    pub voluntary_switches: u64,
    /// How often it lost one.
    pub involuntary_switches: u64,
    /// The number of page faults without reading a page.
    pub minor_faults: u64,
    /// The number of those that read one.
    pub major_faults: u64,
    /// Who had its CPU, where that is known.
    pub had_cpu: Option<String>,
}

/// What was held up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum IncidentKind {
    /// A turn of an event loop.
    #[default]
    Turn,
    /// A thread, by an interval that took improbably long.
    Interval,
    /// A process that recorded nothing although it should have.
    Silence,
    /// Clients that were not served, although their process was at work.
    Starved,
}

/// The total of pieces of a turn.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SumFinding {
    /// The full name of the event.
    pub event: String,
    /// Their total duration.
    #[serde(rename = "duration_us")]
    pub duration: Ns,
}

/// Who waited for the end of an incident.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WaitedFinding {
    /// The number of clients that were ready before it ended and were served in it or in the turn after it.
    pub clients: u64,
    /// The number of clients that were answered in the second before, and of those that waited.
    pub of: u64,
    /// The longest wait, probably: from the beginning or, if that is later, from when the client asked, to its answer.
    #[serde(rename = "longest_us")]
    pub longest: Ns,
    /// The longest wait is at least this long, and at most as long as the next.
    #[serde(rename = "least_us")]
    pub least: Ns,
    /// See above.
    #[serde(rename = "most_us")]
    pub most: Ns,
}

impl WaitedFinding {
    /// The longest wait: what it probably was, if it is known within 2 ms or a fifth, and its bounds otherwise.
    pub fn bounds(&self) -> TimeRange {
        let is_known = self.most.0 - self.least.0 <= 2_000_000.max(self.most.0 / 5);
        let [least, most] = if is_known { [self.longest; 2] } else { [self.least, self.most] };
        TimeRange { least, most }
    }
}

/// A process.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProcessFinding {
    /// Its id, where that was recorded.
    pub pid: Option<Datum>,
    /// Its name, where that was recorded.
    pub name: Option<String>,
    /// The machine that it ran on, if there is more than one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
}

/// What ran at the same time.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MeanwhileFinding {
    /// The process.
    pub process: ProcessFinding,
    /// The thread, where that was recorded.
    pub tid: Option<i64>,
    /// The interval that overlapped; none if only single events show that the process was active.
    pub event: Option<LinkFinding>,
    /// The approximate number of events of the process, if there is no interval.
    pub events: Option<u64>,
}

/// The total of the incidents of one cause.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CauseFinding {
    /// The full name of the event; none if no event explains them.
    pub event: Option<String>,
    /// The values that identify its group.
    pub key: Pairs,
    /// The event within it that took most of the time: `fork` in BGSAVE.
    pub detail: Option<String>,
    /// What was held up, if no event explains it.
    pub kind: Option<IncidentKind>,
    /// What held it up, if no event explains it and it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<SystemCause>,
    /// What it is called, if no event explains it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_words: Option<&'static str>,
    /// The number of incidents.
    pub count: u64,
    /// Their total duration.
    #[serde(rename = "total_us")]
    pub total: Ns,
    /// How long the longest took.
    #[serde(rename = "longest_us")]
    pub longest: Ns,
    /// How much of them no event explains.
    #[serde(rename = "unexplained_us")]
    pub unexplained: Ns,
    /// The time from one to the next, if that is about the same each time.
    #[serde(rename = "period_us")]
    pub period: Option<Ns>,
    /// What it means, and what helps.
    pub advice: Option<String>,
}

/// What a cause is called where no event explains it, in all outputs.
pub fn words_without_event(system: Option<SystemCause>, kind: Option<IncidentKind>) -> &'static str {
    match (system, kind) {
        (Some(system), _) => system.in_words(),
        (None, Some(IncidentKind::Silence)) => "silent",
        (None, Some(IncidentKind::Starved)) => "not served",
        (None, _) => "in no event",
    }
}

/// A time in which tracing was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UntracedFinding {
    /// When it began: nanoseconds since 1970.
    pub begin_ns: i64,
    /// When it ended.
    pub end_ns: i64,
}

/// A process with an event loop that ended, and one of the same name that began to serve after it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RestartFinding {
    /// When the last turn of the first ended: nanoseconds since 1970.
    pub begin_ns: i64,
    /// When the first turn of the second began.
    pub end_ns: i64,
    /// The process that ended.
    pub ended: ProcessFinding,
    /// The one that began.
    pub began: ProcessFinding,
}

/// Something that can hold a program up, but did not.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NotCause {
    /// The full name of the event.
    pub event: String,
    /// The number of intervals.
    pub count: u64,
    /// How long the longest took.
    #[serde(rename = "longest_us")]
    pub longest: Ns,
}
