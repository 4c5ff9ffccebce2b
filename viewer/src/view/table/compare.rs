//! `compare` as a table.

use super::grid::{Column, Grid};
use super::label::{Names, keys};
use super::page::{Page, Style};
use crate::view::{Screen, gate, notes};
use ltt_analysis::compare::{Change, Compare, GroupChange, IncidentsChange, Verdict};
use ltt_analysis::finding::TraceFinding;
use ltt_analysis::text::amount::{counted, duration, scaled, share};
use ltt_analysis::text::escape;

/// The places of figures.
const RATE: usize = 0;
const P50: usize = 1;
const P90: usize = 2;
const P99: usize = 3;
const P999: usize = 4;
const TIME: usize = 6;

/// The number of causes that are shown.
const CAUSES: usize = 10;

/// Adds what changed.
pub fn add(compare: &Compare, screen: &Screen, page: &mut Page) {
    let recordings =
        compare.recordings.iter().zip([&compare.before, &compare.trace]).zip(["before", "after"]);
    for ((name, trace), side) in recordings {
        let heading = notes::heading(trace, screen);
        page.text(Style::Plain, format!("{side}: {}: {heading}", escape::text(name)));
    }
    if compare.trace.end_ns.zip(compare.before.begin_ns).is_some_and(|(end, begin)| end < begin) {
        page.text(Style::Warning, "warning: AFTER was recorded earlier than BEFORE: are they exchanged?");
    }
    let losses = notes::losses(&compare.before);
    page.texts(Style::Warning, losses.iter().map(|loss| format!("warning: before: {loss}")));
    for failure in &compare.failures {
        page.text(Style::Warning, gate::line(failure));
    }
    page.text(Style::Headline, headline(compare));
    let names = Names::new(compare.groups.iter().map(|group| &*group.name.event), screen.is_narrow());
    let mut grid = Grid::new(vec![
        Column::number("LOST/S"),
        Column::text("VERDICT"),
        Column::number("RATE/S").droppable(4),
        Column::number("TIME/S").droppable(1),
        Column::number("P50"),
        Column::text("CHANGE").droppable(6),
        Column::number("P90").droppable(2),
        Column::number("P99"),
        Column::text("CHANGE").droppable(5),
        Column::number("P99.9").droppable(3),
        Column::text("EVENT"),
    ]);
    compare.groups.iter().for_each(|group| grid.row(row(group, &names)));
    if !compare.groups.is_empty() {
        page.grid(grid);
    }
    if compare.hidden_groups > 0 {
        let hidden = counted(compare.hidden_groups, "group");
        page.text(Style::Note, format!("{hidden} not shown (-n 0 shows all)"));
    }
    if let Some(incidents) = &compare.incidents {
        add_incidents(incidents, page);
    }
    if compare.untold > 0 {
        let turns = "what cannot be told may be in longer recordings, or in several of each side, made in turns (compare --plan)";
        page.text(Style::Note, turns);
    }
    page.text(
        Style::Note,
        format!(
            "the probability that any group is called slower or faster although it is not: {}; in brackets the changes \
             that the data allow, 99 % intervals for each figure alone",
            share(compare.error_rate)
        ),
    );
}

fn row(group: &GroupChange, names: &Names) -> Vec<String> {
    let verdict = match (group.verdict, group.would_need_s) {
        (Verdict::Slower, _) => "slower".to_owned(),
        (Verdict::Faster, _) => "faster".to_owned(),
        (Verdict::TailSlower, _) => "tail slower".to_owned(),
        (Verdict::TailFaster, _) => "tail faster".to_owned(),
        (Verdict::SlowerThanOthers, _) => "slower than others".to_owned(),
        (Verdict::FasterThanOthers, _) => "faster than others".to_owned(),
        (Verdict::Mixed, _) => "mixed".to_owned(),
        (Verdict::NoDifference, _) => "same".to_owned(),
        (Verdict::CannotTell, None) => "cannot tell".to_owned(),
        (Verdict::CannotTell, Some(seconds)) => format!("cannot tell, needs ~{}", duration(seconds * 1e9)),
        (Verdict::New, _) => "new".to_owned(),
        (Verdict::Gone, _) => "gone".to_owned(),
    };
    let sides = |place: usize, form: fn(f64) -> String| {
        let side = |side: usize| group.figures[side].and_then(|figures| figures.0[place]);
        let form = |figure: Option<f64>| figure.map_or("-".into(), form);
        format!("{} → {}", form(side(0)), form(side(1)))
    };
    let length = |us: f64| duration(us * 1000.0);
    let change = |place: usize| group.changes.get(place).map_or(String::new(), Change::in_words);
    let sign = if group.lost_us_per_s < 0.0 { "-" } else { "+" };
    vec![
        format!("{sign}{}", length(group.lost_us_per_s.abs())),
        verdict,
        sides(RATE, scaled),
        sides(TIME, length),
        sides(P50, length),
        change(P50),
        sides(P90, length),
        sides(P99, length),
        change(P99),
        sides(P999, length),
        names.group(&group.name),
    ]
}

/// What matters most in one line: how long the program was held up, how much it did, and what became of its groups.
fn headline(compare: &Compare) -> String {
    let blocked = compare.incidents.as_ref().map(|incidents| {
        let share = |part: Option<f64>| part.map_or("-".into(), share);
        let (before, after) = (share(incidents.blocked_share_before), share(incidents.blocked_share_after));
        format!("blocked {before} → {after} of the time")
    });
    let rate = |trace: &TraceFinding| {
        let length = trace.length_ns.filter(|length| *length > 0);
        length.map_or("-".into(), |length| scaled(trace.events as f64 / (length as f64 / 1e9)))
    };
    let events = format!("{} → {} events/s", rate(&compare.before), rate(&compare.trace));
    let groups = counted(compare.compared, "group");
    let Compare { slower, faster, untold, .. } = compare;
    let groups = format!("of {groups} {slower} slower, {faster} faster, {untold} cannot be told");
    blocked.into_iter().chain([events, groups]).collect::<Vec<_>>().join("; ")
}

fn add_incidents(incidents: &IncidentsChange, page: &mut Page) {
    page.blank();
    let (before, after) = (incidents.count_before, incidents.count_after);
    page.text(Style::Headline, format!("Incidents: {before} before, {after} after"));
    let mut grid =
        Grid::new(vec![Column::number("INCIDENTS"), Column::number("TOTAL"), Column::text("CAUSE")]);
    for cause in incidents.causes.iter().take(CAUSES) {
        let event = cause.event.as_deref().or(cause.in_words).map_or(String::new(), escape::text);
        grid.row(vec![
            format!("{} → {}", cause.count_before, cause.count_after),
            format!("{} → {}", cause.total_before.short(), cause.total_after.short()),
            [event, keys(&cause.key)].join(" ").trim_end().to_owned(),
        ]);
    }
    if !incidents.causes.is_empty() {
        page.grid(grid);
    }
}
