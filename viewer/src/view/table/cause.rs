//! What causes of incidents are called, in tables, on pages and on the live screen.

use super::label::name;
use ltt_analysis::incidents::{
    BesideFinding, CauseFinding, HeldBy, Incident, Side, TimeRange, words_without_event,
};
use ltt_analysis::scheduling::SystemCause;
use ltt_analysis::text::amount::counted;
use ltt_analysis::text::{escape, short_name};

/// What a cause is called, in tables and on pages.
pub fn cause_name(cause: &CauseFinding) -> String {
    let detail = cause
        .detail
        .as_ref()
        .map_or(String::new(), |detail| format!(" ({})", escape::text(short_name(detail))));
    match &cause.event {
        Some(event) => format!("{}{detail}", name(event, &cause.key)),
        None => cause.in_words.unwrap_or_default().into(),
    }
}

/// The name of what held an incident up, without figures.
pub fn incident_name(incident: &Incident) -> String {
    let system = incident.held_by.as_ref().map(|held_by| held_by.cause);
    match (&incident.cause, incident.beside) {
        (_, Some(BesideFinding { side: Side::Around, .. })) => "loading data".into(),
        (Some(cause), None) => name(&cause.event, &cause.key),
        (Some(_), Some(_)) => words_without_event(system, None).into(),
        (None, _) => words_without_event(system, Some(incident.kind)).into(),
    }
}

/// Whether the bounds are the same for a reader.
pub fn is_narrow(range: TimeRange) -> bool {
    range.least.0 * 20 >= range.most.0 * 19
}

/// What held a thread up where no event explains it, as a sentence.
pub fn held_by(held_by: &HeldBy) -> String {
    let (range, of) = (held_by.time, held_by.of.in_words());
    let part = match (is_narrow(range), range.least.0 * 20 >= held_by.of.0 * 19) {
        (_, true) => format!("all {of}"),
        (true, _) => format!("{} of {of}", range.most.in_words()),
        _ => format!("{} to {} of {of}, sampled", range.least.in_words(), range.most.in_words()),
    };
    match held_by.cause {
        SystemCause::Queued => {
            let who = held_by.had_cpu.as_ref().map(|name| format!(" (`{}` had it)", escape::text(name)));
            format!("had no CPU for {part}: waited in the run queue{}", who.unwrap_or_default())
        }
        SystemCause::Throttled => format!("had no CPU for {part}: its control group had used up its limit"),
        SystemCause::Stolen => format!("had no CPU for {part}: the hypervisor gave it to others"),
        SystemCause::Stopped => format!("stopped by a signal or a debugger for {part}"),
        SystemCause::Faults => {
            format!("blocked for {part}: {}", counted(held_by.major_faults, "major fault"))
        }
        SystemCause::Device => format!("blocked for {part}: waited for a device"),
        SystemCause::Asleep => format!("asleep for {part}: waited for a lock, a socket or another process"),
        SystemCause::OnCpu if part.starts_with("all") => "on the CPU throughout: code without events".into(),
        SystemCause::OnCpu => format!("on the CPU for {part}: code without events"),
    }
}
