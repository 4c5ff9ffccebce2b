//! `outliers` as a table: slow periods and modes, and then single events. Each reason is on a separate line.

use super::grid::{Column, Grid};
use super::label::{Names, details, figure};
use super::page::{Page, Style};
use super::slow::EventColumns;
use crate::view::Screen;
use ltt_analysis::finding::Ns;
use ltt_analysis::outliers::{Drift, Mode, Period, PeriodKind, RuleFinding, Shared, Unjudged};
use ltt_analysis::outliers::{Outliers, Threshold};
use ltt_analysis::text::amount::{counted, grouped, times};
use ltt_analysis::text::escape;

/// Adds the findings.
pub fn add(outliers: &Outliers, screen: &Screen, page: &mut Page) {
    let events = outliers.events.iter().map(|outlier| &*outlier.event.event);
    let modes = outliers.modes.iter().map(|mode| &*mode.name.event);
    let shifts = outliers.periods.iter().flat_map(|period| &period.groups);
    let groups = outliers.threshold.iter().flat_map(|threshold| &threshold.groups);
    let drifts = outliers.drifts.iter().map(|drift| &*drift.name.event);
    let names = events
        .chain(modes)
        .chain(drifts)
        .chain(shifts.map(|shift| &*shift.name.event))
        .chain(groups.map(|group| &*group.name.event));
    let names = Names::new(names, screen.is_narrow());
    if !outliers.periods.is_empty() || !outliers.modes.is_empty() || !outliers.drifts.is_empty() {
        page.grid(many(outliers, &names, screen));
    }
    if let Some(threshold) = outliers.threshold.as_ref().filter(|threshold| !threshold.groups.is_empty()) {
        page.grid(counts(threshold, &names));
    }
    if !outliers.events.is_empty() {
        page.grid(singles(outliers, &names, screen));
    }
    page.texts(Style::Plain, shared(outliers, &names));
    page.texts(Style::Note, footnotes(outliers));
}

/// Slow periods and slow modes, those that lost the most time first.
fn many(outliers: &Outliers, names: &Names, screen: &Screen) -> Grid {
    let mut grid = Grid::new(vec![
        Column::number("LOST"),
        Column::number("EVENTS").droppable(3),
        Column::text("FROM").droppable(2),
        Column::text("TO").droppable(1),
        Column::text("WHAT"),
        Column::text("GROUP"),
    ]);
    grid.sorted_by = Some("LOST".into());
    let mut rows: Vec<(u128, Vec<String>, &str)> = Vec::new();
    for period in &outliers.periods {
        rows.push((period.lost.0, period_cells(period, names, screen), &period.reason));
    }
    for mode in &outliers.modes {
        rows.push((mode.lost.0, mode_cells(mode, names, screen), &mode.reason));
    }
    for drift in &outliers.drifts {
        rows.push((drift.lost.0, drift_cells(drift, names, screen), &drift.reason));
    }
    rows.sort_by_key(|(lost, ..)| std::cmp::Reverse(*lost));
    for (_, cells, reason) in rows {
        grid.row(cells);
        grid.note(reason.to_owned());
    }
    grid
}

fn period_cells(period: &Period, names: &Names, screen: &Screen) -> Vec<String> {
    let what = match (period.kind, period.spans.len()) {
        (PeriodKind::Shift, _) => "level shift".to_owned(),
        (PeriodKind::Period, 1) => "slow period".to_owned(),
        (PeriodKind::Period, spans) => format!("{spans} slow periods"),
    };
    let group = period.groups.first().map_or(String::new(), |shift| names.group(&shift.name));
    let others = match period.groups.len() {
        0 | 1 => String::new(),
        groups => format!(" + {}", groups - 1),
    };
    vec![
        period.lost.short(),
        grouped(period.count.into()),
        screen.time_of_day(period.begin_ns),
        screen.time_of_day(period.end_ns),
        what,
        group + &others,
    ]
}

fn mode_cells(mode: &Mode, names: &Names, screen: &Screen) -> Vec<String> {
    vec![
        figure(Some(mode.lost), mode.name.unit_is_guess),
        grouped(mode.count.into()),
        screen.time_of_day(mode.begin_ns),
        screen.time_of_day(mode.end_ns),
        "slow mode".into(),
        names.group(&mode.name),
    ]
}

fn drift_cells(drift: &Drift, names: &Names, screen: &Screen) -> Vec<String> {
    vec![
        figure(Some(drift.lost), drift.name.unit_is_guess),
        grouped(drift.count.into()),
        screen.time_of_day(drift.begin_ns),
        screen.time_of_day(drift.end_ns),
        "drift".into(),
        names.group(&drift.name),
    ]
}

