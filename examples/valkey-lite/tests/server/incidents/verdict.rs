//! What was found held against what happened.

use super::oracle::SUM;
use super::report::{Incident, Link};
use super::stage::Recording;

const MILLISECOND: i64 = 1_000_000;

/// Whether a part that is not longer lies inside of another one, times in whole microseconds cannot tell.
const TICKS: i64 = 2_000;

impl Recording {
    /// The one incident, a turn of the loop, that was provoked: its chain begins with these labels. Other incidents of a
    /// busy machine may be there, but not at its time, and all of them must be in the trace.
    pub fn only_turn(&self, chain: &[&str]) -> &Incident {
        let incident = self.only(|incident| incident.kind == "turn" && incident.labels().starts_with(chain));
        self.began_when_provoked(incident);
        let turn = self.oracle.ended("eventloop", incident.end).expect("a turn that ended then");
        assert!((incident.begin - turn.begin).abs() <= MILLISECOND, "{incident:#?}");
        incident
    }

    /// The incidents, turns of the loop, whose chains begin with these labels: one at least, and none was there before.
    pub fn turns(&self, chain: &[&str]) -> Vec<&Incident> {
        self.agrees_with_the_trace();
        let of_server = self.report.incidents.iter().filter(|incident| incident.pid == self.pid);
        let turns =
            of_server.filter(|incident| incident.kind == "turn" && incident.labels().starts_with(chain));
        let turns: Vec<_> = turns.collect();
        assert!(!turns.is_empty(), "no such incident: {:#?}", self.report.incidents);
        turns.iter().for_each(|incident| self.began_when_provoked(incident));
        turns
    }

    /// Whether anything of the server is told of the time in which something was provoked.
    pub fn is_told(&self) -> bool {
        let of_server = |incident: &&Incident| incident.pid == self.pid;
        self.report.incidents.iter().filter(of_server).any(|incident| incident.overlaps(self.begin, self.end))
    }

    /// The one incident like this that was provoked.
    pub fn only(&self, is_like: impl Fn(&Incident) -> bool) -> &Incident {
        self.agrees_with_the_trace();
        let (begin, end) = (self.begin - MILLISECOND, self.end + MILLISECOND);
        let of_server = || self.report.incidents.iter().filter(|incident| incident.pid == self.pid);
        let provoked = of_server().filter(|incident| incident.overlaps(begin, end) && is_like(incident));
        let [incident] = provoked.collect::<Vec<_>>()[..] else {
            panic!("not one such incident between {begin} and {end}: {:#?}", self.report.incidents)
        };
        let same_time = of_server().filter(|other| other.overlaps(incident.begin, incident.end));
        assert_eq!(same_time.count(), 1, "told twice: {:#?}", self.report.incidents);
        assert!(incident.advice.is_some(), "{incident:#?}");
        incident
    }

    /// It was not there before anything was provoked.
    pub fn began_when_provoked(&self, incident: &Incident) {
        assert!(incident.begin >= self.begin - MILLISECOND, "it began before {}: {incident:#?}", self.begin);
    }

    /// Every incident is in the trace with these very figures, and every long turn of the trace is an incident.
    pub fn agrees_with_the_trace(&self) {
        let of_kind =
            |kind: &'static str| self.report.incidents.iter().filter(move |incident| incident.kind == kind);
        let found: Vec<_> =
            of_kind("turn").map(|turn| (turn.pid, turn.begin, turn.end, turn.unexplained)).collect();
        let mut expected: Vec<_> = self
            .oracle
            .turns(self.threshold)
            .map(|turn| (turn.pid, turn.begin, turn.end, self.oracle.unexplained(turn)))
            .collect();
        expected.sort_by_key(|&(_, begin, end, _)| (begin, end));
        assert_eq!(found, expected, "{:#?}", self.report.incidents);
        of_kind("turn").for_each(|incident| self.turn_agrees(incident));
        of_kind("silence").for_each(|incident| self.silence_agrees(incident));
        of_kind("interval").for_each(|incident| self.interval_agrees(incident));
        for incident in &self.report.incidents {
            assert!(!incident.is_incomplete, "nothing was lost: {incident:#?}");
            assert_eq!(incident.held, incident.end - incident.begin, "{incident:#?}");
            let time = (incident.begin, incident.end);
            for (pid, label) in &incident.meanwhile {
                let ran = label.as_ref().is_none_or(|label| self.oracle.ran_meanwhile(*pid, label, time));
                assert!(ran, "{label:?} of {pid} did not run meanwhile: {incident:#?}");
            }
        }
    }

