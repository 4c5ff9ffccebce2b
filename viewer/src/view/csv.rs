//! Findings as CSV: a header, and a row for each group, event or name. Columns are named as JSON's keys are, and nested
//! ones with a dot: `key.name`.

use std::io::{self, Write};

use super::events::{CsvForm, Form};
use super::output::{EventStream, Output, unsupported};
use super::sheet::{Sheet, SheetRow, datum, number, optional, text};
use super::{Screen, notes};
use crate::analysis::Finding;
use crate::analysis::durations::HeatGroup;
use crate::analysis::durations::HistGroup;
use crate::analysis::finding::{EventFinding, GroupFinding, GroupName, Ns};
use crate::analysis::groups::Top;
use crate::analysis::incidents::Incident;
use crate::analysis::outliers::Outlier;
use crate::analysis::outliers::{Drift, Mode, Period, Shared};
use crate::datum::Pairs;

/// Writes a finding as a sheet. Notes on it would not be rows.
struct Csv {
    screen: Screen,
}

pub(super) fn output(screen: &Screen) -> Box<dyn Output> {
    Box::new(Csv { screen: screen.clone() })
}

impl Output for Csv {
    fn write(&self, finding: &Finding, out: &mut dyn Write) -> io::Result<Vec<String>> {
        if let Some(sheet) = sheet(finding)? {
            sheet.write(out)?;
        }
        Ok(notes::warnings(finding, &self.screen))
    }

    fn events(&self, stream: EventStream) -> io::Result<Box<dyn Form>> {
        Ok(Box::new(CsvForm::new(stream.has_matches)))
    }
}

/// The rows of a finding; none if they have been written already.
fn sheet(finding: &Finding) -> io::Result<Option<Sheet>> {
    let has_hosts = finding.trace().has_several_hosts();
    Ok(Some(match finding {
        Finding::Live(_) => return Err(unsupported("live cannot write CSV: use --format json")),
        Finding::Events(_) => return Ok(None),
        // A sheet has one kind of row; the command `incidents` writes incidents as CSV.
        Finding::Report(report) => top_sheet(&report.top),
        Finding::Incidents(incidents) => {
            let mut sheet = Sheet::new(&incident_columns(has_hosts));
            incidents.incidents.iter().for_each(|incident| sheet.add(incident_row(incident)));
            sheet
        }
        Finding::Top(top) => top_sheet(top),
        Finding::Slow(slow) => {
            let mut sheet = Sheet::new(&event_columns(has_hosts, &["reason", "unit_is_guess"]));
            slow.events.iter().for_each(|event| sheet.add(event_row(event)));
            sheet
        }
        Finding::Outliers(outliers) => {
            let mut columns = vec!["finding", "count", "lost_us"];
            let last = ["key.*", "reason", "rule", "limit_us", "unit_is_guess"];
            columns.extend(event_columns(has_hosts, &last));
            let mut sheet = Sheet::new(&columns);
            outliers.periods.iter().for_each(|period| sheet.add(period_row(period)));
            outliers.modes.iter().for_each(|mode| sheet.add(mode_row(mode)));
            outliers.drifts.iter().for_each(|drift| sheet.add(drift_row(drift)));
            outliers.shared.iter().for_each(|shared| sheet.add(shared_row(shared)));
            outliers.events.iter().for_each(|outlier| sheet.add(outlier_row(outlier)));
            sheet
        }
        Finding::Hist(hist) => {
            let mut sheet = Sheet::new(&["event", "key.*", "count", "implausible", "buckets"]);
            hist.groups.iter().for_each(|group| sheet.add(hist_row(group)));
            sheet
        }
        Finding::Heat(heat) => {
            let mut sheet = Sheet::new(&["event", "key.*", "rows_from_us", "counts"]);
            heat.groups.iter().for_each(|group| sheet.add(heat_row(group)));
            sheet
        }
        Finding::Info(info) => {
            let mut sheet = Sheet::new(&["event", "count"]);
            for (event, count) in &info.events_by_name {
                sheet.add(vec![("event".into(), text(event)), ("count".into(), number(count))]);
            }
            sheet
        }
    }))
}

