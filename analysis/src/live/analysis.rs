//! The analysis of events as they arrive.

use std::ops::ControlFlow;
use std::sync::Arc;

use ctf_reader::{ClassIndex, DigestedEvent, Digester, EventClass, Gap, Report, Wanted};
use lttng_catalog::nearest;

use super::audience::Audience;
use super::board::Board;
use super::finding::LiveFinding;
use super::host_watch::HostTotals;
use super::slices::LookBack;
use super::watches::Watches;
use crate::finding::{GroupName, TraceFinding};
use crate::groups::{Group, Quantile, Sort, Top};
use crate::incidents::Incident;
use crate::reading::{Failure, Selection, grown};
use crate::samples::SampleQueue;
use crate::text::escape;

/// What is asked of events that arrive.
#[derive(Clone, Debug)]
pub struct LiveQuestion {
    /// How far back to look.
    pub window: LookBack,
    /// By what groups are ranked.
    pub sort: Sort,
    /// The percentiles that each group has.
    pub quantiles: Vec<Quantile>,
    /// The number of groups.
    pub limit: usize,
    /// The number of incidents.
    pub incidents: usize,
    /// Whether to compute sparklines and a heat map.
    pub is_drawn: bool,
    /// Only groups whose name contains this.
    pub narrow: String,
    /// The group to show in detail.
    pub detail: Option<GroupName>,
}

/// How often to look for samples, in nanoseconds.
const SAMPLES_EVERY: i64 = 10_000_000;

/// Groups and incidents of events as they arrive.
pub struct LiveAnalysis {
    board: Board,
    /// What is counted for monitors, whatever is selected on the screen: the first board, once there is another.
    first: Option<Board>,
    is_metered: bool,
    watches: Watches,
    /// The classes that are known, by their index, and what is wanted of them.
    classes: Vec<Option<(Arc<EventClass>, Wanted)>>,
    /// The time of the last event that was handed out; the earliest before the first.
    latest: i64,
    /// Whether no more events will arrive.
    is_over: bool,
    /// From when on the selected events are aggregated.
    since: i64,
    /// Samples of the scheduler, and the time of the event at which to look for more.
    samples: SampleQueue,
    next_samples: i64,
}

impl LiveAnalysis {
    /// An analysis of the selected events; the shortest incident takes `threshold` nanoseconds.
    pub fn new(selection: &Arc<Selection>, threshold: u64) -> LiveAnalysis {
        LiveAnalysis {
            board: Board::new(selection),
            first: None,
            is_metered: false,
            watches: Watches::new(selection, threshold),
            classes: Vec::new(),
            latest: i64::MIN,
            is_over: false,
            since: i64::MIN,
            samples: SampleQueue::default(),
            next_samples: i64::MIN,
        }
    }

    /// Explains incidents by these samples of the machine that events come from.
    pub fn with_samples(self, samples: SampleQueue) -> LiveAnalysis {
        LiveAnalysis { samples, ..self }
    }

    /// Goes on counting for monitors what is selected now, whatever is selected later.
    pub fn meter(&mut self) {
        self.is_metered = true;
    }

    /// What is counted for monitors.
    pub(super) fn metered(&mut self) -> &Board {
        self.pass_on();
        let board = self.first.as_mut().unwrap_or(&mut self.board);
        board.settle();
        board
    }

    /// What was found on each host.
    pub(super) fn host_totals(&self) -> Vec<HostTotals> {
        self.watches.totals()
    }

    /// Aggregates other events, or by other keys, from now on. Incidents are not affected.
    pub fn select(&mut self, selection: &Arc<Selection>) {
        self.pass_on();
        let before = std::mem::replace(&mut self.board, Board::new(selection));
        if self.is_metered && self.first.is_none() {
            self.first = Some(before);
        }
        self.since = self.latest;
        for (class, wanted) in self.classes.iter().flatten() {
            self.board.class(class, wanted, self.watches.plan(class.index));
        }
        for index in 0..self.classes.len() {
            self.find_idle(index);
        }
    }

