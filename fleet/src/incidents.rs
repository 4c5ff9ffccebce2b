//! The table of incidents, as `ltt-top incidents` finds them.

use std::collections::BTreeMap;

use ltt_analysis::datum::Datum;
use ltt_analysis::finding::Ns;
use ltt_analysis::incidents::Incident;
use parquet::errors::Result;
use serde::Serialize;

use crate::column::{Column, Kind, Layout, NULL, Values};
use crate::day::date_of;
use crate::interner::{Interner, NONE};
use crate::row_group::{RowGroup, row_group};
use crate::text;

/// How files of the table are laid out.
pub fn layout() -> Result<Layout> {
    Layout::new(columns(), false)
}

/// The columns of the table.
pub fn columns() -> Vec<Column> {
    vec![
        Column::required("time", Kind::Time),
        Column::required("begin_ns", Kind::Integer).growing(),
        Column::required("end_ns", Kind::Integer).growing(),
        Column::required("held_ns", Kind::Integer),
        Column::required("kind", Kind::Text),
        Column::new("process", Kind::Text),
        Column::new("pid", Kind::Integer),
        Column::new("cause_event", Kind::Text),
        Column::new("cause_group", Kind::Text),
        Column::new("cause_client", Kind::Text),
        Column::new("cause_ns", Kind::Integer),
        Column::new("held_by", Kind::Text),
        Column::new("held_by_ns", Kind::Integer),
        Column::required("unexplained_ns", Kind::Integer),
        Column::new("waited_clients", Kind::Integer),
        Column::new("waited_of", Kind::Integer),
        Column::new("waited_ns", Kind::Integer),
        Column::required("not_served", Kind::Integer),
        Column::new("advice", Kind::Text),
        Column::required("is_incomplete", Kind::Bool),
        Column::required("json", Kind::Text),
    ]
}

/// Encodes incidents, those of each date as a row group.
pub fn encode(layout: &Layout, incidents: &[Incident]) -> Result<BTreeMap<i64, RowGroup>> {
    let mut dates: BTreeMap<i64, Vec<&Incident>> = BTreeMap::new();
    incidents.iter().for_each(|incident| dates.entry(date_of(incident.begin_ns)).or_default().push(incident));
    dates.into_iter().map(|(date, incidents)| Ok((date, of_date(layout, incidents)?))).collect()
}

fn of_date(layout: &Layout, mut incidents: Vec<&Incident>) -> Result<RowGroup> {
    incidents.sort_by_key(|incident| (incident.begin_ns, incident.end_ns));
    let text = |part: fn(&Incident) -> Option<String>| {
        let mut interner = Interner::default();
        let number =
            |incident: &&Incident| part(incident).map_or(NONE, |text| interner.text(text.as_bytes()));
        let numbers = Values::Text(incidents.iter().map(number).collect());
        (numbers, interner.take())
    };
    let number = |part: fn(&Incident) -> i64| {
        (Values::Integer(incidents.iter().map(|incident| part(incident)).collect()), Vec::new())
    };
    let columns = [
        number(|incident| incident.begin_ns.div_euclid(1000)),
        number(|incident| incident.begin_ns),
        number(|incident| incident.end_ns),
        number(|incident| ns(incident.held)),
        text(|incident| name(incident.kind)),
        text(|incident| incident.process.name.clone()),
        number(|incident| match incident.process.pid {
            Some(Datum::Integer(pid)) => i64::try_from(pid).unwrap_or(NULL),
            _ => NULL,
        }),
        text(|incident| incident.cause.as_ref().map(|cause| cause.event.clone())),
        text(|incident| text::group(incident.cause.as_ref()?.key.0.iter().map(|(_, value)| value))),
        text(|incident| incident.cause.as_ref()?.client.as_ref().map(text::text)),
        number(|incident| incident.cause.as_ref().map_or(NULL, |cause| ns(cause.duration))),
        text(|incident| Some(incident.held_by.as_ref()?.cause.in_words().to_owned())),
        number(|incident| incident.held_by.as_ref().map_or(NULL, |held_by| ns(held_by.time.least))),
        number(|incident| ns(incident.unexplained)),
        number(|incident| incident.waited.map_or(NULL, |waited| waited.clients as i64)),
        number(|incident| incident.waited.map_or(NULL, |waited| waited.of as i64)),
        number(|incident| incident.waited.map_or(NULL, |waited| ns(waited.longest))),
        number(|incident| i64::try_from(incident.not_served).unwrap_or(i64::MAX)),
        text(|incident| incident.advice.clone()),
        (Values::Bool(incidents.iter().map(|incident| Some(incident.is_incomplete)).collect()), Vec::new()),
        text(|incident| serde_json::to_string(incident).ok()),
    ];
    let columns: Vec<_> = columns.iter().map(|(values, texts)| (values, &**texts)).collect();
    row_group(layout, &columns, incidents.len(), &[])
}

/// What JSON calls it.
fn name(value: impl Serialize) -> Option<String> {
    serde_json::to_value(value).ok()?.as_str().map(str::to_owned)
}

fn ns(length: Ns) -> i64 {
    i64::try_from(length.0).unwrap_or(i64::MAX)
}