/// A row for each group; over time, for each group in each slice.
fn top_sheet(top: &Top) -> Sheet {
    let percentiles: Vec<String> =
        top.quantiles.iter().map(|quantile| format!("{}_us", quantile.name())).collect();
    let mut columns: Vec<&str> = Vec::new();
    if top.over_time.is_some() {
        columns.extend(["begin_ns", "end_ns"]);
    }
    columns.extend(["event", "key.*", "count", "implausible", "total_us", "mean_us"]);
    columns.extend(percentiles.iter().map(String::as_str));
    columns.extend(["min_us", "max_us", "rate_per_s", "wall_share", "is_sum", "unit_is_guess"]);
    let mut sheet = Sheet::new(&columns);
    let Some(over_time) = &top.over_time else {
        top.groups.iter().for_each(|group| sheet.add(group_row(group)));
        return sheet;
    };
    for slice in &over_time.slices {
        for group in &slice.groups {
            let times = [("begin_ns", slice.begin_ns), ("end_ns", slice.end_ns)];
            let times = times.map(|(name, time)| (name.to_owned(), number(&time)));
            sheet.add(times.into_iter().chain(group_row(group)).collect());
        }
    }
    sheet
}

fn group_row(group: &GroupFinding) -> SheetRow {
    let mut row = name_cells(&group.name);
    row.extend([
        ("count".into(), number(&group.count)),
        ("implausible".into(), number(&group.implausible)),
        ("total_us".into(), optional(&group.total)),
        ("mean_us".into(), optional(&group.mean_us)),
    ]);
    let percentiles = group.percentiles.0.iter();
    row.extend(percentiles.map(|(quantile, value)| (format!("{}_us", quantile.name()), optional(value))));
    row.extend([
        ("min_us".into(), optional(&group.min)),
        ("max_us".into(), optional(&group.max)),
        ("rate_per_s".into(), optional(&group.rate_per_s)),
        ("wall_share".into(), optional(&group.wall_share)),
        ("is_sum".into(), number(&group.is_sum)),
        ("unit_is_guess".into(), number(&group.unit_is_guess)),
    ]);
    row
}

fn hist_row(group: &HistGroup) -> SheetRow {
    let mut row = name_cells(&group.outline.name);
    row.extend([
        ("count".into(), number(&group.outline.count)),
        ("implausible".into(), number(&group.outline.implausible)),
        ("buckets".into(), number(&group.buckets)),
    ]);
    row
}

fn heat_row(group: &HeatGroup) -> SheetRow {
    let mut row = name_cells(&group.outline.name);
    row.extend([
        ("rows_from_us".into(), number(&group.rows_from_us)),
        ("counts".into(), number(&group.counts)),
    ]);
    row
}

fn event_columns<'a>(has_hosts: bool, last: &[&'a str]) -> Vec<&'a str> {
    let mut columns = vec!["timestamp_ns", "begin_ns", "end_ns", "event", "duration_us"];
    columns.extend(has_hosts.then_some("host"));
    columns.push("fields.*");
    columns.extend(last);
    columns
}

fn event_row(event: &EventFinding) -> SheetRow {
    let mut row: SheetRow = vec![
        ("timestamp_ns".into(), number(&event.timestamp_ns)),
        ("begin_ns".into(), optional(&event.begin_ns)),
        ("end_ns".into(), optional(&event.end_ns)),
        ("event".into(), text(&event.event)),
        ("duration_us".into(), number::<Ns>(&event.duration)),
        ("host".into(), event.host.as_deref().map_or(String::new(), text)),
    ];
    row.extend(event.fields.iter().map(|(field, value)| (format!("fields.{}", field.name), datum(&value))));
    row.extend([
        ("reason".into(), event.reason.as_deref().map_or(String::new(), text)),
        ("unit_is_guess".into(), number(&event.unit_is_guess)),
    ]);
    row
}

fn incident_columns(has_hosts: bool) -> Vec<&'static str> {
    let mut columns = vec!["begin_ns", "end_ns", "held_us", "kind"];
    columns.extend(has_hosts.then_some("host"));
    columns.extend(["pid", "cause.event", "cause.key.*", "cause.client", "cause.duration_us", "chain"]);
    columns.extend(["unexplained_us", "waited.clients", "waited.of", "waited.longest_us", "not_served"]);
    columns.extend(["is_incomplete", "advice"]);
    columns
}