    /// Finds out whether the events of a class are only counted, where they are read: two in five of what a server records only
    /// repeat other events.
    fn find_idle(&mut self, class: ClassIndex) {
        let mut boards = [&self.board].into_iter().chain(&self.first);
        let is_idle = self.watches.plan(class).is_none() && boards.all(|board| board.is_idle(class));
        self.watches.digester().only_count(class, is_idle);
    }

    /// Passes on how many events were only counted.
    fn pass_on(&mut self) {
        let LiveAnalysis { watches, board, first, .. } = self;
        let digester = Arc::clone(watches.digester());
        digester.take_counts(|class, count| {
            watches.count(class, count);
            board.count_of(class, count);
            first.iter_mut().for_each(|board| board.count_of(class, count));
        });
    }

    /// The current finding; the report says what was read, and the watermark up to when.
    pub fn finding(
        &mut self,
        question: &LiveQuestion,
        report: Report,
        watermark: Option<i64>,
    ) -> LiveFinding {
        self.pass_on();
        self.board.settle();
        let incidents = self.watches.newest(question.incidents);
        finding(&self.board, self.since, self.now(&report, watermark), question, report, incidents)
    }

    /// The time up to which something is known.
    fn now(&self, report: &Report, watermark: Option<i64>) -> Option<i64> {
        let last = Some(self.latest).filter(|&latest| latest > i64::MIN);
        // Events that were only counted may be ahead of the others until then.
        let end = report.span.as_ref().map(|span| *span.end()).filter(|_| self.is_over);
        watermark.max(last).max(end)
    }

    /// What is known now, to ask questions about while more arrives.
    pub fn freeze(&mut self, report: Report, watermark: Option<i64>) -> FrozenAnalysis {
        self.pass_on();
        self.board.settle();
        FrozenAnalysis {
            board: self.board.clone(),
            since: self.since,
            now: self.now(&report, watermark),
            report,
            incidents: self.watches.newest(FROZEN_INCIDENTS),
        }
    }

    /// Leaves the incidents settled so far out of later findings.
    pub fn mark_reported(&mut self) {
        self.watches.mark_reported();
    }

    /// Ends the analysis: no more events will arrive.
    pub fn finish(&mut self) {
        self.watches.finish();
        self.is_over = true;
    }

    /// Passes on the samples that were taken before an event at this time.
    #[cold]
    fn take_samples(&mut self, time: i64) {
        self.next_samples = time.saturating_add(SAMPLES_EVERY);
        for (time, sample) in self.samples.take() {
            self.watches.sample(time, &sample);
        }
    }

    /// Checks that the selection fits what has arrived.
    pub fn check(&mut self) -> Result<(), Failure> {
        self.pass_on();
        self.board.settle();
        self.board.finish()?;
        Ok(())
    }
}

impl Audience for LiveAnalysis {
    fn class(&mut self, class: &Arc<EventClass>, host: Option<&str>) -> Option<Wanted> {
        if let Some(Some((_, wanted))) = self.classes.get(class.index) {
            return Some(wanted.clone());
        }
        // The fields for incidents must come first; a later selection may need any other.
        let mut wanted = self.watches.want(class, host).unwrap_or_else(|| Wanted::of(class));
        (0..class.fields.len()).for_each(|index| _ = wanted.value_at(index));
        let boards = [&mut self.board].into_iter().chain(&mut self.first);
        boards.for_each(|board| board.class(class, &wanted, self.watches.plan(class.index)));
        *grown(&mut self.classes, class.index) = Some((Arc::clone(class), wanted.clone()));
        self.find_idle(class.index);
        Some(wanted)
    }

    fn digester(&self) -> Option<Arc<dyn Digester>> {
        Some(Arc::clone(self.watches.digester()) as Arc<dyn Digester>)
    }

    fn gap(&mut self, gap: Gap) {
        self.watches.gap(gap);
    }

