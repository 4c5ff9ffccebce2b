//! From the engine's results to a finding: resolves names and computes totals.

use std::collections::HashSet;

use super::engine::Engine;
use super::finding::*;
use super::meanwhile::Meanwhile;
use super::stall::Stall;
use super::tally::{Cause, CauseSum};
use crate::analysis::finding::Span;
use crate::analysis::finding::{LinkFinding, Notes, Ns, TraceFinding};
use crate::analysis::intervals::{Feed, IntervalName, Link, total};
use crate::meaning::Dictionary;

/// The advice where no event explains an incident.
const UNEXPLAINED: &str = "No event covers this time: the process was stopped or had no CPU (look at steal time, swapping, \
    limits on its CPU, and what else runs on the machine), or the code that ran there has no event.";

/// The advice where an event loop slept too long.
const SILENCE: &str = "The process recorded nothing, although its timer was due or its clients were busy: it was stopped or \
    had no CPU, or all of its clients paused at once. Look at steal time, at limits on its CPU, and for a SIGSTOP or a \
    debugger.";

/// Turns the engine's results into findings.
pub struct Reporter<'a> {
    pub engine: &'a Engine,
    pub feed: &'a Feed,
    pub dictionary: &'a Dictionary,
}

impl Reporter<'_> {
    /// The finding, with at most `limit` incidents.
    pub fn report(&self, trace: TraceFinding, notes: Notes, limit: usize) -> Incidents {
        let tally = &self.engine.tally;
        let (folded, folded_total, folded_unexplained) = tally.folded();
        let mut shown: Vec<&Stall> = tally.stalls().iter().collect();
        let found = shown.len() as u64 + folded;
        shown.sort_by_key(|stall| (std::cmp::Reverse(stall.span.length_ns()), stall.span.begin_ns));
        shown.truncate(limit);
        shown.sort_by_key(|stall| (stall.span.begin_ns, stall.span.end_ns));
        let has_hosts = trace.has_several_hosts();
        let incidents: Vec<Incident> = shown.iter().map(|stall| self.incident(stall, has_hosts)).collect();
        let spans = tally.stalls().iter().map(|stall| stall.span).collect();
        let blocked = union(spans).saturating_add(folded_total);
        let unexplained = total(tally.stalls().iter().map(|stall| stall.unexplained));
        let by_cause = tally.by_cause();
        let (not_causes, unrecorded) = self.others();
        Incidents {
            threshold: ns(self.engine.threshold),
            blocked: ns(blocked),
            blocked_share: trace.per_ns(blocked as f64).map(|share| share.min(1.0)),
            unexplained: ns(unexplained.saturating_add(folded_unexplained)),
            intervals: self.engine.kinds.iter().map(|kind| kind.count).sum(),
            found,
            turns: tally.stalls().iter().filter(|stall| stall.kind == IncidentKind::Turn).count() as u64
                + tally.folded_turns(),
            hidden_incidents: found - incidents.len() as u64,
            incidents,
            causes: by_cause.iter().map(|(cause, sum)| self.cause(cause, sum)).collect(),
            periods: Vec::new(),
            not_causes,
            unrecorded,
            set_aside: self.engine.stepped,
            notes,
            trace,
        }
    }

    /// An incident, with names.
    pub fn incident(&self, stall: &Stall, has_hosts: bool) -> Incident {
        let process = |process| self.process(process, has_hosts);
        let cause = stall.cause();
        Incident {
            begin_ns: stall.span.begin_ns,
            end_ns: stall.span.end_ns,
            held: ns(stall.span.length_ns()),
            kind: stall.kind,
            process: process(self.feed.threads.thread(stall.thread).process),
            cause: cause.map(|cause| self.link(cause)),
            chain: stall.chain.iter().map(|link| self.link(link)).collect(),
            explained_by: stall.parts.iter().map(|link| self.link(link)).collect(),
            unexplained: ns(stall.unexplained),
            sum: stall.sum.map(|(name, length)| SumFinding {
                event: self.feed.lexicon.entry(name).event.clone(),
                duration: ns(length),
            }),
            waited: WaitedFinding {
                clients: stall.waited.clients,
                of: stall.waited.of,
                longest: ns(stall.waited.longest_ns),
            },
            not_served: stall.not_served,
            meanwhile: stall
                .meanwhile
                .iter()
                .map(|other| self.meanwhile(other, stall.span, has_hosts))
                .collect(),
            advice: self.advice(&Cause::of(stall)),
            is_incomplete: stall.is_incomplete,
        }
    }

    fn link(&self, link: &Link) -> LinkFinding {
        LinkFinding::new(link, &self.feed.lexicon)
    }

    fn process(&self, number: usize, has_hosts: bool) -> ProcessFinding {
        let process = self.feed.threads.process(number);
        let host = process.host_name.clone().filter(|_| has_hosts);
        ProcessFinding { pid: process.pid(), name: process.name.clone(), host }
    }

    fn meanwhile(&self, other: &Meanwhile, stall: Span, has_hosts: bool) -> MeanwhileFinding {
        match *other {
            Meanwhile::Process { process, events } => MeanwhileFinding {
                process: self.process(process, has_hosts),
                tid: None,
                event: None,
                events: Some(events),
            },
            Meanwhile::Interval { thread, interval } => {
                let overlap = interval.overlap_ns(stall);
                let (begin, end) = (interval.begin, interval.end);
                let (name, client) = (interval.name, interval.client);
                let link = Link { name, client, begin, end, length: overlap, own: overlap, count: 1 };
                MeanwhileFinding {
                    process: self.process(self.feed.threads.thread(thread).process, has_hosts),
                    tid: self.feed.threads.thread(thread).tid,
                    event: Some(self.link(&link)),
                    events: None,
                }
            }
        }
    }

    fn cause(&self, cause: &Cause, sum: &CauseSum) -> CauseFinding {
        let lexicon = &self.feed.lexicon;
        let event = |name: IntervalName| lexicon.entry(name).event.clone();
        let (name, detail, kind) = match *cause {
            Cause::Event(name, detail) => (Some(name), detail, None),
            Cause::Unexplained => (None, None, Some(IncidentKind::Turn)),
            Cause::Silence => (None, None, Some(IncidentKind::Silence)),
        };
        CauseFinding {
            event: name.map(event),
            key: name.map(|name| lexicon.key(name)).unwrap_or_default(),
            detail: detail.map(event),
            kind,
            count: sum.count,
            total: ns(sum.total),
            longest: ns(sum.longest),
            unexplained: ns(sum.unexplained),
            period: sum.period().map(ns),
            advice: self.advice(cause),
        }
    }

    /// The advice for a cause; that of the innermost event is the most specific.
    fn advice(&self, cause: &Cause) -> Option<String> {
        let of = |name: IntervalName| {
            let key: Vec<_> = self.feed.lexicon.key(name).0.into_iter().map(|(_, value)| value).collect();
            let entry = self.feed.lexicon.entry(name);
            self.dictionary.advice(&entry.event, entry.known_as.is_some(), &key).map(str::to_owned)
        };
        match *cause {
            Cause::Event(name, detail) => detail.and_then(of).or_else(|| of(name)),
            Cause::Unexplained => Some(UNEXPLAINED.to_owned()),
            Cause::Silence => Some(SILENCE.to_owned()),
        }
    }

    /// What can hold a program up according to the catalogs: the events that did not, with the longest of each, and
    /// those that were not recorded.
    fn others(&self) -> (Vec<NotCause>, Vec<String>) {
        let kinds = self.feed.lexicon.kinds();
        let mut not_causes = Vec::new();
        let mut met: HashSet<&str> = HashSet::new();
        for (number, entry) in (0..).zip(kinds) {
            let figures = self.engine.kinds.get(number as usize).copied().unwrap_or_default();
            if figures.count == 0 {
                continue;
            }
            met.extend(entry.known_as.as_deref());
            let is_part =
                self.engine.tally.involved.contains(&number) || figures.longest >= self.engine.threshold;
            if !entry.explains.is_empty() && !is_part {
                let (count, longest) = (figures.count, ns(figures.longest));
                not_causes.push(NotCause { event: entry.event.clone(), count, longest });
            }
        }
        not_causes.sort_by_key(|other| std::cmp::Reverse(other.longest));
        let is_met = |name: &str| met.contains(name);
        let known = |catalog: &lttng_catalog::Catalog| {
            let events = catalog
                .events()
                .map(|(provider, event)| (format!("{}:{}", provider.name, event.name), event));
            let events: Vec<_> = events.collect();
            let is_used = events.iter().any(|(name, _)| is_met(name));
            let unmet = events.into_iter().filter(|(name, event)| {
                is_used
                    && !event.meaning.explains.is_empty()
                    && event.meaning.repeats.is_none()
                    && !is_met(name)
            });
            unmet.map(|(name, _)| name).collect::<Vec<String>>()
        };
        (not_causes, self.dictionary.catalogs.iter().flat_map(known).collect())
    }
}

fn ns(length: i64) -> Ns {
    Ns(length.max(0) as u128)
}

/// The total length of spans; overlaps count once.
fn union(mut spans: Vec<Span>) -> i64 {
    spans.sort_by_key(|span| span.begin_ns);
    let (mut total, mut reached) = (0_i64, i64::MIN);
    for Span { begin_ns: begin, end_ns: end } in spans {
        total = total.saturating_add((end - begin.max(reached)).max(0));
        reached = reached.max(end);
    }
    total
}
