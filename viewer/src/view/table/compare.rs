//! `compare` as a table.

use super::grid::{Column, Grid};
use super::label::{Names, keys};
use super::page::{Page, Style};
use crate::view::{Screen, notes};
use ltt_analysis::compare::{Change, Compare, GroupChange, IncidentsChange, Verdict};
use ltt_analysis::text::amount::{counted, duration, scaled, share};
use ltt_analysis::text::escape;

/// The places of figures.
const RATE: usize = 0;
const P50: usize = 1;
const P99: usize = 3;

/// The number of causes that are shown.
const CAUSES: usize = 10;

/// Adds what changed.
pub fn add(compare: &Compare, screen: &Screen, page: &mut Page) {
    page.text(Style::Plain, format!("before: {}", notes::heading(&compare.before, screen)));
    let losses = notes::losses(&compare.before);
    page.texts(Style::Warning, losses.iter().map(|loss| format!("warning: before: {loss}")));
    for failure in &compare.failures {
        let names = Names::default();
        let (condition, group) = (&failure.condition, names.group(&failure.name));
        page.text(Style::Warning, format!("fails {condition}: {group}: {}", change(&failure.change)));
    }
    page.text(
        Style::Headline,
        format!(
            "Of {}, {} slower and {} faster",
            counted(compare.compared, "group"),
            compare.slower,
            compare.faster
        ),
    );
    let names = Names::new(compare.groups.iter().map(|group| &*group.name.event), screen.is_narrow());
    let mut grid = Grid::new(vec![
        Column::number("LOST/S"),
        Column::text("VERDICT"),
        Column::number("RATE/S").droppable(1),
        Column::number("P50"),
        Column::text("CHANGE").droppable(3),
        Column::number("P99"),
        Column::text("CHANGE").droppable(2),
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
    let verdict = match group.verdict {
        Verdict::Slower => "slower",
        Verdict::Faster => "faster",
        Verdict::NoDifference => "-",
        Verdict::New => "new",
        Verdict::Gone => "gone",
    };
    let sides = |place: usize, form: fn(f64) -> String| {
        let side = |side: usize| group.figures[side].and_then(|figures| figures.0[place]);
        let form = |figure: Option<f64>| figure.map_or("-".into(), form);
        format!("{} → {}", form(side(0)), form(side(1)))
    };
    let length = |us: f64| duration(us * 1000.0);
    let change = |place: usize| group.changes.get(place).map_or(String::new(), change);
    let sign = if group.lost_us_per_s < 0.0 { "-" } else { "+" };
    vec![
        format!("{sign}{}", length(group.lost_us_per_s.abs())),
        verdict.into(),
        sides(RATE, scaled),
        sides(P50, length),
        change(P50),
        sides(P99, length),
        change(P99),
        names.group(&group.name),
    ]
}

/// A change in per cent, with what the data allow.
fn change(change: &Change) -> String {
    let percent = |ratio: f64| format!("{:+.0}%", (ratio - 1.0) * 100.0);
    let told = change.ratio.map_or("?".into(), percent);
    match (change.low, change.high) {
        (Some(low), Some(high)) => format!("{told} [{} to {}]", percent(low), percent(high)),
        (Some(low), None) => format!("{told} [from {}]", percent(low)),
        _ => told,
    }
}

fn add_incidents(incidents: &IncidentsChange, page: &mut Page) {
    let blocked = |part: Option<f64>| part.map_or("-".into(), share);
    let (before, after) = (blocked(incidents.blocked_share_before), blocked(incidents.blocked_share_after));
    page.blank();
    page.text(Style::Headline, format!("Blocked: {before} of the time before, {after} after"));
    let mut grid =
        Grid::new(vec![Column::number("INCIDENTS"), Column::number("TOTAL"), Column::text("CAUSE")]);
    for cause in incidents.causes.iter().take(CAUSES) {
        let event = cause.event.as_deref().map_or("unexplained".into(), escape::text);
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