/// What slow events have in common, a line each.
pub fn shared(outliers: &Outliers, names: &Names) -> Vec<String> {
    let line = |shared: &Shared| format!("shared by slow {}: {}", names.group(&shared.name), shared.reason);
    outliers.shared.iter().map(line).collect()
}

/// How many events of each group took longer than the threshold.
fn counts(threshold: &Threshold, names: &Names) -> Grid {
    let columns = ["TOTAL", "EVENTS", "MAX"].map(Column::number);
    let mut grid = Grid::new(columns.into_iter().chain([Column::text("GROUP")]).collect());
    grid.sorted_by = Some("TOTAL".into());
    for group in &threshold.groups {
        grid.row(vec![
            figure(group.total, group.unit_is_guess),
            grouped((group.count - group.implausible).into()),
            figure(group.max, group.unit_is_guess),
            names.group(&group.name),
        ]);
    }
    grid
}

/// Single events, the longest first.
fn singles(outliers: &Outliers, names: &Names, screen: &Screen) -> Grid {
    let columns = EventColumns::new(
        outliers.events.iter().map(|outlier| &outlier.event),
        outliers.trace.has_several_hosts(),
    );
    let has_reasons = outliers.threshold.is_none();
    let mut grid = Grid::new(columns.titles().chain([Column::text("FIELDS")]).collect());
    grid.sorted_by = Some("DURATION".into());
    for outlier in &outliers.events {
        let event = &outlier.event;
        grid.row(columns.cells(event, names, screen).chain([details(event)]).collect());
        if has_reasons {
            let reason = event.reason.as_deref().unwrap_or_default();
            grid.note(format!("{}: {reason}", outlier.rule.name()));
        }
    }
    grid
}

pub fn footnotes(outliers: &Outliers) -> Vec<String> {
    let hidden = match outliers.hidden_events {
        0 => String::new(),
        hidden => format!(", of which the {} shortest are not shown (-n shows more)", grouped(hidden.into())),
    };
    if let Some(threshold) = &outliers.threshold {
        let [limit, total] = [threshold.slower_than, threshold.total].map(Ns::in_words);
        let events = counted(threshold.count, "event");
        return vec![format!("{events} took {limit} or longer, {total} in all{hidden}")];
    }
    let hidden_findings = outliers.hidden_modes + outliers.hidden_periods + outliers.hidden_drifts;
    let not_shown = match hidden_findings {
        0 => String::new(),
        more => format!("; {} not shown (-n shows more)", counted(more, "mode, period or drift")),
    };
    let drifts = match outliers.drifts.len() as u64 + outliers.hidden_drifts {
        0 => String::new(),
        drifts => format!(", {}", counted(drifts, "drift")),
    };
    let mut footnotes = vec![format!(
        "{}{hidden}, {} and {}{drifts} among {}{not_shown}",
        counted(outliers.found, "single event"),
        counted(outliers.modes.len() as u64 + outliers.hidden_modes, "slow mode"),
        counted(outliers.periods.len() as u64 + outliers.hidden_periods, "slow period"),
        counted(outliers.judged, "duration"),
    )];
    footnotes.extend(outliers.rule.as_deref().filter(|_| outliers.explains).map(rule));
    footnotes.extend(unjudged(&outliers.unjudged));
    footnotes
}

/// The rule, with the resulting limits.
pub fn rule(rule: &RuleFinding) -> String {
    let excess = rule.least_excess.in_words();
    format!(
        "rule: a gap in a group's durations (own; with fewer than {} those of its whole event: event), or a jump of their \
         level, that is less probable than {:.1e}, which is {} divided by {}; slow durations are above the gap, and {} \
         times and {excess} above the 99th percentile of the rest, or in a group {} times slower than its event; one \
         alone is single (up to {} per group), several are a mode; a period is {} times slower than the rest, has {} \
         events and {} % of the group's time or more, and edges at which the level jumps by {} % of the difference and {} \
         standard errors or more, and is {} times above the noise",
        rule.enough,
        rule.group_probability,
        rule.probability,
        counted(rule.judged_groups, "group"),
        rule.far,
        rule.far_from_event,
        rule.singles_max,
        rule.shift,
        rule.period_events,
        rule.period_worth * 100.0,
        rule.period_jump * 100.0,
        rule.period_sure,
        rule.period_over_noise,
    )
}

/// The events that are too rare to judge; those with the longest durations are named.
fn unjudged(rare: &[Unjudged]) -> Option<String> {
    const SHOWN: usize = 3;
    let one = |event: &Unjudged| {
        let max = event.max.unwrap_or_default().in_words();
        format!("{} ({}, {max} at most)", escape::text(&event.event), times(event.count))
    };
    let named: Vec<String> = rare.iter().take(SHOWN).map(one).collect();
    let more = match rare.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!named.is_empty()).then(|| format!("too rare to judge: {}{more}", named.join(", ")))
}
