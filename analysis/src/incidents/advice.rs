//! What helps, chosen by what was seen: the number of requests, what they usually cost, and what explains the time.

use super::costs::UsualCosts;
use super::finding::Side;
use super::stall::Stall;
use super::tally::{Cause, CauseSum};
use crate::finding::Ns;
use crate::intervals::{IntervalName, Lexicon};
use crate::meaning::Dictionary;
use crate::scheduling::SystemCause;

/// Where no event explains an incident.
const UNEXPLAINED: &str = "No event covers this time: the process was stopped or had no CPU (look at steal time, swapping, \
    limits on its CPU, and what else runs on the machine), or the code that ran there has no event.";

/// Where an event loop slept too long.
const SILENCE: &str = "The process recorded nothing, although its timer was due or its clients are regular and came late all at \
    once: it was stopped or had no CPU, or what all clients share was. Look at steal time, at limits on its CPU, and for a \
    SIGSTOP or a debugger; `ltt-top record` samples which it is.";

/// Where the time after a request, or before it, is in no event.
const BEFORE: &str = "Before this request no event covers the time: the server mostly read it, or a part of another \
    client's. Large values take long to receive and to copy; send smaller ones, or split them.";
const AFTER: &str = "After this request no event covers the time until the loop slept: the server mostly wrote answers. Large \
    answers, and messages to many subscribers, take long; ask for less at a time, or publish to fewer clients of one server.";

/// Where data was loaded.
const LOADING: &str = "The server loaded data, mostly as a replica after a full synchronization, and refused requests meanwhile. \
    Avoid full synchronizations (repl-backlog-size, repl-timeout), keep the old data until the new is there \
    (repl-diskless-load swapdb), and do not send clients to a replica that loads.";

/// Where one client had many requests answered in a turn.
const PIPELINE: &str = "One client sent many requests at once, and nobody else was served until all of them were answered. \
    Send smaller batches, and read the answers of one before sending the next.";

/// Where many clients had requests answered in a turn.
const CROWD: &str = "Many requests were answered in one turn: each was fast, their number took the time. The server is close \
    to its limit, or its clients send at the same moment; spread them over time or over more servers.";

/// Where clients were not served although the loop turned.
const STARVED: &str = "The event loop turned, but these clients were not served: they were paused (CLIENT PAUSE, a failover), \
    or what they asked for waited elsewhere.";

/// Where no event explains an incident, but what the scheduler did.
fn of_system(cause: SystemCause) -> &'static str {
    match cause {
        SystemCause::Queued => {
            "The thread was ready, but others had its CPU. Give it a CPU to itself (isolcpus, cpusets, taskset), move what \
             else runs on the machine, or give that a lower priority (nice, cpu.weight)."
        }
        SystemCause::Throttled => {
            "The control group of the process had used up its CPU time for this period: raise its limit (cpu.max, a \
             container's CPU limit), or use fewer threads."
        }
        SystemCause::Stolen => {
            "The hypervisor gave the CPU to other machines (steal time): move this one, or pay for CPUs that are not shared."
        }
        SystemCause::Stopped => {
            "A signal or a debugger stopped the process: look for SIGSTOP, SIGTSTP, a debugger or a tracer that is attached, \
             and a freezer of containers."
        }
        SystemCause::Faults => {
            "Pages had to be read from a disk: memory was swapped out, or a mapped file was not in the page cache. Give the \
             machine more memory, switch swapping off for this process, or lock its memory."
        }
        SystemCause::Device => {
            "The thread waited for a device in the kernel, mostly a disk: look at its latency (iostat), and at what writes much."
        }
        SystemCause::Asleep => {
            "The thread waited in code that has no events: for a lock, a socket, a pipe or another process."
        }
        SystemCause::OnCpu => {
            "The thread had its CPU: the code that ran has no event. A profiler (perf record) says which it is."
        }
    }
}

