//! Findings as CSV: a header, and a row for each group, event or name. Columns are named as JSON's keys are, and nested
//! ones with a dot: `key.name`.

use std::io::{self, Write};

use super::events::{CsvForm, Form};
use super::output::{EventStream, Output, unsupported};
use super::sheet::{Sheet, SheetRow, cells, datum, number, optional, text};
use super::{Screen, notes};
use ltt_analysis::Finding;
use ltt_analysis::compare::FIGURES;
use ltt_analysis::datum::Pairs;
use ltt_analysis::finding::{EventFinding, GroupFinding, GroupName};
use ltt_analysis::groups::Top;
use ltt_analysis::incidents::Incident;

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

/// The columns of single events, and of incidents.
const EVENT: [&str; 7] = ["timestamp_ns", "begin_ns", "end_ns", "event", "duration_us", "host", "fields.*"];
const INCIDENT: [&str; 21] = [
    "begin_ns",
    "end_ns",
    "held_us",
    "kind",
    "host",
    "pid",
    "cause.event",
    "cause.key.*",
    "cause.client",
    "cause.duration_us",
    "chain",
    "unexplained_us",
    "held_by",
    "waited.clients",
    "waited.of",
    "waited.longest_us",
    "waited.least_us",
    "waited.most_us",
    "not_served",
    "is_incomplete",
    "advice",
];

/// The columns of groups, before and after the percentiles that were asked for.
const GROUP: [&[&str]; 2] = [
    &["count", "implausible", "total_us", "mean_us"],
    &["min_us", "max_us", "rate_per_s", "wall_share", "is_sum", "unit_is_guess"],
];

/// What modes, periods and drifts have, as far as they have it.
const OUTLIER: [&str; 7] = ["count", "lost_us", "begin_ns", "end_ns", "reason", "rule", "limit_us"];

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
            sheet = Sheet::new(&INCIDENT.into_iter().filter(shown).collect::<Vec<_>>());
            incidents.incidents.iter().for_each(|incident| sheet.add(incident_row(incident)));
        }
        Finding::Slow(slow) => {
            let columns = EVENT.into_iter().chain(["reason", "unit_is_guess"]);
            sheet = Sheet::new(&columns.filter(shown).collect::<Vec<_>>());
            slow.events.iter().for_each(|event| sheet.add(event_row(event)));
        }
        Finding::Outliers(outliers) => {
            let last = ["key.*", "reason", "rule", "limit_us", "unit_is_guess"];
            let columns = ["finding", "count", "lost_us"].into_iter().chain(EVENT).chain(last);
            sheet = Sheet::new(&columns.filter(shown).collect::<Vec<_>>());
            let is = |finding: &str| cell("finding", finding.into());
            let is_guess = |name: &GroupName| cell("unit_is_guess", name.unit_is_guess.to_string());
            for period in &outliers.periods {
                let name = period.groups.first().map_or(SheetRow::new(), |shift| name_cells(&shift.name));
                sheet.add(
                    [cells(period, &OUTLIER), name, vec![is(number(&period.kind).trim_matches('"'))]]
                        .concat(),
                );
            }
            for mode in &outliers.modes {
                let other =
                    vec![is("mode"), cell("duration_us", number(&mode.typical)), is_guess(&mode.name)];
                sheet.add([cells(mode, &OUTLIER), name_cells(&mode.name), other].concat());
            }
            for drift in &outliers.drifts {
                let other = vec![is("drift"), is_guess(&drift.name)];
                sheet.add([cells(drift, &OUTLIER), name_cells(&drift.name), other].concat());
            }
            for shared in &outliers.shared {
                sheet.add(
                    [cells(shared, &["count", "reason"]), name_cells(&shared.name), vec![is("shared")]]
                        .concat(),
                );
            }
            for outlier in &outliers.events {
                let key = keys("key", &outlier.event.key).collect();
                let lost = cell("lost_us", number(&outlier.event.duration));
                let other = vec![is("single"), cell("count", "1".into()), lost];
                sheet.add(
                    [event_row(&outlier.event), key, cells(outlier, &["rule", "limit_us"]), other].concat(),
                );
            }
        }
        Finding::Hist(hist) => {
            let columns = ["event", "key.*", "count", "implausible", "buckets"];
            sheet = Sheet::new(&columns);
            for group in &hist.groups {
                sheet.add([name_cells(&group.outline.name), cells(group, &columns[2..])].concat());
            }
        }
        Finding::Heat(heat) => {
            let columns = ["event", "key.*", "rows_from_us", "counts"];
            sheet = Sheet::new(&columns);
            for group in &heat.groups {
                sheet.add([name_cells(&group.outline.name), cells(group, &columns[2..])].concat());
            }
        }
        Finding::Compare(compare) => {
            let first = ["event", "key.*", "verdict", "probability", "lost_us_per_s"];
            let sides = ["before.*", "after.*", "ratio.*", "low.*", "high.*"];
            sheet = Sheet::new(&[&first[..], &sides].concat());
            for group in &compare.groups {
                let mut row = [name_cells(&group.name), cells(group, &first[2..])].concat();
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
                sheet.add(vec![cell("event", text(event)), cell("count", count.to_string())]);
            }
        }
    }
    Ok(Some(sheet))
}

