//! Lines for sessions and incidents.

use crate::view::Screen;
use crate::view::table::incident_cause;
use ltt_analysis::finding::Ns;
use ltt_analysis::incidents::Incident;
use ltt_analysis::live::LiveFinding;
use ltt_analysis::text::amount::counted;
use ltt_analysis::text::escape;

/// The state of each session.
pub fn sessions(finding: &LiveFinding) -> Vec<String> {
    let session = |session: &ltt_analysis::live::SessionFinding| {
        let reason = session.reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
        escape::text(&format!("{} {}{reason}", session.url, session.state))
    };
    finding.sessions.iter().map(session).collect()
}

/// The lag of the newest events.
pub fn lag(finding: &LiveFinding) -> String {
    finding.lag_ns.map_or("no events yet".into(), |lag| format!("lag {}", Ns::from(lag).in_words()))
}

/// What to say of a session with buffers for each process.
pub const PROCESS_BUFFERS: &str = "the session has buffers for each process: events of processes that have ended may be \
    missing, as relays do not show all of them (create its channel with --buffers-uid)";

/// What is missing, if anything is.
pub fn losses(finding: &LiveFinding) -> Option<String> {
    let trace = &finding.top.trace;
    let parts = [
        (trace.discarded_events, "event", "discarded"),
        (trace.lost_packets, "packet", "lost"),
        (trace.damage.len() as u64, "place", "damaged"),
        (finding.unseen_streams(), "stream", "of ended processes not shown by the relay"),
        (finding.incomplete_groups, "group", "incomplete: there are too many"),
    ];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, what, how)| format!("{} {how}", counted(*count, what)))
        .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// An incident: when, how long, why, and how many waited.
pub fn incident(incident: &Incident, screen: &Screen) -> String {
    // What lies in no event is said as the cause, if it is the largest part.
    let is_the_cause = incident.beside.is_some() || (incident.cause.is_none() && incident.held_by.is_none());
    let unexplained = match incident.unaccounted() {
        Ns(0) => String::new(),
        _ if is_the_cause => String::new(),
        unexplained => format!(", {} unexplained", unexplained.short()),
    };
    let waited = match incident.waited.map_or(0, |waited| waited.clients) {
        0 => String::new(),
        clients => format!(", {} waited", counted(clients, "client")),
    };
    let held = incident.held.short();
    format!(
        "{} {held:>7} {}{unexplained}{waited}",
        screen.time_of_day(incident.begin_ns),
        incident_cause(incident)
    )
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use ltt_analysis::datum::Pairs;
    use ltt_analysis::incidents::{CauseFinding, HeldBy, IncidentKind, words_without_event};
    use ltt_analysis::incidents::{ProcessFinding, TimeRange};
    use ltt_analysis::live::SeriesName;
    use ltt_analysis::scheduling::SystemCause;

    use crate::view::table::{cause_name, incident_name};

    /// An incident of 199 ms that no event explains, 188 to 190 of which the scheduler may.
    pub fn in_no_event(kind: IncidentKind, system: Option<SystemCause>) -> Incident {
        let ms = |count: u128| Ns(count * 1_000_000);
        let time = TimeRange { least: ms(188), most: ms(190) };
        let held_by = |cause| HeldBy { cause, time, of: ms(199), major_faults: 0, had_cpu: None };
        Incident {
            begin_ns: 0,
            end_ns: 199_000_000,
            held: ms(199),
            kind,
            process: ProcessFinding { pid: None, name: None, host: None },
            cause: None,
            chain: Vec::new(),
            explained_by: Vec::new(),
            unexplained: ms(199),
            beside: None,
            evidence: None,
            is_sampled_too_seldom: false,
            held_by: system.map(held_by),
            scheduler: None,
            sum: None,
            waited: None,
            not_served: 0,
            meanwhile: Vec::new(),
            advice: None,
            is_incomplete: false,
            is_cut: false,
            charges: Vec::new(),
        }
    }

    /// Every kind of cause that is not an event.
    pub fn kinds() -> impl Iterator<Item = (IncidentKind, Option<SystemCause>)> {
        let of_system = SystemCause::ALL.map(|system| (IncidentKind::Turn, Some(system)));
        let others = [IncidentKind::Turn, IncidentKind::Silence, IncidentKind::Starved];
        of_system.into_iter().chain(others.map(|kind| (kind, None)))
    }

    #[test]
    fn what_the_scheduler_explains_is_not_unexplained() {
        let line = incident(&in_no_event(IncidentKind::Turn, Some(SystemCause::Queued)), &Screen::default());
        assert!(line.contains("no CPU 1") && line.ends_with(", 11ms unexplained"), "{line}");
        let line = incident(&in_no_event(IncidentKind::Turn, None), &Screen::default());
        assert!(line.ends_with("in no event"), "{line}");
    }

    #[test]
    fn live_lines_tables_pages_timelines_and_metrics_have_the_same_words_for_every_cause() {
        for (kind, system) in kinds() {
            let words = words_without_event(system, Some(kind));
            let found = in_no_event(kind, system);
            let line = incident(&found, &Screen::default());
            assert!(line.contains(words), "{words}: {line}");
            assert_eq!(incident_name(&found), words, "timeline");
            let cause = CauseFinding {
                event: None,
                key: Pairs(Vec::new()),
                detail: None,
                kind: Some(kind),
                system,
                in_words: Some(words),
                count: 1,
                total: Ns(0),
                longest: Ns(0),
                unexplained: Ns(0),
                period: None,
                advice: None,
            };
            assert_eq!(cause_name(&cause), words, "table and page");
            assert_eq!(&*SeriesName::of_cause(&cause).event, words, "metrics");
        }
    }
}
