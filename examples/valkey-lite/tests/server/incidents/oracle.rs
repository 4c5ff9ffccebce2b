//! What `ltt-top incidents` must find, worked out the long way from what Babeltrace prints: no tree, no bounded memory,
//! every interval held against every other.

use std::collections::{BTreeMap, BTreeSet};

use lttng_testing::Event;

/// Events that repeat another one: not intervals.
const NOT_INTERVALS: &[&str] = &[
    "valkey_server:command",
    "valkey_server:fast_command",
    "valkey_aof:aof_write_alone",
    "valkey_aof:aof_write_active_child",
    "valkey_aof:aof_write_pending_fsync",
];

/// Clients are looked for this long before and after an incident: as long as it took, but within these.
const NEAR: std::ops::RangeInclusive<i64> = 100_000_000..=1_000_000_000;

/// The pieces of housekeeping in a turn, added up: not an interval. It is recorded just after its turn.
pub const SUM: &str = "eventloop_cron";

/// Up to this time before a command went into handling it, if something else of the turn was before; nanoseconds.
const HANDLING: i64 = 100_000;

/// The number of parts of a turn that are told.
const PARTS: usize = 5;

/// Something that took time, on one thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interval {
    pub pid: i64,
    tid: i64,
    /// The event without its provider, or the command.
    pub label: String,
    /// Whose command it was.
    pub client: Option<String>,
    pub begin: i64,
    pub end: i64,
}

impl Interval {
    pub fn length(&self) -> i64 {
        self.end - self.begin
    }

    fn overlap(&self, other: &Interval) -> i64 {
        (self.end.min(other.end) - self.begin.max(other.begin)).max(0)
    }

    /// Durations are whole microseconds and end where they are recorded, a little late: the larger part decides.
    pub fn is_within(&self, other: &Interval) -> bool {
        match self.length() {
            0 => (other.begin..=other.end).contains(&self.end),
            length => self.overlap(other) * 2 > length,
        }
    }
}

/// Who waited for an incident to end.
#[derive(Debug, PartialEq, Eq)]
pub struct Waited {
    pub clients: u64,
    pub of: u64,
    pub longest: i64,
}

/// All intervals of a trace, in the order in which they were recorded, and the sums.
pub struct Oracle {
    pub intervals: Vec<Interval>,
    sums: Vec<Interval>,
}

impl Oracle {
    pub fn new(events: &[Event]) -> Self {
        let intervals = events.iter().filter(|event| !NOT_INTERVALS.contains(&event.name.as_str()));
        let (sums, intervals) = intervals.map(interval).partition(|interval| interval.label == SUM);
        Self { intervals, sums }
    }

    /// The turns that took at least this long.
    pub fn turns(&self, threshold: i64) -> impl Iterator<Item = &Interval> {
        self.intervals.iter().filter(move |turn| is_turn(turn) && turn.length() >= threshold)
    }

    /// Everything else that lies within a turn, in the order in which it ended.
    fn inside<'a>(&'a self, turn: &'a Interval) -> impl Iterator<Item = &'a Interval> {
        let is_same_thread = |other: &&Interval| (other.pid, other.tid) == (turn.pid, turn.tid);
        self.intervals.iter().filter(is_same_thread).filter(|other| !is_turn(other) && other.is_within(turn))
    }

    /// How much of a turn neither an interval nor handling a command covers, less what the sum explains of that.
    pub fn unexplained(&self, turn: &Interval) -> i64 {
        let mut left = vec![(turn.begin, turn.end)];
        for inner in self.outermost(turn) {
            let begin_of_inner = inner.begin - self.handling(inner);
            left = left
                .into_iter()
                .flat_map(|(begin, end)| [(begin, end.min(begin_of_inner)), (begin.max(inner.end), end)])
                .filter(|(begin, end)| begin < end)
                .collect();
        }
        let uncovered = left.iter().map(|(begin, end)| end - begin).sum();
        uncovered - self.summed(turn, uncovered)
    }

    /// How long handling a command took before it began: since whatever ended last before it in its turn.
    fn handling(&self, inner: &Interval) -> i64 {
        let of_thread = |other: &&Interval| (other.pid, other.tid) == (inner.pid, inner.tid);
        let place =
            self.intervals.iter().position(|other| std::ptr::eq(other, inner)).expect("it is one of them");
        let mut before = self.intervals[..place].iter().rev().filter(of_thread);
        let before =
            before.find(|other| is_turn(other) || !other.is_within(inner)).filter(|other| !is_turn(other));
        let gap = before.map_or(i64::MAX, |before| inner.begin - before.end);
        if inner.client.is_some() && gap <= HANDLING { gap.max(0) } else { 0 }
    }