    fn turn_agrees(&self, incident: &Incident) {
        let turn = self.oracle.ended("eventloop", incident.end).expect("compared before");
        let labels = self.oracle.labels(turn);
        let parts = || incident.explained_by.iter().filter(|part| part.label != SUM && part.duration > TICKS);
        for part in parts() {
            assert!(labels.contains(&part.label), "{incident:#?} has {labels:?}");
            assert_eq!(part.duration, self.oracle.part(turn, &part.label), "{} of {incident:#?}", part.label);
        }
        let largest = labels.iter().map(|label| self.oracle.part(turn, label)).max().unwrap_or(0);
        let said = parts().map(|part| part.duration).max().unwrap_or(0);
        assert!((said - largest).abs() <= TICKS, "{incident:#?} has {labels:?}");
        // The sum is known only later: clients waited for the largest part that is an interval.
        let is_large = |part: &&Link| part.spent * 10 >= incident.held;
        let awaited = match &incident.cause {
            Some(cause) if cause.label == SUM => parts().find(is_large),
            cause => cause.as_ref(),
        };
        // Clients waited for the last of them. Durations are cut to whole microseconds, so one of a name may lie outside of
        // the one that it was in: then the last of the others counts.
        let ends = awaited.map_or(Vec::new(), |cause| self.oracle.ends(turn, &cause.label));
        let is_each_told = awaited.is_none_or(|cause| cause.count == ends.len() as u64);
        let last = ends.len() - usize::from(!ends.is_empty());
        let ends = if is_each_told { &ends[last..] } else { &ends[..] };
        let culprit = awaited.and_then(|cause| cause.client.as_deref());
        self.waited_agrees(incident, ends, culprit);
    }

    /// It is in the trace, outside of turns, and explains itself.
    fn interval_agrees(&self, incident: &Incident) {
        let root = self.oracle.ended(&incident.chain[0].label, incident.end).expect("it is in the trace");
        assert_eq!((incident.begin, incident.unexplained), (root.begin, 0), "{incident:#?}");
        let turns = self.oracle.turns(0).filter(|turn| turn.pid == incident.pid);
        assert_eq!(turns.filter(|turn| root.is_within(turn)).count(), 0, "{incident:#?}");
        let culprit = incident.cause.as_ref().and_then(|cause| cause.client.as_deref());
        self.waited_agrees(incident, &[], culprit);
    }

    /// Nobody waited for much longer than between what was served before it and again only after one of the times at which its cause
    /// may have ended, or else its end. Who was ready meanwhile only clients know: viewer/tests/live/truth asks them.
    fn waited_agrees(&self, incident: &Incident, ends: &[i64], culprit: Option<&str>) {
        let ends = if ends.is_empty() { &[incident.end] } else { ends };
        let waited = |&since: &i64| {
            let span = (incident.begin, incident.end);
            let waited = self.oracle.waited(incident.pid, span, since, culprit);
            (waited.clients, waited.of, waited.longest)
        };
        let counted: Vec<_> = ends.iter().map(waited).collect();
        let (clients, of, longest) = incident.waited;
        let is_near = |(_, _, gap): &(u64, u64, i64)| longest <= 2 * gap + 20_000_000;
        assert!(clients <= of && counted.iter().any(is_near), "{counted:?}: {incident:#?}");
    }

    /// Nothing was recorded meanwhile, and all of it is unexplained.
    fn silence_agrees(&self, incident: &Incident) {
        let of_loop = self.oracle.intervals.iter().filter(|interval| interval.pid == incident.pid);
        let mut meanwhile =
            of_loop.filter(|interval| incident.begin < interval.end && interval.end < incident.end);
        assert_eq!(meanwhile.next(), None, "{incident:#?}");
        assert!(incident.cause.is_none() && incident.chain.is_empty(), "{incident:#?}");
        assert_eq!(incident.unexplained, incident.held, "{incident:#?}");
        self.waited_agrees(incident, &[], None);
    }
}
