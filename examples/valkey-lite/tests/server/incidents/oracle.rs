//! What `ltt-top incidents` must find, worked out the long way from what Babeltrace prints: no tree, no bounded memory,
//! every interval held against every other.

use std::collections::BTreeSet;

use lttng_testing::Event;

/// Events that repeat another one, or add up pieces: not intervals.
const NOT_INTERVALS: &[&str] = &[
    "valkey_server:command",
    "valkey_server:fast_command",
    "valkey_server:eventloop_cron",
    "valkey_aof:aof_write_alone",
    "valkey_aof:aof_write_active_child",
    "valkey_aof:aof_write_pending_fsync",
];

/// Clients are looked for this long before and after an incident: as long as it took, but within these.
const NEAR: std::ops::RangeInclusive<i64> = 100_000_000..=1_000_000_000;

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

/// All intervals of a trace, in the order in which they were recorded.
pub struct Oracle {
    pub intervals: Vec<Interval>,
}

impl Oracle {
    pub fn new(events: &[Event]) -> Self {
        let intervals = events.iter().filter(|event| !NOT_INTERVALS.contains(&event.name.as_str()));
        Self { intervals: intervals.map(interval).collect() }
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

    /// How much of a turn no interval covers: each covers its part of what is left of the turn.
    pub fn unexplained(&self, turn: &Interval) -> i64 {
        let mut left = vec![(turn.begin, turn.end)];
        for inner in self.outermost(turn) {
            left = left
                .into_iter()
                .flat_map(|(begin, end)| [(begin, end.min(inner.begin)), (begin.max(inner.end), end)])
                .filter(|(begin, end)| begin < end)
                .collect();
        }
        left.iter().map(|(begin, end)| end - begin).sum()
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

    /// When the last interval of this label within a turn ended.
    pub fn last_end(&self, turn: &Interval, label: &str) -> Option<i64> {
        self.inside(turn).filter(|inner| inner.label == label).map(|inner| inner.end).max()
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