    fn event(&mut self, event: DigestedEvent<'_>) -> ControlFlow<()> {
        let time = event.timestamp();
        self.latest = self.latest.max(time);
        if time >= self.next_samples {
            self.take_samples(time);
        }
        // Most are not looked at any further.
        let (class, digest) = (event.class(), event.digest());
        self.watches.event(event, class, digest);
        self.board.event(event, class, digest);
        self.first.iter_mut().for_each(|board| board.event(event, class, digest));
        ControlFlow::Continue(())
    }
}

/// The most incidents that can be looked at while the screen is frozen.
const FROZEN_INCIDENTS: usize = 1000;

/// What was known at a time.
pub struct FrozenAnalysis {
    board: Board,
    since: i64,
    now: Option<i64>,
    report: Report,
    incidents: (Vec<Incident>, u64),
}

impl FrozenAnalysis {
    /// The finding of that time.
    pub fn finding(&self, question: &LiveQuestion) -> LiveFinding {
        let (report, incidents) = (self.report.clone(), self.incidents.clone());
        finding(&self.board, self.since, self.now, question, report, incidents)
    }
}

/// What a board says at a time.
fn finding(
    board: &Board,
    since: i64,
    now: Option<i64>,
    question: &LiveQuestion,
    report: Report,
    (incidents, hidden_incidents): (Vec<Incident>, u64),
) -> LiveFinding {
    let at = now.unwrap_or(0);
    let window = question.window;
    let mut summary = board.summary(window, at, question.sort, report);
    let meant = narrow(&mut summary.groups, &question.narrow);
    let begin = summary.report.span.as_ref().map_or(at, |span| *span.start()).max(since);
    let begin = if window == LookBack::All { begin } else { begin.max(window.slices().begin(at)) };
    let length = match window {
        // As `top` says.
        LookBack::All if since == i64::MIN => None,
        _ => Some(at.saturating_sub(begin).max(1) as u64),
    };
    let top = Top::new(&summary, question.sort, &question.quantiles, question.limit, length);
    let trace = TraceFinding::new(&summary.report);
    let count = board.count(window, at) as f64;
    let rate_per_s = match length {
        Some(length) => Some(count * 1e9 / length as f64),
        None => trace.per_ns(count * 1e9),
    };
    let named = question.detail.as_ref();
    let position =
        named.and_then(|name| summary.groups.iter().position(|group| GroupName::of(group) == *name));
    let shown = &summary.groups[..summary.groups.len().min(question.limit)];
    let (sparks, heat) = match question.is_drawn {
        true => {
            let only = position.map(|position| &summary.groups[position]);
            (board.sparks(shown, window, at), board.heat(only, window, at))
        }
        false => Default::default(),
    };
    let mut groups = summary.groups;
    let detail = position.map(|position| board.detail(groups.swap_remove(position), &trace));
    LiveFinding {
        is_last: false,
        time_ns: now,
        lag_ns: None,
        sessions: Vec::new(),
        window,
        rate_per_s,
        incomplete_groups: board.incomplete(window, at),
        top,
        has_process_buffers: false,
        incidents,
        hidden_incidents,
        meant,
        misfit: None,
        sparks,
        heat,
        detail,
    }
}

/// Keeps the groups whose name contains a text; if there is none, returns the name that was probably meant.
fn narrow(groups: &mut Vec<Group>, text: &str) -> Option<String> {
    if text.is_empty() {
        return None;
    }
    let name = |group: &Group| {
        let keys = group.key().iter().map(|value| format!(" {}", escape::datum(value))).collect::<String>();
        format!("{}{keys}", group.kind.event)
    };
    let names: Vec<String> = groups.iter().map(name).collect();
    let wanted = text.to_lowercase();
    let mut is_kept = names.iter().map(|name| name.to_lowercase().contains(&wanted));
    groups.retain(|_| is_kept.next().unwrap_or(false));
    if !groups.is_empty() {
        return None;
    }
    let words = names.iter().flat_map(|name| name.split([' ', ':']));
    nearest(text, words).map(str::to_owned)
}
