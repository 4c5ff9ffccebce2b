//! `top` as a table.

use super::grid::{Column, Grid};
use super::label::{Names, figure, marked};
use super::page::{Page, Style};
use crate::view::Screen;
use ltt_analysis::finding::GroupFinding;
use ltt_analysis::groups::Top;
use ltt_analysis::text::amount::{counted, duration, grouped, scaled, share};

/// The columns. Of the percentiles, the one ranked by and p99 always stay; the others are dropped from the first.
fn columns(top: &Top) -> Vec<Column> {
    let sorted_by = top.sorted_by.to_string().to_uppercase();
    let mut columns = vec![
        Column::number("TOTAL"),
        Column::number("WALL").droppable(56),
        Column::number("COUNT").droppable(57),
        Column::number("RATE/S").droppable(1),
        Column::number("MEAN").droppable(2),
    ];
    for (place, quantile) in top.quantiles.iter().enumerate() {
        let title = format!("P{quantile}");
        let column = Column::number(title.clone());
        let importance = match &*title {
            "P50" => 55,
            _ => 3 + place.min(50) as u8,
        };
        columns.push(if title == "P99" { column } else { column.droppable(importance) });
    }
    columns.extend([Column::number("MAX"), Column::text("EVENT")]);
    if top.over_time.is_some() {
        columns.insert(0, Column::text("FROM"));
    }
    let kept = columns.iter_mut().filter(|column| column.title == sorted_by);
    kept.for_each(|column| column.importance = None);
    columns
}

/// The first groups.
pub fn grid(top: &Top, most: usize, screen: &Screen) -> Grid {
    let names = Names::new(top.groups.iter().map(|group| &*group.name.event), screen.is_narrow());
    let mut grid = Grid::new(columns(top));
    match &top.over_time {
        None => {
            grid.sorted_by = Some(top.sorted_by.to_string().to_uppercase());
            top.groups.iter().take(most).for_each(|group| grid.row(row(group, &names)));
        }
        Some(over_time) => {
            for slice in &over_time.slices {
                let cells =
                    |group| [screen.time_of_day(slice.begin_ns)].into_iter().chain(row(group, &names));
                slice.groups.iter().for_each(|group| grid.row(cells(group).collect()));
            }
        }
    }
    grid
}

/// Adds the groups.
pub fn add(top: &Top, screen: &Screen, page: &mut Page) {
    if !top.groups.is_empty() {
        page.grid(grid(top, usize::MAX, screen));
    }
    if top.hidden_groups > 0 {
        page.text(Style::Note, format!("{} not shown (-n 0 shows all)", counted(top.hidden_groups, "group")));
    }
    if let Some(folded) = &top.folded {
        let (total, max) = (folded.total.in_words(), folded.max.in_words());
        let events = counted(folded.count, "event");
        page.text(Style::Note, format!("({events} of other keys folded: {total} in total, at most {max})"));
    }
}

fn row(group: &GroupFinding, names: &Names) -> Vec<String> {
    let is_guess = group.unit_is_guess;
    let mean = group.mean_us.map(|mean| marked(duration(mean * 1000.0), is_guess));
    let wall = group.wall_share.map(|part| marked(share(part), is_guess));
    let mut row = vec![
        figure(group.total, is_guess),
        wall.unwrap_or("-".into()),
        grouped(group.count.into()),
        group.rate_per_s.map_or("-".into(), scaled),
        mean.unwrap_or("-".into()),
    ];
    row.extend(group.percentiles.0.iter().map(|(_, value)| figure(*value, is_guess)));
    row.extend([figure(group.max, is_guess), names.group(&group.name)]);
    row
}
