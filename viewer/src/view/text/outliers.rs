//! `outliers` as a table.

use std::cmp::Reverse;
use std::io::{self, Write};
use std::sync::Arc;

use super::Names;
use super::slow::{details, pid};
use crate::analysis::histogram::Histogram;
use crate::analysis::outliers::Outliers;
use crate::analysis::{Kind, Rule};
use crate::view::amount::{counted, duration_in_words, grouped, times};
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
            details(&outlier.record, &outlier.record.kind.keys),
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
    footnotes.extend(unjudged(&outliers.unjudged));
    footnotes.extend(notes::implausible(outliers.implausible, "see `ltt-top top`"));
    footnotes.extend(notes::left_out(&outliers.left_out));
    footnotes.extend(notes::guesses(outliers.events.iter().map(|outlier| &*outlier.record.kind)));
    footnotes
}

/// The events that are too rare to judge, those with the longest durations by name.
fn unjudged(rare: &[(Arc<Kind>, Histogram)]) -> Option<String> {
    const SHOWN: usize = 3;
    let longest = |(kind, durations): &&(Arc<Kind>, Histogram)| kind.ns(durations.max().unwrap_or(0));
    let mut rare: Vec<_> = rare.iter().collect();
    rare.sort_by_key(|event| Reverse(longest(event)));
    let one = |event: &&(Arc<Kind>, Histogram)| {
        let (seen, max) = (times(event.1.count()), duration_in_words(longest(event) as f64));
        format!("{} ({seen}, {max} at most)", escape::text(&event.0.event))
    };
    let named: Vec<String> = rare.iter().take(SHOWN).map(one).collect();
    let more = match rare.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!named.is_empty()).then(|| format!("too rare to judge: {}{more}", named.join(", ")))
}
