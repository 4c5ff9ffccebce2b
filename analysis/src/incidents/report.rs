//! From the engine's results to a finding: resolves names and computes totals.

use std::collections::HashSet;

use hashbrown::HashMap;

use super::advice::Advice;
use super::engine::Engine;
use super::episodes::{Group, episodes};
use super::finding::*;
use super::meanwhile::Meanwhile;
use super::stall::Stall;
use super::tally::{Cause, CauseSum, charges};
use crate::finding::Span;
use crate::finding::{LinkFinding, Notes, Ns, TraceFinding};
use crate::intervals::{Feed, IntervalName, Link, total};
use crate::meaning::Dictionary;
use crate::scheduling::{Account, SystemCause};

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
        let folded = tally.folded;
        let stalls: Vec<&Stall> = tally.stalls().collect();
        let found = stalls.len() as u64 + folded.count;
        let has_hosts = trace.has_several_hosts();
        let by_cause = tally.by_cause();
        let places: HashMap<Cause, usize> =
            by_cause.iter().enumerate().map(|(place, (cause, _))| (*cause, place)).collect();
        let charges = |stall: &Stall| {
            let charge =
                |(cause, explained)| Some(Charge { cause: *places.get(&cause)?, explained: ns(explained) });
            charges(stall).into_iter().filter_map(charge).collect()
        };
        let by_length = |stall: &&Stall| stall.span.length_ns();
        let incidents: Vec<Incident> = longest(stalls.clone(), limit, by_length, |stall| stall.span.begin_ns)
            .iter()
            .map(|stall| Incident { charges: charges(stall), ..self.incident(stall, has_hosts) })
            .collect();
        let episodes = episodes(&stalls, |stall| self.feed.scene.threads.thread(stall.thread).process);
        let all_episodes = episodes.len();
        let episodes: Vec<Episode> = longest(episodes, limit, Group::held, Group::begin)
            .iter()
            .map(|group| self.episode(group, has_hosts))
            .collect();
        let blocked = union(stalls.iter().map(|stall| stall.span.within(tally.window)).collect());
        let blocked = blocked.saturating_add(folded.time);
        let unexplained = total(stalls.iter().map(|stall| stall.unexplained));
        let unaccounted = total(stalls.iter().map(|stall| stall.unaccounted()));
        let (not_causes, unrecorded) = self.others();
        Incidents {
            threshold: ns(self.engine.threshold),
            blocked: ns(blocked),
            blocked_share: trace.per_ns(blocked as f64).map(|share| share.min(1.0)),
            unexplained: ns(unexplained.saturating_add(folded.unexplained)),
            unaccounted: ns(unaccounted.saturating_add(folded.unaccounted)),
            intervals: self.engine.lengths.kinds.iter().map(|kind| kind.count).sum(),
            found,
            turns: stalls.iter().filter(|stall| stall.kind == IncidentKind::Turn).count() as u64
                + folded.turns,
            hidden_episodes: (all_episodes - episodes.len()) as u64,
            episodes,
            hidden_incidents: found - incidents.len() as u64,
            incidents,
            causes: by_cause.iter().map(|(cause, sum)| self.cause(cause, sum)).collect(),
            periods: Vec::new(),
            not_causes,
            unrecorded,
            untraced: self.untraced(),
            restarts: self.restarts(has_hosts),
            set_aside: self.engine.stepped,
            shows_each: false,
            notes,
            trace,
        }
    }

    /// Times without tracing, in the window.
    fn untraced(&self) -> Vec<UntracedFinding> {
        let inside = self.engine.untraced.iter().map(|time| time.within(self.engine.tally.window));
        let inside = inside.filter(|time| time.length_ns() > 0);
        inside.map(|Span { begin_ns, end_ns }| UntracedFinding { begin_ns, end_ns }).collect()
    }

    /// Processes that ended and had a successor of the same name on the same machine.
    fn restarts(&self, has_hosts: bool) -> Vec<RestartFinding> {
        let processes = &self.feed.scene.threads;
        let turned = self.engine.processes.iter().enumerate();
        let turned: Vec<(usize, Span)> = turned.filter_map(|(at, state)| Some((at, state.turned?))).collect();
        let name = |number: usize| {
            let process = processes.process(number);
            (process.name.as_ref(), process.host_name.as_ref())
        };
        let successor = |&(number, span): &(usize, Span)| {
            let later = turned.iter().filter(|(other, of)| {
                of.begin_ns >= span.end_ns && name(number).0.is_some() && name(*other) == name(number)
            });
            let (other, of) = later.min_by_key(|(_, of)| of.begin_ns)?;
            let between = Span { begin_ns: span.end_ns, end_ns: of.begin_ns };
            (between.within(self.engine.tally.window).length_ns() > 0).then(|| RestartFinding {
                begin_ns: between.begin_ns,
                end_ns: between.end_ns,
                ended: self.process(number, has_hosts),
                began: self.process(*other, has_hosts),
            })
        };
        turned.iter().filter_map(successor).collect()
    }

    /// Neighbouring incidents of one cause.
    fn episode(&self, group: &Group<'_>, has_hosts: bool) -> Episode {
        let span = group.span();
        let held = group.held();
        Episode {
            begin_ns: span.begin_ns,
            end_ns: span.end_ns,
            count: group.stalls.len() as u64,
            held: ns(held),
            held_share: (held as f64 / span.length_ns().max(1) as f64).min(1.0),
            unexplained: ns(total(group.stalls.iter().map(|stall| stall.unexplained))),
            period: group.period.map(|(period, _)| ns(period)),
            regularity: group.period.map(|(_, regularity)| regularity),
            not_served: group.stalls.iter().map(|stall| stall.not_served).sum(),
            clients: group
                .stalls
                .iter()
                .filter_map(|stall| stall.cause()?.client)
                .collect::<HashSet<u32>>()
                .len() as u64,
            longest: self.incident(group.longest(), has_hosts),
        }
    }

    fn advice(&self) -> Advice<'_> {
        Advice {
            lexicon: self.feed.lexicon(),
            dictionary: self.dictionary,
            costs: &self.engine.lengths.costs,
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
            process: process(self.feed.scene.threads.thread(stall.thread).process),
            cause: cause.map(|cause| self.link(cause)),
            chain: stall.chain.iter().map(|link| self.link(link)).collect(),
            explained_by: stall.parts.iter().map(|link| self.link(link)).collect(),
            unexplained: ns(stall.unexplained),
            beside: stall.beside.map(|(side, time)| BesideFinding { side, time: ns(time) }),
            evidence: stall.evidence,
            held_by: held_by(stall),
            is_sampled_too_seldom: stall.is_sampled_too_seldom(),
            scheduler: stall.account.as_deref().map(scheduler),
            sum: stall.sum.map(|(name, length)| SumFinding {
                event: self.feed.lexicon().kinds.of(name).kind.event.clone(),
                duration: ns(length),
            }),
            waited: stall.knows_clients().then_some(stall.waited),
            not_served: stall.not_served,
            meanwhile: stall
                .meanwhile
                .iter()
                .map(|other| self.meanwhile(other, stall.span, has_hosts))
                .collect(),
            advice: self.advice().of_stall(stall),
            is_incomplete: stall.is_incomplete,
            is_cut: stall.span.within(self.engine.tally.window) != stall.span,
            charges: Vec::new(),
        }
    }

    fn link(&self, link: &Link) -> LinkFinding {
        LinkFinding::new(link, self.feed.lexicon())
    }

    fn process(&self, number: usize, has_hosts: bool) -> ProcessFinding {
        let process = self.feed.scene.threads.process(number);
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
                let link = Link { length: overlap, spent: overlap, own: overlap, ..Link::of(&interval) };
                MeanwhileFinding {
                    process: self.process(self.feed.scene.threads.thread(thread).process, has_hosts),
                    tid: self.feed.scene.threads.thread(thread).tid,
                    event: Some(self.link(&link)),
                    events: None,
                }
            }
        }
    }

    fn cause(&self, cause: &Cause, sum: &CauseSum) -> CauseFinding {
        let lexicon = self.feed.lexicon();
        let event = |name: IntervalName| lexicon.kinds.of(name).kind.event.clone();
        let system = if let Cause::System(system) = *cause { Some(system) } else { None };
        let (name, detail, kind) = match *cause {
            Cause::Event(name, detail) => (Some(name), detail, None),
            Cause::Unexplained | Cause::System(_) => (None, None, Some(IncidentKind::Turn)),
            Cause::Silence => (None, None, Some(IncidentKind::Silence)),
            Cause::Starved => (None, None, Some(IncidentKind::Starved)),
        };
        CauseFinding {
            event: name.map(event),
            key: name.map(|name| lexicon.key(name)).unwrap_or_default(),
            detail: detail.map(event),
            kind,
            system,
            in_words: name.is_none().then(|| words_without_event(system, kind)),
            count: sum.count,
            total: ns(sum.total),
            longest: ns(sum.longest),
            unexplained: ns(sum.unexplained),
            period: sum.period().map(ns),
            advice: self.advice().of_cause(cause, sum),
        }
    }

    /// What can hold a program up according to the catalogs: the events that did not, with the longest of each, and
    /// those that were not recorded.
    fn others(&self) -> (Vec<NotCause>, Vec<String>) {
        let kinds = self.feed.lexicon().kinds.list();
        let mut not_causes = Vec::new();
        let mut met: HashSet<&str> = HashSet::new();
        for (number, entry) in (0..).zip(kinds) {
            let figures = self.engine.lengths.kinds.get(number as usize).copied().unwrap_or_default();
            if figures.count == 0 {
                continue;
            }
            met.extend(entry.known_as.as_deref());
            let is_part =
                self.engine.tally.involved.contains(&number) || figures.longest >= self.engine.threshold;
            if !entry.explains.is_empty() && !is_part {
                let (count, longest) = (figures.count, ns(figures.longest));
                not_causes.push(NotCause { event: entry.kind.event.clone(), count, longest });
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

/// What held a stall up: all of it, or where no event explains it.
fn held_by(stall: &Stall) -> Option<HeldBy> {
    let account = if stall.kept.is_some() { &stall.account } else { &stall.in_gaps };
    let ((cause, time), account) = (stall.held_by()?, account.as_ref()?);
    Some(HeldBy {
        cause,
        time: time.into(),
        of: ns(account.length),
        major_faults: account.major_faults,
        had_cpu: account.had_cpu.clone().filter(|_| cause == SystemCause::Queued),
    })
}

fn scheduler(account: &Account) -> SchedulerFinding {
    SchedulerFinding {
        source: account.source,
        sampled_every: (account.pace > 0).then(|| ns(account.pace)),
        on_cpu: account.on_cpu.into(),
        stolen: account.stolen.into(),
        queued: account.queued.into(),
        throttled: account.throttled.into(),
        stopped: account.stopped.into(),
        device: account.device.into(),
        asleep: account.asleep.into(),
        voluntary_switches: account.voluntary_switches,
        involuntary_switches: account.involuntary_switches,
        minor_faults: account.minor_faults,
        major_faults: account.major_faults,
        had_cpu: account.had_cpu.clone(),
    }
}

/// The longest, in the order in which they began.
fn longest<T>(
    mut all: Vec<T>,
    limit: usize,
    length: impl Fn(&T) -> i64,
    begin: impl Fn(&T) -> i64,
) -> Vec<T> {
    all.sort_by_key(|one| (std::cmp::Reverse(length(one)), begin(one)));
    all.truncate(limit);
    all.sort_by_key(|one| (begin(one), length(one)));
    all
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
