//! Findings as CSV: a header, and a row for each group, event or name. Columns are named as JSON's keys are, and nested
//! ones with a dot: `key.name`.

use std::io::{self, Write};

use super::events::{CsvForm, Form};
use super::output::{EventStream, Output, unsupported};
use super::sheet::{Sheet, SheetRow, datum, number, optional, text};
use super::{Screen, notes};
use ltt_analysis::Finding;
use ltt_analysis::compare::FIGURES;
use ltt_analysis::datum::Pairs;
use ltt_analysis::finding::{EventFinding, GroupFinding, GroupName};
use ltt_analysis::groups::Top;
use ltt_analysis::incidents::Incident;
use ltt_analysis::outliers::{Drift, Mode, Outlier, Period, Shared};

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

/// The columns of a kind of row, and the cell of each.
type Columns<T> = [(&'static str, fn(&T) -> String)];

/// The rows of a finding; none if they have been written already.
fn sheet(finding: &Finding) -> io::Result<Option<Sheet>> {
    let has_hosts = finding.trace().has_several_hosts();
    let shown = |name: &&str| has_hosts || *name != "host";
    let mut sheet;
    match finding {
        Finding::Live(_) => return Err(unsupported("live cannot write CSV: use --format json")),
        Finding::Events(_) | Finding::Timeline(_) => return Ok(None),
        // A sheet has one kind of row; the command `incidents` writes incidents as CSV.
        Finding::Report(report) => sheet = top_sheet(&report.top),
        Finding::Top(top) => sheet = top_sheet(top),
        Finding::Overview(overview) => sheet = top_sheet(&overview.top),
        Finding::Incidents(incidents) => {
            sheet = Sheet::new(&names(INCIDENT).filter(shown).collect::<Vec<_>>());
            for incident in &incidents.incidents {
                let key = incident.cause.iter().flat_map(|cause| keys("cause.key", &cause.key));
                sheet.add(row(INCIDENT, incident).chain(key).collect());
            }
        }
        Finding::Slow(slow) => {
            let columns = names(EVENT).chain(["reason", "unit_is_guess"]);
            sheet = Sheet::new(&columns.filter(shown).collect::<Vec<_>>());
            slow.events.iter().for_each(|event| sheet.add(event_row(event)));
        }
        Finding::Outliers(outliers) => {
            let last = ["key.*", "reason", "rule", "limit_us", "unit_is_guess"];
            let columns = ["finding", "count", "lost_us"].into_iter().chain(names(EVENT)).chain(last);
            sheet = Sheet::new(&columns.filter(shown).collect::<Vec<_>>());
            for period in &outliers.periods {
                let name = period.groups.first().map_or(SheetRow::new(), |shift| name_cells(&shift.name));
                sheet.add(row(PERIOD, period).chain(name).collect());
            }
            for mode in &outliers.modes {
                sheet.add(row(MODE, mode).chain(name_cells(&mode.name)).collect());
            }
            for drift in &outliers.drifts {
                sheet.add(row(DRIFT, drift).chain(name_cells(&drift.name)).collect());
            }
            for shared in &outliers.shared {
                sheet.add(row(SHARED, shared).chain(name_cells(&shared.name)).collect());
            }
            for outlier in &outliers.events {
                let event = event_row(&outlier.event).into_iter().chain(keys("key", &outlier.event.key));
                sheet.add(event.chain(row(OUTLIER, outlier)).collect());
            }
        }
        Finding::Hist(hist) => {
            sheet = Sheet::new(&["event", "key.*", "count", "implausible", "buckets"]);
            for group in &hist.groups {
                let cells = [
                    ("count".into(), number(&group.outline.count)),
                    ("implausible".into(), number(&group.outline.implausible)),
                    ("buckets".into(), number(&group.buckets)),
                ];
                sheet.add(name_cells(&group.outline.name).into_iter().chain(cells).collect());
            }
        }
        Finding::Heat(heat) => {
            sheet = Sheet::new(&["event", "key.*", "rows_from_us", "counts"]);
            for group in &heat.groups {
                let from = ("rows_from_us".into(), number(&group.rows_from_us));
                let cells = [from, ("counts".into(), number(&group.counts))];
                sheet.add(name_cells(&group.outline.name).into_iter().chain(cells).collect());
            }
        }
        Finding::Compare(compare) => {
            let first = ["event", "key.*", "verdict", "probability", "lost_us_per_s"];
            sheet = Sheet::new(
                &first
                    .into_iter()
                    .chain(["before.*", "after.*", "ratio.*", "low.*", "high.*"])
                    .collect::<Vec<_>>(),
            );
            for group in &compare.groups {
                let verdict = serde_json::to_value(group.verdict).unwrap_or_default();
                let mut row = name_cells(&group.name);
                row.push(("verdict".into(), verdict.as_str().unwrap_or_default().to_owned()));
                row.push(("probability".into(), optional(&group.probability)));
                row.push(("lost_us_per_s".into(), number(&group.lost_us_per_s)));
                for (side, figures) in ["before", "after"].iter().zip(&group.figures) {
                    let figures = figures.iter().flat_map(|figures| FIGURES.iter().zip(figures.0));
                    row.extend(figures.map(|(name, figure)| (format!("{side}.{name}"), optional(&figure))));
                }
                for change in &group.changes {
                    let cells = [("ratio", change.ratio), ("low", change.low), ("high", change.high)];
                    row.extend(
                        cells.map(|(what, cell)| (format!("{what}.{}", change.figure), optional(&cell))),
                    );
                }
                sheet.add(row);
            }
        }
        Finding::Info(info) => {
            sheet = Sheet::new(&["event", "count"]);
            for (event, count) in &info.events_by_name {
                sheet.add(vec![("event".into(), text(event)), ("count".into(), number(count))]);
            }
        }
    }
    Ok(Some(sheet))
}

const GROUP: &Columns<GroupFinding> = &[
    ("count", |group| number(&group.count)),
    ("implausible", |group| number(&group.implausible)),
    ("total_us", |group| optional(&group.total)),
    ("mean_us", |group| optional(&group.mean_us)),
    // The percentiles that were asked for follow.
    ("min_us", |group| optional(&group.min)),
    ("max_us", |group| optional(&group.max)),
    ("rate_per_s", |group| optional(&group.rate_per_s)),
    ("wall_share", |group| optional(&group.wall_share)),
    ("is_sum", |group| number(&group.is_sum)),
    ("unit_is_guess", |group| number(&group.unit_is_guess)),
];

/// A row for each group; over time, for each group in each slice.
fn top_sheet(top: &Top) -> Sheet {
    let percentiles: Vec<String> =
        top.quantiles.iter().map(|quantile| format!("{}_us", quantile.name())).collect();
    let (before, after) = GROUP.split_at(4);
    let percentile_names = percentiles.iter().map(String::as_str);
    let times: &[&str] = if top.over_time.is_some() { &["begin_ns", "end_ns"] } else { &[] };
    let columns =
        times.iter().copied().chain(["event", "key.*"]).chain(names(before)).chain(percentile_names);
    let mut sheet = Sheet::new(&columns.chain(names(after)).collect::<Vec<_>>());
    let group_row = |group: &GroupFinding| {
        let values = group.percentiles.0.iter().map(|(_, value)| optional(value));
        let cells = row(GROUP, group).chain(percentiles.iter().cloned().zip(values));
        name_cells(&group.name).into_iter().chain(cells).collect::<SheetRow>()
    };
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

const EVENT: &Columns<EventFinding> = &[
    ("timestamp_ns", |event| number(&event.timestamp_ns)),
    ("begin_ns", |event| optional(&event.begin_ns)),
    ("end_ns", |event| optional(&event.end_ns)),
    ("event", |event| text(&event.event)),
    ("duration_us", |event| number(&event.duration)),
    ("host", |event| optional_text(&event.host)),
    ("fields.*", |_| String::new()),
];

fn event_row(event: &EventFinding) -> SheetRow {
    let fields = event.fields.iter().map(|(field, value)| (format!("fields.{}", field.name), datum(&value)));
    let reason = ("reason".into(), optional_text(&event.reason));
    let guess = ("unit_is_guess".into(), number(&event.unit_is_guess));
    row(EVENT, event).chain(fields).chain([reason, guess]).collect()
}

const OUTLIER: &Columns<Outlier> = &[
    ("finding", |_| "single".into()),
    ("count", |_| "1".into()),
    ("lost_us", |outlier| number(&outlier.event.duration)),
    ("rule", |outlier| outlier.rule.name().into()),
    ("limit_us", |outlier| number(&outlier.limit)),
];

const MODE: &Columns<Mode> = &[
    ("finding", |_| "mode".into()),
    ("count", |mode| number(&mode.count)),
    ("lost_us", |mode| number(&mode.lost)),
    ("begin_ns", |mode| number(&mode.begin_ns)),
    ("end_ns", |mode| number(&mode.end_ns)),
    ("duration_us", |mode| number(&mode.typical)),
    ("reason", |mode| text(&mode.reason)),
    ("rule", |mode| mode.rule.name().into()),
    ("limit_us", |mode| number(&mode.limit)),
    ("unit_is_guess", |mode| number(&mode.name.unit_is_guess)),
];

const DRIFT: &Columns<Drift> = &[
    ("finding", |_| "drift".into()),
    ("count", |drift| number(&drift.count)),
    ("lost_us", |drift| number(&drift.lost)),
    ("begin_ns", |drift| number(&drift.begin_ns)),
    ("end_ns", |drift| number(&drift.end_ns)),
    ("reason", |drift| text(&drift.reason)),
    ("unit_is_guess", |drift| number(&drift.name.unit_is_guess)),
];

const SHARED: &Columns<Shared> = &[
    ("finding", |_| "shared".into()),
    ("count", |shared| number(&shared.count)),
    ("reason", |shared| text(&shared.reason)),
];

const PERIOD: &Columns<Period> = &[
    ("finding", |period| number(&period.kind).trim_matches('"').into()),
    ("count", |period| number(&period.count)),
    ("lost_us", |period| number(&period.lost)),
    ("begin_ns", |period| number(&period.begin_ns)),
    ("end_ns", |period| number(&period.end_ns)),
    ("reason", |period| text(&period.reason)),
];

const INCIDENT: &Columns<Incident> = &[
    ("begin_ns", |incident| number(&incident.begin_ns)),
    ("end_ns", |incident| number(&incident.end_ns)),
    ("held_us", |incident| number(&incident.held)),
    ("kind", |incident| number(&incident.kind).trim_matches('"').into()),
    ("host", |incident| optional_text(&incident.process.host)),
    ("pid", |incident| incident.process.pid.as_ref().map_or(String::new(), datum)),
    ("cause.event", |incident| incident.cause.as_ref().map_or(String::new(), |cause| text(&cause.event))),
    ("cause.key.*", |_| String::new()),
    ("cause.client", |incident| {
        incident.cause.as_ref().and_then(|cause| cause.client.as_ref()).map_or(String::new(), datum)
    }),
    ("cause.duration_us", |incident| optional(&incident.cause.as_ref().map(|cause| cause.duration))),
    ("chain", |incident| {
        text(&incident.chain.iter().map(|link| link.event.as_str()).collect::<Vec<_>>().join(" > "))
    }),
    ("unexplained_us", |incident| number(&incident.unexplained)),
    ("held_by", |incident| {
        incident.held_by.as_ref().map_or(String::new(), |held| number(&held.cause).trim_matches('"').into())
    }),
    ("waited.clients", |incident| number(&incident.waited.clients)),
    ("waited.of", |incident| number(&incident.waited.of)),
    ("waited.longest_us", |incident| number(&incident.waited.longest)),
    ("waited.least_us", |incident| number(&incident.waited.least)),
    ("waited.most_us", |incident| number(&incident.waited.most)),
    ("not_served", |incident| number(&incident.not_served)),
    ("is_incomplete", |incident| number(&incident.is_incomplete)),
    ("advice", |incident| optional_text(&incident.advice)),
];

fn names<T>(columns: &Columns<T>) -> impl Iterator<Item = &str> {
    columns.iter().map(|(name, _)| *name)
}

/// The cells of a row. What stands for several columns is not one of them.
fn row<T>(columns: &Columns<T>, of: &T) -> impl Iterator<Item = (String, String)> {
    columns
        .iter()
        .filter(|(name, _)| !name.ends_with('*'))
        .map(move |(name, cell)| ((*name).to_owned(), cell(of)))
}

fn keys(prefix: &str, Pairs(key): &Pairs) -> impl Iterator<Item = (String, String)> {
    key.iter().map(move |(name, value)| (format!("{prefix}.{name}"), datum(value)))
}

fn name_cells(name: &GroupName) -> SheetRow {
    [("event".to_owned(), text(&name.event))].into_iter().chain(keys("key", &name.key)).collect()
}

fn optional_text(value: &Option<String>) -> String {
    value.as_deref().map_or(String::new(), text)
}
