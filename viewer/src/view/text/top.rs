//! `top` as a table.

use std::io::{self, Write};

use super::{Names, label};
use crate::analysis::group::{Group, Sort};
use crate::analysis::histogram::Quantile;
use crate::analysis::top::Top;
use crate::view::amount::{counted, duration, duration_in_words, grouped, scaled, share};
use crate::view::table::{Column, Table};
use crate::view::{Screen, notes};

const COLUMNS: [Column; 11] = [
    Column::number("TOTAL"),
    Column::number("WALL").droppable(6),
    Column::number("COUNT").droppable(7),
    Column::number("RATE/S").droppable(1),
    Column::number("MEAN").droppable(2),
    Column::number("P50").droppable(5),
    Column::number("P90").droppable(3),
    Column::number("P99"),
    Column::number("P99.9").droppable(4),
    Column::number("MAX"),
    Column::text("EVENT"),
];

/// Writes the groups, at most `limit` of them.
pub fn top(top: &Top, sort: Sort, limit: usize, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    notes::heading(&top.report, screen, out)?;
    let shown = &top.groups[..limit.min(top.groups.len())];
    let names = Names::new(shown.iter().map(|group| &*group.kind.event), screen.is_narrow());
    let seconds = seconds(top);
    let mut table = Table::new(&COLUMNS);
    table.sorted_by = Some(match sort {
        Sort::Total => "TOTAL",
        Sort::P99 => "P99",
        Sort::Max => "MAX",
        Sort::Mean => "MEAN",
        Sort::Count => "COUNT",
    });
    shown.iter().for_each(|group| table.row(row(group, seconds, &names)));
    if !shown.is_empty() {
        table.write(screen, out)?;
    }
    notes::footing(&footnotes(top, shown.len()), screen, out)
}

fn row(group: &Group, seconds: f64, names: &Names) -> Vec<String> {
    let figure = |ns: Option<u128>| ns.map_or("-".into(), |ns| duration(ns as f64));
    let timed = group.figures.durations.count() > 0;
    let per_second = |amount: f64| if seconds > 0.0 { amount / seconds } else { 0.0 };
    let total = group.total_ns();
    vec![
        figure(timed.then_some(total)),
        if timed { share(per_second(total as f64 / 1e9)) } else { "-".into() },
        grouped(group.figures.count().into()),
        scaled(per_second(group.figures.count() as f64)),
        group.mean_ns().map_or("-".into(), duration),
        figure(group.percentile_ns(Quantile::P50)),
        figure(group.percentile_ns(Quantile::P90)),
        figure(group.percentile_ns(Quantile::P99)),
        figure(group.percentile_ns(Quantile::P999)),
        figure(group.max_ns()),
        label(names, &group.kind, &group.key()),
    ]
}

/// The seconds from the first to the last event.
fn seconds(top: &Top) -> f64 {
    top.report.span.as_ref().map_or(0.0, |span| span.end().abs_diff(*span.start()) as f64 / 1e9)
}

fn footnotes(top: &Top, shown: usize) -> Vec<String> {
    let mut footnotes = Vec::new();
    let hidden = (top.groups.len() - shown) as u64;
    if top.groups.is_empty() {
        footnotes.push("no events to sum up".into());
    } else if hidden > 0 {
        footnotes.push(format!("{} not shown (-n 0 shows all)", counted(hidden, "group")));
    }
    if let Some(folded) = &top.folded {
        let (total, max) =
            (duration_in_words(folded.total_ns as f64), duration_in_words(folded.max_ns as f64));
        let events = counted(folded.count, "event");
        footnotes.push(format!("({events} of other keys folded: {total} in total, {max} at most)"));
    }
    let broken = || top.groups.iter().filter(|group| group.figures.implausible > 0);
    let names = broken().take(6).map(|group| label(&Names::default(), &group.kind, &group.key()));
    let names = names.collect::<Vec<_>>().join(", ");
    let in_groups: u64 = broken().map(|group| group.figures.implausible).sum();
    let in_folded = top.folded.as_ref().map_or(0, |folded| folded.implausible);
    footnotes.extend(notes::implausible(in_groups + in_folded, &names));
    footnotes.extend(notes::left_out(&top.left_out));
    footnotes.extend(notes::guesses(top.groups.iter().map(|group| &*group.kind)));
    footnotes
}
