//! `slow` as a table.

use std::io::{self, Write};

use super::Names;
use crate::analysis::key::Datum;
use crate::analysis::slow::Slow;
use crate::analysis::{Field, Record};
use crate::view::amount::{counted, duration};
use crate::view::table::{Column, Table};
use crate::view::{Screen, escape, notes};

const COLUMNS: [Column; 5] = [
    Column::number("DURATION"),
    Column::text("ENDED"),
    Column::number("PID").droppable(1),
    Column::text("EVENT"),
    Column::text("FIELDS"),
];

/// Writes the slowest events.
pub fn slow(slow: &Slow, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    notes::heading(&slow.report, screen, out)?;
    let names = Names::new(slow.events.iter().map(|record| &*record.kind.event), screen.is_narrow());
    let mut table = Table::new(&COLUMNS);
    table.sorted_by = Some("DURATION");
    for record in &slow.events {
        let sum = if record.kind.is_sum { " (sum)" } else { "" };
        table.row(vec![
            duration(record.duration_ns as f64),
            screen.time_of_day(record.timestamp),
            pid(record),
            names.of(&record.kind.event) + sum,
            details(record, &[]),
        ]);
    }
    if !slow.events.is_empty() {
        table.write(screen, out)?;
    }
    let mut footnotes = Vec::new();
    match slow.timed.saturating_sub(slow.events.len() as u64) {
        _ if slow.timed == 0 => footnotes.push("no events with a duration".into()),
        0 => {}
        others => {
            footnotes.push(format!("{} as fast or faster (-n shows more)", counted(others, "other event")))
        }
    }
    footnotes.extend(notes::implausible(slow.implausible, "see `ltt-top top`"));
    footnotes.extend(notes::left_out(&slow.left_out));
    footnotes.extend(notes::guesses(slow.events.iter().map(|record| &*record.kind)));
    notes::footing(&footnotes, screen, out)
}

/// The process that an event came from.
pub(super) fn pid(record: &Record) -> String {
    let found = record.fields().find(|(field, _)| field.name == "vpid");
    found.map_or("-".into(), |(_, pid)| escape::datum(&pid))
}

/// The event's own fields, without empty ones and those that are said elsewhere.
pub(super) fn details(record: &Record, said: &[String]) -> String {
    let is_empty = |value: &Datum| matches!(value, Datum::Text(text) if text.is_empty());
    let is_shown = |field: &Field| field.is_detail && !said.contains(&field.name);
    let shown = record.fields().filter(|(field, value)| is_shown(field) && !is_empty(value));
    let shown =
        shown.map(|(field, value)| format!("{}={}", escape::text(&field.name), escape::datum(&value)));
    shown.collect::<Vec<_>>().join(" ")
}