    /// How much of what nothing covers the sum explains: what it exceeds the parts without a client by, if that is a tenth
    /// of the turn.
    fn summed(&self, turn: &Interval, uncovered: i64) -> i64 {
        let is_of_turn = |sum: &&Interval| {
            (sum.pid, sum.tid) == (turn.pid, turn.tid) && (turn.end..turn.end + 1_000_000).contains(&sum.end)
        };
        let sum = self.sums.iter().find(is_of_turn).map_or(0, Interval::length);
        let outermost = self.outermost(turn);
        let mut parts: BTreeMap<&str, (i64, i64, bool)> = BTreeMap::new();
        for inner in outermost {
            let part = parts.entry(&inner.label).or_insert((0, inner.begin, false));
            let spent = inner.length() + self.handling(inner);
            *part = (part.0 + spent, part.1.min(inner.begin), part.2 || inner.client.is_some());
        }
        let mut parts: Vec<(i64, i64, bool)> = parts.into_values().collect();
        parts.sort_by_key(|(spent, begin, _)| (-spent, *begin));
        let pieces = parts.iter().take(PARTS).filter(|(_, _, has_client)| !has_client);
        let explained = (sum - pieces.map(|(spent, ..)| spent).sum::<i64>()).clamp(0, uncovered);
        if sum > turn.length() || explained * 10 < turn.length() { 0 } else { explained }
    }

    /// What lies within a turn, and within nothing else there that was recorded later.
    fn outermost<'a>(&'a self, turn: &'a Interval) -> Vec<&'a Interval> {
        let mut outermost: Vec<&Interval> = Vec::new();
        let inside: Vec<_> = self.inside(turn).collect();
        for inner in inside.into_iter().rev() {
            if !outermost.iter().any(|outer| inner.is_within(outer)) {
                outermost.push(inner);
            }
        }
        outermost
    }

    /// How much time the outermost intervals of this label take within a turn.
    pub fn part(&self, turn: &Interval, label: &str) -> i64 {
        self.outermost(turn).iter().filter(|inner| inner.label == label).map(|inner| inner.length()).sum()
    }

    /// The labels of the outermost intervals within a turn.
    pub fn labels(&self, turn: &Interval) -> BTreeSet<String> {
        self.outermost(turn).iter().map(|inner| inner.label.clone()).collect()
    }

    /// When the intervals of this label within a turn ended, in the order of time.
    pub fn ends(&self, turn: &Interval, label: &str) -> Vec<i64> {
        let labelled = self.inside(turn).filter(|inner| inner.label == label);
        let mut ends: Vec<i64> = labelled.map(|inner| inner.end).collect();
        ends.sort_unstable();
        ends
    }

    /// The longest interval of this label.
    pub fn longest(&self, label: &str) -> &Interval {
        let labelled = self.intervals.iter().filter(|interval| interval.label == label);
        labelled
            .max_by_key(|interval| interval.length())
            .unwrap_or_else(|| panic!("{label} was not recorded"))
    }

    /// Whether this event of another thread took a part of a time that is worth telling.
    pub fn ran_meanwhile(&self, pid: i64, label: &str, (begin, end): (i64, i64)) -> bool {
        let time = |interval: &Interval| interval.end.min(end) - interval.begin.max(begin);
        let labelled =
            self.intervals.iter().filter(|interval| interval.pid == pid && interval.label == label);
        labelled.map(time).any(|time| time * 10 >= end - begin)
    }

    /// The interval of this label that ended here.
    pub fn ended(&self, label: &str, end: i64) -> Option<&Interval> {
        self.intervals.iter().find(|interval| interval.label == label && interval.end == end)
    }

    /// Which clients of a process were served shortly before a time and again only after `since`, but for the one who
    /// caused it.
    pub fn waited(&self, pid: i64, (begin, end): (i64, i64), since: i64, culprit: Option<&str>) -> Waited {
        let near = (end - begin).clamp(*NEAR.start(), *NEAR.end());
        let served = || {
            let of_process = self.intervals.iter().filter(|interval| interval.pid == pid);
            of_process.filter_map(|interval| Some((interval.end, interval.client.as_deref()?)))
        };
        let is_before = |time: i64| (begin - near..=begin).contains(&time);
        let active: BTreeSet<&str> =
            served().filter(|(time, _)| is_before(*time)).map(|(_, who)| who).collect();
        let active: Vec<&str> = active.into_iter().filter(|&who| Some(who) != culprit).collect();
        let first = |who: &&str| {
            let mut after = served().filter(|(time, _)| *time > since && *time <= end + near);
            after.find(|(_, other)| other == who).map(|(time, _)| time - begin)
        };
        let waits: Vec<i64> = active.iter().filter_map(first).collect();
        Waited {
            clients: waits.len() as u64,
            of: active.len() as u64,
            longest: waits.into_iter().max().unwrap_or(0),
        }
    }
}

fn is_turn(interval: &Interval) -> bool {
    interval.label == "eventloop"
}

fn interval(event: &Event) -> Interval {
    let number = |text: &str| text.parse::<i64>().expect("a number");
    let unquoted = |text: &str| text.trim_matches('"').to_owned();
    let is_call = event.name == "valkey_commands:command_call";
    let short = event.name.split_once(':').map_or(event.name.as_str(), |(_, short)| short);
    Interval {
        pid: number(event.context("vpid")),
        tid: number(event.context("vtid")),
        label: if is_call { unquoted(event.field("name")) } else { short.to_owned() },
        client: is_call.then(|| unquoted(event.field("addr"))).filter(|client| !client.is_empty()),
        begin: event.timestamp - number(event.field("duration")) * 1000,
        end: event.timestamp,
    }
}