fn incident_row(incident: &Incident) -> SheetRow {
    let cause = incident.cause.as_ref();
    let chain = incident.chain.iter().map(|link| link.event.as_str()).collect::<Vec<_>>().join(" > ");
    let mut row: SheetRow = vec![
        ("begin_ns".into(), number(&incident.begin_ns)),
        ("end_ns".into(), number(&incident.end_ns)),
        ("held_us".into(), number(&incident.held)),
        ("kind".into(), number(&incident.kind).trim_matches('"').into()),
        ("host".into(), incident.process.host.as_deref().map_or(String::new(), text)),
        ("pid".into(), incident.process.pid.as_ref().map_or(String::new(), datum)),
        ("cause.event".into(), cause.map_or(String::new(), |cause| text(&cause.event))),
        ("cause.client".into(), cause.and_then(|cause| cause.client.as_ref()).map_or(String::new(), datum)),
        ("cause.duration_us".into(), optional(&cause.map(|cause| cause.duration))),
        ("chain".into(), text(&chain)),
        ("unexplained_us".into(), number(&incident.unexplained)),
        ("waited.clients".into(), number(&incident.waited.clients)),
        ("waited.of".into(), number(&incident.waited.of)),
        ("waited.longest_us".into(), number(&incident.waited.longest)),
        ("not_served".into(), number(&incident.not_served)),
        ("is_incomplete".into(), number(&incident.is_incomplete)),
        ("advice".into(), incident.advice.as_deref().map_or(String::new(), text)),
    ];
    let keys = cause.iter().flat_map(|cause| &cause.key.0);
    row.extend(keys.map(|(name, value)| (format!("cause.key.{name}"), datum(value))));
    row
}

fn period_row(period: &Period) -> SheetRow {
    let mut row = period.groups.first().map_or(SheetRow::new(), |shift| name_cells(&shift.name));
    row.extend([
        ("finding".into(), number(&period.kind).trim_matches('"').into()),
        ("count".into(), number(&period.count)),
        ("lost_us".into(), number(&period.lost)),
        ("begin_ns".into(), number(&period.begin_ns)),
        ("end_ns".into(), number(&period.end_ns)),
        ("reason".into(), text(&period.reason)),
    ]);
    row
}

fn mode_row(mode: &Mode) -> SheetRow {
    let mut row = name_cells(&mode.name);
    row.extend([
        ("finding".into(), "mode".into()),
        ("count".into(), number(&mode.count)),
        ("lost_us".into(), number(&mode.lost)),
        ("begin_ns".into(), number(&mode.begin_ns)),
        ("end_ns".into(), number(&mode.end_ns)),
        ("duration_us".into(), number(&mode.typical)),
        ("reason".into(), text(&mode.reason)),
        ("rule".into(), mode.rule.name().into()),
        ("limit_us".into(), number(&mode.limit)),
        ("unit_is_guess".into(), number(&mode.name.unit_is_guess)),
    ]);
    row
}

fn drift_row(drift: &Drift) -> SheetRow {
    let mut row = name_cells(&drift.name);
    row.extend([
        ("finding".into(), "drift".into()),
        ("count".into(), number(&drift.count)),
        ("lost_us".into(), number(&drift.lost)),
        ("begin_ns".into(), number(&drift.begin_ns)),
        ("end_ns".into(), number(&drift.end_ns)),
        ("reason".into(), text(&drift.reason)),
        ("unit_is_guess".into(), number(&drift.name.unit_is_guess)),
    ]);
    row
}

fn shared_row(shared: &Shared) -> SheetRow {
    let mut row = name_cells(&shared.name);
    row.extend([
        ("finding".into(), "shared".into()),
        ("count".into(), number(&shared.count)),
        ("reason".into(), text(&shared.reason)),
    ]);
    row
}

fn outlier_row(outlier: &Outlier) -> SheetRow {
    let mut row = event_row(&outlier.event);
    let Pairs(key) = &outlier.event.key;
    row.extend(key.iter().map(|(name, value)| (format!("key.{name}"), datum(value))));
    row.extend([
        ("finding".into(), "single".into()),
        ("count".into(), "1".into()),
        ("lost_us".into(), number::<Ns>(&outlier.event.duration)),
        ("rule".into(), outlier.rule.name().into()),
        ("limit_us".into(), number::<Ns>(&outlier.limit)),
    ]);
    row
}

fn name_cells(name: &GroupName) -> SheetRow {
    let Pairs(key) = &name.key;
    let key = key.iter().map(|(name, value)| (format!("key.{name}"), datum(value)));
    std::iter::once(("event".to_owned(), text(&name.event))).chain(key).collect()
}
