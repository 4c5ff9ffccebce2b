//! The sentences of a report.

use minijinja::{Value, context};

use super::data::Limits;
use crate::view::table::{
    incident_footnotes, incident_headline, outlier_footnotes, outlier_rule, shared_by, slow_period,
};
use crate::view::{Screen, notes};
use ltt_analysis::finding::Ns;
use ltt_analysis::overview::Overview;
use ltt_analysis::text::amount::{counted, grouped, share};
use ltt_analysis::text::escape;

/// What was read, where, and of whom.
pub fn heading(overview: &Overview, screen: &Screen) -> Vec<String> {
    let mut lines = vec![notes::heading(&overview.top.trace, screen)];
    let hosts: Vec<String> = overview.top.trace.hosts.iter().map(|host| escape::text(host)).collect();
    let processes = overview
        .info
        .processes
        .as_ref()
        .map(|processes| processes.len() as u64 + overview.info.hidden_processes);
    let mut from = Vec::new();
    if !hosts.is_empty() {
        let more = hosts.len().saturating_sub(5);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        from.push(format!("recorded on {}{more}", hosts.into_iter().take(5).collect::<Vec<_>>().join(", ")));
    }
    from.extend(processes.filter(|&count| count > 0).map(|count| match count {
        1 => "1 process".to_owned(),
        count => format!("{count} processes"),
    }));
    lines.extend((!from.is_empty()).then(|| from.join(", ")));
    lines
}

/// The texts of the page, by the names that the template has for them.
pub fn context(overview: &Overview, limits: &Limits, screen: &Screen) -> Value {
    let Overview { top, incidents, outliers, info, clients, .. } = overview;
    let longest = incidents.incidents.iter().map(|incident| incident.held).max();
    let slowest = overview.slow.first();
    let unusual = outliers.found
        + (outliers.modes.len() + outliers.periods.len() + outliers.drifts.len()) as u64
        + outliers.hidden_modes
        + outliers.hidden_periods
        + outliers.hidden_drifts;
    let mut tiles = vec![
        tile(grouped(top.trace.events.into()), "events recorded".into()),
        tile(
            incidents.blocked_share.map_or("–".into(), share),
            format!("of the time blocked, in {}", counted(incidents.found, "incident")),
        ),
    ];
    let words = [longest.map(Ns::in_words), slowest.map(|event| event.duration.in_words())];
    match words {
        [Some(longest), Some(slowest)] if longest == slowest => {
            tiles.push(tile(longest, "the longest incident, and the slowest event".into()));
        }
        [longest, slowest] => {
            tiles.extend(longest.map(|longest| tile(longest, "the longest incident".into())));
            tiles.extend(slowest.map(|slowest| tile(slowest, "the slowest event".into())));
        }
    }
    tiles.push(tile(grouped(unusual.into()), "unusual events, modes, periods and drifts".into()));
    let sources = info.traces.iter().flat_map(|trace| {
        let host = trace.host.as_deref().map_or(String::new(), |host| format!(", on {}", escape::text(host)));
        let tracer =
            trace.tracer.as_deref().map_or(String::new(), |tracer| format!(", by {}", escape::text(tracer)));
        let streams = counted(trace.streams as u64, "stream");
        let folder = move |folder: &String| format!("{}: {streams}{host}{tracer}", escape::text(folder));
        trace.folders.iter().map(folder)
    });
    let outlier_notes: Vec<String> =
        outlier_footnotes(outliers).iter().map(|note| note.replace(" (-n shows more)", "")).collect();
    context! {
        tiles,
        empty => notes::footnotes(&top.notes, screen).into_iter().filter(|note| note.starts_with("nothing found")).collect::<Vec<_>>(),
        headline => capitalised(&incident_headline(incidents)),
        periods => incidents.periods.iter().map(|period| capitalised(&slow_period(period, screen))).collect::<Vec<_>>(),
        incident_notes => incident_footnotes(incidents).iter().filter(|note| !note.contains("not shown")).map(|note| capitalised(note)).collect::<Vec<_>>(),
        group_notes => group_notes(overview, limits),
        outlier_notes => outlier_notes.iter().map(|note| capitalised(note)).collect::<Vec<_>>(),
        shared => shared_by(outliers).iter().map(|line| capitalised(line)).collect::<Vec<_>>(),
        client_note => client_note(clients.as_ref()),
        sources => sources.take(50).collect::<Vec<_>>(),
        footnotes => notes::footnotes(&top.notes, screen).iter().map(|note| capitalised(note)).collect::<Vec<_>>(),
        how => how(overview, limits),
    }
}

fn tile(figure: String, what: String) -> Value {
    context! { figure, what }
}

/// A sentence of a table as one of its own.
fn capitalised(sentence: &str) -> String {
    let mut characters = sentence.chars();
    let first = characters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    let end = if sentence.ends_with(['.', ')']) { "" } else { "." };
    format!("{first}{}{end}", characters.as_str())
}

fn client_note(clients: Option<&ltt_analysis::groups::Top>) -> String {
    match clients {
        None => "No event says on whose behalf it happened.".into(),
        Some(clients) if clients.hidden_groups > 0 || clients.folded.is_some() => {
            format!("The first {}, by their total over all of the time.", clients.groups.len())
        }
        Some(_) => "Of all of the time.".into(),
    }
}

/// What the table of groups lacks.
fn group_notes(overview: &Overview, limits: &Limits) -> Vec<String> {
    let mut notes = Vec::new();
    let hidden = overview.top.hidden_groups + (overview.top.groups.len() - limits.groups) as u64;
    if hidden > 0 {
        notes.push(format!("{} with less time not shown.", counted(hidden, "group")));
    }
    if limits.sliced < limits.groups {
        notes.push(format!(
            "The first {} are followed over time: the others have no plots, and are left out of a narrower range.",
            limits.sliced
        ));
    }
    if let Some(folded) = &overview.top.folded {
        notes.push(format!(
            "{} of other keys folded: {} in total.",
            counted(folded.count, "event"),
            folded.total.in_words()
        ));
    }
    notes
}

fn how(overview: &Overview, limits: &Limits) -> Vec<String> {
    let slice = ltt_analysis::finding::Ns::from(limits.slice_ns).in_words();
    let mut lines = vec![
        "Groups are events with the keys that their catalog names. Over all of the time, counts, totals and the longest are \
         exact, and percentiles within 0.1 %, as `ltt-top top --format json` has them."
            .to_owned(),
        format!(
            "A range of time is made of slices of {slice}. Counts, totals, means, the shortest and the longest of a range are \
             exact, and percentiles within 1.6 %. `ltt-top top --since … --until …` gives the same figures."
        ),
        "An incident is a turn of the event loop that took long; without an event loop, an interval that took improbably long \
         for its group; or a time in which a process recorded nothing although it should have. What no event covers is \
         unexplained. Incidents that overlap a range belong to it."
            .to_owned(),
        format!(
            "The page holds the {} longest incidents in full, the {} slowest events, and the {} slowest of each of {} slices \
             of time.",
            limits.incidents,
            overview.slices.slowest[0],
            overview.slices.slowest[1],
            overview.slices.columns.count
        ),
    ];
    lines.extend(overview.outliers.rule.as_deref().map(|rule| capitalised(&outlier_rule(rule))));
    lines
}