/// This many requests in one incident are a batch: no single one of them took long.
const BATCH: u64 = 10;

/// A request that took this many times what it usually takes was not slow because of what it does.
const UNUSUAL: i64 = 50;

/// Chooses advice.
pub struct Advice<'a> {
    pub lexicon: &'a Lexicon,
    pub dictionary: &'a Dictionary,
    pub costs: &'a UsualCosts,
}

/// What is known of the events that explain an incident, or the incidents of one cause.
struct Seen {
    cause: Cause,
    /// The number of intervals in one incident, and of clients that they were for.
    intervals: u64,
    clients: u64,
    /// How long a single one took at most.
    longest: i64,
}

impl Advice<'_> {
    /// The advice for an incident.
    pub fn of_stall(&self, stall: &Stall) -> Option<String> {
        if let (Some((side, _)), Cause::Event(name, detail)) = (stall.beside, Cause::of(stall)) {
            let general = match side {
                Side::Before => BEFORE,
                Side::After => AFTER,
                Side::Around => return Some(LOADING.to_owned()),
            };
            let known = self.catalogs(detail.unwrap_or(name));
            let is_special = detail.is_some() || known != self.of_event(name, &[]);
            return known.filter(|_| is_special).or_else(|| Some(general.to_owned()));
        }
        let cause = stall.cause();
        let intervals = cause.map_or(0, |link| link.count);
        self.choose(&Seen {
            cause: Cause::of(stall),
            intervals,
            clients: cause.map_or(0, |link| link.clients),
            longest: cause.map_or(0, |link| link.length) / intervals.max(1) as i64,
        })
    }

    /// The advice for all incidents of a cause.
    pub fn of_cause(&self, cause: &Cause, sum: &CauseSum) -> Option<String> {
        let intervals = sum.intervals / sum.count.max(1);
        let longest = sum.longest / intervals.max(1) as i64;
        self.choose(&Seen { cause: *cause, intervals, clients: sum.clients, longest })
    }

    fn choose(&self, seen: &Seen) -> Option<String> {
        match seen.cause {
            Cause::System(cause) => Some(of_system(cause).to_owned()),
            Cause::Unexplained => Some(UNEXPLAINED.to_owned()),
            Cause::Silence => Some(SILENCE.to_owned()),
            Cause::Starved => Some(STARVED.to_owned()),
            Cause::Event(_, Some(detail)) if self.catalogs(detail).is_some() => self.catalogs(detail),
            Cause::Event(_, _) if seen.intervals >= BATCH && seen.clients > 0 => {
                Some(if seen.clients == 1 { PIPELINE } else { CROWD }.to_owned())
            }
            Cause::Event(name, _) => self.unusual(name, seen).or_else(|| self.catalogs(name)),
        }
    }

    /// That a request took much longer than it usually does, unless the catalogs know of this very request what helps.
    fn unusual(&self, name: IntervalName, seen: &Seen) -> Option<String> {
        let usual = self.costs.mean(name).filter(|_| seen.clients > 0)?;
        if seen.longest < usual.saturating_mul(UNUSUAL) || self.catalogs(name) != self.of_event(name, &[]) {
            return None;
        }
        let usual = Ns(usual.max(0) as u128).in_words();
        Some(format!(
            "It usually takes {usual}, so what it does is rarely the reason: look for page faults, swapping, and what else \
             runs on its CPU; or this one asked for far more data than the others."
        ))
    }

    /// What the catalogs advise.
    fn catalogs(&self, name: IntervalName) -> Option<String> {
        let key: Vec<_> = self.lexicon.key(name).0.into_iter().map(|(_, value)| value).collect();
        self.of_event(name, &key)
    }

    fn of_event(&self, name: IntervalName, key: &[crate::datum::Datum]) -> Option<String> {
        let entry = self.lexicon.kinds.of(name);
        self.dictionary.advice(&entry.kind.event, entry.known_as.is_some(), key).map(str::to_owned)
    }
}
