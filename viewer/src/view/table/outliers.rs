//! `outliers` as a table. Each reason is on a separate line unless the screen is very wide.

use std::io::{self, Write};

use super::grid::{Column, Grid};
use super::label::{Names, details};
use super::slow::Columns;
use crate::analysis::outliers::{Outliers, Unjudged};
use crate::text::amount::{counted, duration_in_words, grouped, times};
use crate::text::escape;
use crate::view::Screen;

/// From this width on reasons stand beside their events.
const WIDE: usize = 200;

/// Writes the outliers, and says what is to be said after them.
pub fn write(outliers: &Outliers, screen: &Screen, out: &mut dyn Write) -> io::Result<Vec<String>> {
    let events = || outliers.events.iter().map(|outlier| &outlier.event);
    let names = Names::new(events().map(|event| &*event.event), screen.is_narrow());
    let columns = Columns::new(events(), outliers.trace.has_several_hosts());
    let has_room = screen.width.is_none_or(|width| width >= WIDE);
    let reason = has_room.then(|| [Column::text("RULE").droppable(3), Column::text("REASON")]);
    let reason = reason.into_iter().flatten();
    let mut grid = Grid::new(columns.titles().chain(reason).chain([Column::text("FIELDS")]).collect());
    grid.sorted_by = Some("DURATION".into());
    for outlier in &outliers.events {
        let event = &outlier.event;
        let (rule, reason) = (outlier.rule.name(), event.reason.clone().unwrap_or_default());
        let mut row: Vec<String> = columns.cells(event, &names, screen).collect();
        if has_room {
            row.extend([rule.to_owned(), reason.clone()]);
        }
        row.push(details(&event.fields, &event.key));
        grid.row(row);
        if !has_room {
            grid.note(format!("{rule}: {reason}"));
        }
    }
    if !outliers.events.is_empty() {
        grid.write(screen, out)?;
    }
    Ok(footnotes(outliers))
}

fn footnotes(outliers: &Outliers) -> Vec<String> {
    let found = counted(outliers.found, "outlier");
    let judged = counted(outliers.judged, "duration");
    let hidden = match outliers.hidden_events {
        0 => String::new(),
        hidden => format!(", of which {} shorter ones are not shown (-n shows more)", grouped(hidden.into())),
    };
    let excess = duration_in_words(outliers.least_excess.0 as f64);
    let mut footnotes = vec![
        format!("{found} among {judged}{hidden}"),
        format!(
            "rule: less probable than {:e} by the tail of the group's own durations (own), by that of all of \
             the event's where the group is rare (pooled), or by the median of only a few (median), and at \
             least {excess} above the percentile named",
            outliers.probability
        ),
    ];
    footnotes.extend(unjudged(&outliers.unjudged));
    footnotes
}

/// The events that are too rare to judge, those with the longest durations by name.
fn unjudged(rare: &[Unjudged]) -> Option<String> {
    const SHOWN: usize = 3;
    let one = |event: &Unjudged| {
        let max = duration_in_words(event.max.unwrap_or_default().0 as f64);
        format!("{} ({}, {max} at most)", escape::text(&event.event), times(event.count))
    };
    let named: Vec<String> = rare.iter().take(SHOWN).map(one).collect();
    let more = match rare.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!named.is_empty()).then(|| format!("too rare to judge: {}{more}", named.join(", ")))
}
