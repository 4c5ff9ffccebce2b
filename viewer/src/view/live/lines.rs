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
    let waited = match incident.waited.clients {
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
mod tests {
    use super::*;
    use ltt_analysis::incidents::{HeldBy, IncidentKind, ProcessFinding, TimeRange, WaitedFinding};
    use ltt_analysis::scheduling::SystemCause;

    #[test]
    fn what_the_scheduler_explains_is_not_unexplained() {
        let ms = |count: u128| Ns(count * 1_000_000);
        let time = TimeRange { least: ms(188), most: ms(190) };
        let held_by =
            HeldBy { cause: SystemCause::Queued, time, of: ms(199), major_faults: 0, had_cpu: None };
        let starved = Incident {
            begin_ns: 0,
            end_ns: 199_000_000,
            held: ms(199),
            kind: IncidentKind::Turn,
            process: ProcessFinding { pid: None, name: None, host: None },
            cause: None,
            chain: Vec::new(),
            explained_by: Vec::new(),
            unexplained: ms(199),
            beside: None,
            evidence: None,
            is_sampled_too_seldom: false,
            held_by: Some(held_by),
            scheduler: None,
            sum: None,
            waited: WaitedFinding::default(),
            not_served: 0,
            meanwhile: Vec::new(),
            advice: None,
            is_incomplete: false,
            is_cut: false,
            charges: Vec::new(),
        };
        let line = incident(&starved, &Screen::default());
        assert!(line.contains("no CPU 1") && line.ends_with(", 11ms unexplained"), "{line}");
        let unknown = Incident { held_by: None, ..starved };
        let line = incident(&unknown, &Screen::default());
        assert!(line.ends_with("in no event"), "{line}");
    }
}
