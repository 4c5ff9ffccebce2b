//! `outliers` as a table.

use std::io::{self, Write};
use std::sync::Arc;

use super::Names;
use super::slow::{details, pid};
use crate::analysis::histogram::Histogram;
use crate::analysis::outliers::Outliers;
use crate::analysis::{Kind, Rule};
use crate::view::amount::{counted, duration_in_words, grouped};
use crate::view::table::{Column, Table};
use crate::view::{Screen, escape, notes, reason};

const COLUMNS: [Column; 6] = [
    Column::text("ENDED"),
    Column::number("PID").droppable(1),
    Column::text("EVENT").droppable(3),
    Column::text("RULE").droppable(2),
    Column::text("REASON"),
    Column::text("FIELDS"),
];

/// Writes the outliers.
pub fn outliers(outliers: &Outliers, rule: &Rule, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    notes::heading(&outliers.report, screen, out)?;
    let names =
        Names::new(outliers.events.iter().map(|outlier| &*outlier.record.kind.event), screen.is_narrow());
    let mut table = Table::new(&COLUMNS);
    for outlier in &outliers.events {
        table.row(vec![
            screen.time_of_day(outlier.record.timestamp),
            pid(&outlier.record),
            names.of(&outlier.record.kind.event),
            reason::rule(outlier.judged.basis).into(),
            reason::reason(outlier),
            details(&outlier.record),
        ]);
    }
    if !outliers.events.is_empty() {
        table.write(screen, out)?;
    }
    notes::footing(&footnotes(outliers, rule), screen, out)
}

fn footnotes(outliers: &Outliers, rule: &Rule) -> Vec<String> {
    let found = counted(outliers.found, "outlier");
    let judged = counted(outliers.judged, "duration");
    let hidden = outliers.found - outliers.events.len() as u64;
    let hidden = match hidden {
        0 => String::new(),
        hidden => format!(", of which {} shorter ones are not shown (-n shows more)", grouped(hidden.into())),
    };
    let excess = duration_in_words(rule.least_excess_ns as f64);
    let mut footnotes = vec![
        format!("{found} among {judged}{hidden}"),
        format!(
            "rule: less probable than {:e} by the tail of the group's own durations (own), by that of all of \
             the event's where the group is rare (pooled), or by the median of only a few (median), and at \
             least {excess} above the percentile named",
            rule.probability
        ),
    ];
    if !outliers.unjudged.is_empty() {
        let one = |(kind, durations): &(Arc<Kind>, Histogram)| {
            let longest = duration_in_words(kind.ns(durations.max().unwrap_or(0)) as f64);
            format!("{} ({}, {longest} at most)", escape::text(&kind.event), durations.count())
        };
        let names: Vec<String> = outliers.unjudged.iter().take(6).map(one).collect();
        footnotes.push(format!("too few to judge: {}", names.join(", ")));
    }
    footnotes.extend(notes::implausible(outliers.implausible, "`ltt-top top` says of which events"));
    footnotes.extend(notes::left_out(&outliers.left_out));
    footnotes.extend(notes::guesses(outliers.events.iter().map(|outlier| &*outlier.record.kind)));
    footnotes
}
