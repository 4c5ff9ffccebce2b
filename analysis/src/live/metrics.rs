//! Figures for monitors: counters that only rise, in a bounded number of series.

use std::collections::HashMap;
use std::sync::Arc;

use ctf_reader::Report;

use super::analysis::LiveAnalysis;
use super::counters::{GROUP_COUNTERS, add, group_counters};
use super::finding::SessionFinding;
use super::ledger::{Ledger, Series, SeriesName};
use crate::datum::{Datum, Pairs};
use crate::finding::Forgotten;
use crate::incidents::CauseFinding;
use crate::text::escape;

/// The most groups, and the most causes of incidents, that have their own series.
pub(crate) const OWN_SERIES: usize = 50;

/// The longest name in a series, in bytes.
const LONGEST_NAME: usize = 200;

/// What is counted of a cause: incidents, and the nanoseconds that it held threads up.
pub(crate) const CAUSE_COUNTERS: usize = 2;

/// What a monitor is told.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    /// The most costly groups; the last one is all others.
    pub groups: Vec<Series<GROUP_COUNTERS>>,
    /// The number of groups, with or without their own series.
    pub known_groups: u64,
    /// The worst causes of incidents; the last one is all others.
    pub causes: Vec<Series<CAUSE_COUNTERS>>,
    /// What was found on each host.
    pub hosts: Vec<HostMetrics>,
    /// What could not be told apart because there was too much of it, and the number of threads and of clients that were
    /// forgotten by their age.
    pub forgotten: Forgotten,
    /// Threads that were forgotten by their age.
    pub aged_threads: u64,
    /// Clients that were forgotten by their age.
    pub aged_clients: u64,
    /// Events that arrived, were discarded by the tracer, packets that were lost, and places that are damaged.
    pub events: u64,
    /// Events that the tracer discarded.
    pub discarded_events: u64,
    /// Packets that were lost.
    pub lost_packets: u64,
    /// Damaged places.
    pub damaged: u64,
    /// The sessions.
    pub sessions: Vec<SessionFinding>,
    /// When this was read: nanoseconds since 1970.
    pub now_ns: i64,
}

/// What was found on a host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostMetrics {
    /// Its name.
    pub host: String,
    /// The number of incidents.
    pub incidents: u64,
    /// The nanoseconds in which at least one thread was held up.
    pub blocked_ns: u64,
}

/// Reads metrics from an analysis, so that no counter goes down from one reading to the next.
#[derive(Debug)]
pub struct Meter {
    groups: Ledger<GROUP_COUNTERS>,
    causes: Ledger<CAUSE_COUNTERS>,
    last: Metrics,
}

impl Default for Meter {
    fn default() -> Self {
        Meter { groups: Ledger::new(OWN_SERIES), causes: Ledger::new(OWN_SERIES), last: Metrics::default() }
    }
}

impl Meter {
    /// What is known now.
    pub fn read(
        &mut self,
        analysis: &mut LiveAnalysis,
        report: &Report,
        sessions: Vec<SessionFinding>,
        now_ns: i64,
    ) -> Metrics {
        let board = analysis.metered();
        let mut groups: HashMap<SeriesName, [u64; GROUP_COUNTERS]> = HashMap::new();
        for group in board.totals() {
            let key = group.kind.keys.iter().map(|key| &**key).zip(group.key());
            let name = series_name(&group.kind.event, values(key), "");
            add(groups.entry(name).or_default(), &group_counters(&group.figures, group.kind.unit_ns()));
        }
        let folded = board.folded_counters();
        let known_groups = groups.len() as u64;
        let mut causes: HashMap<SeriesName, [u64; CAUSE_COUNTERS]> = HashMap::new();
        let (mut hosts, mut forgotten, mut aged) = (Vec::new(), Forgotten::default(), (0, 0));
        for found in analysis.host_totals() {
            let last =
                self.last.hosts.iter().find(|last| last.host == found.host).cloned().unwrap_or_default();
            hosts.push(HostMetrics {
                incidents: found.incidents.max(last.incidents),
                blocked_ns: found.blocked_ns.max(last.blocked_ns),
                host: found.host,
            });
            forgotten.add(found.forgotten);
            aged = (aged.0 + found.aged.0, aged.1 + found.aged.1);
            found
                .causes
                .iter()
                .for_each(|(name, counters)| add(causes.entry(name.clone()).or_default(), counters));
        }
        let last = &self.last;
        let metrics = Metrics {
            // The sum of the durations, and for events without one their number.
            groups: self.groups.update(groups, folded, |counters| counters[2].max(counters[0])),
            known_groups,
            causes: self.causes.update(causes, [0; CAUSE_COUNTERS], |counters| counters[1]),
            hosts,
            forgotten,
            aged_threads: aged.0,
            aged_clients: aged.1,
            events: report.events.max(last.events),
            discarded_events: report.discarded_events.max(last.discarded_events),
            lost_packets: report.lost_packets.max(last.lost_packets),
            damaged: (report.damage.len() as u64).max(last.damaged),
            sessions,
            now_ns,
        };
        self.last = metrics.clone();
        metrics
    }
}

/// A key as one text: its value, or with several fields their names and values.
fn values<'k>(key: impl Iterator<Item = (&'k str, Datum)>) -> String {
    let pairs: Vec<(&str, String)> = key.map(|(name, value)| (name, escape::datum(&value))).collect();
    match &pairs[..] {
        [(_, value)] => value.clone(),
        pairs => pairs.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(","),
    }
}

impl SeriesName {
    /// Of the incidents of a cause.
    pub fn of_cause(cause: &CauseFinding) -> Self {
        let Pairs(key) = &cause.key;
        let key = key.iter().map(|(name, value)| (&**name, value.clone()));
        let event = cause.event.as_deref().or(cause.in_words).unwrap_or_default();
        series_name(event, values(key), cause.detail.as_deref().unwrap_or_default())
    }
}

fn series_name(event: &str, group: String, detail: &str) -> SeriesName {
    let cut = |text: &str| {
        let end = (0..=LONGEST_NAME.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
        text[..end.unwrap_or(0)].to_owned()
    };
    SeriesName { host: String::new(), event: Arc::from(cut(event)), group: cut(&group), detail: cut(detail) }
}