/// A row for each group; over time, for each group in each slice.
fn top_sheet(top: &Top) -> Sheet {
    let percentiles: Vec<String> =
        top.quantiles.iter().map(|quantile| format!("{}_us", quantile.name())).collect();
    let percentiles: Vec<&str> = percentiles.iter().map(String::as_str).collect();
    let figures = [GROUP[0], &percentiles, GROUP[1]].concat();
    let times: &[&str] = if top.over_time.is_some() { &["begin_ns", "end_ns"] } else { &[] };
    let mut sheet = Sheet::new(&[times, &["event", "key.*"], &figures].concat());
    let group_row = |group: &GroupFinding| [name_cells(&group.name), cells(group, &figures)].concat();
    let Some(over_time) = &top.over_time else {
        top.groups.iter().for_each(|group| sheet.add(group_row(group)));
        return sheet;
    };
    for slice in &over_time.slices {
        for group in &slice.groups {
            sheet.add([cells(slice, times), group_row(group)].concat());
        }
    }
    sheet
}

fn event_row(event: &EventFinding) -> SheetRow {
    let fields = event.fields.iter().map(|(field, value)| (format!("fields.{}", field.name), datum(&value)));
    [cells(event, &EVENT), fields.collect(), cells(event, &["reason", "unit_is_guess"])].concat()
}

fn incident_row(incident: &Incident) -> SheetRow {
    let process = cells(&incident.process, &["host"]);
    let cause = incident.cause.as_ref();
    let client = cause.and_then(|cause| cause.client.as_ref());
    let chain = incident.chain.iter().map(|link| link.event.as_str()).collect::<Vec<_>>().join(" > ");
    let held_by = incident.held_by.as_ref().map_or(String::new(), |held| number(&held.cause));
    let other = [
        cell("pid", incident.process.pid.as_ref().map_or(String::new(), datum)),
        cell("cause.client", client.map_or(String::new(), datum)),
        cell("chain", text(&chain)),
        cell("held_by", held_by.trim_matches('"').into()),
    ];
    let key = cause.iter().flat_map(|cause| keys("cause.key", &cause.key)).collect();
    [cells(incident, &INCIDENT), process, key, other.into()].concat()
}

fn cell(name: &str, cell: String) -> (String, String) {
    (name.to_owned(), cell)
}

fn keys(prefix: &str, Pairs(key): &Pairs) -> impl Iterator<Item = (String, String)> {
    key.iter().map(move |(name, value)| (format!("{prefix}.{name}"), datum(value)))
}

fn name_cells(name: &GroupName) -> SheetRow {
    [cell("event", text(&name.event))].into_iter().chain(keys("key", &name.key)).collect()
}
