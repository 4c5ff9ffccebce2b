//! `hist --over-time` as a heat map: time to the right, durations upwards.

use super::hist::{footnotes, title};
use super::label::figure;
use super::page::{Page, Style};
use crate::view::Screen;
use ltt_analysis::durations::{Heat, HeatGroup, TimeColumns};
use ltt_analysis::finding::Ns;

/// The columns of a line before its cells.
pub const GUTTER: usize = 10;

/// Shades relative to the densest cell, on a logarithmic scale.
const SHADES: [char; 5] = ['·', '░', '▒', '▓', '█'];
/// The same in colour, from blue to red.
const COLOURS: [&str; 5] = ["34", "36", "32", "33", "31"];

/// Adds the maps.
pub fn add(heat: &Heat, screen: &Screen, page: &mut Page) {
    for group in &heat.groups {
        page.blank();
        page.line(title(&group.outline, screen));
        rows(group, screen, page);
        page.line(axis(&heat.columns, screen));
    }
    if !heat.groups.is_empty() {
        let scale: String = SHADES.iter().collect();
        page.text(Style::Note, format!("{scale}: few to many events, on a logarithmic scale for each map"));
    }
    let is_untimed = heat.groups.is_empty() && heat.notes.empty.is_none();
    page.texts(Style::Note, footnotes(is_untimed, heat.hidden_groups));
}

fn rows(group: &HeatGroup, screen: &Screen, page: &mut Page) {
    for (row, from) in group.rows_from_us.iter().enumerate().skip(group.first_row).rev() {
        let mut line = format!("{:>8}  ", figure(Some(*from), group.outline.name.unit_is_guess));
        for column in &group.counts {
            match shade(column[row], group.densest) {
                Some(shade) => line += &screen.paint(COLOURS[shade], &SHADES[shade].to_string()),
                None => line.push(' '),
            }
        }
        page.line(line);
    }
}

fn axis(columns: &TimeColumns, screen: &Screen) -> String {
    let (begin, end) = (screen.time_of_day(columns.begin_ns), screen.time_of_day(columns.end_ns));
    let step = format!("{} per column", Ns::from(columns.width_ns).in_words());
    let room = columns.count.saturating_sub(begin.len() + end.len());
    let middle = if room > step.len() + 1 { format!("{step:^room$}") } else { " ".to_owned() };
    format!("{:>GUTTER$}{begin}{middle}{end}", "")
}

/// Which shade a count has.
fn shade(count: u64, most: u64) -> Option<usize> {
    let part = (count as f64).ln_1p() / (most as f64).ln_1p();
    (count > 0).then(|| ((part * SHADES.len() as f64).ceil() as usize).clamp(1, SHADES.len()) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_densest_cell_is_the_darkest_and_a_single_event_is_seen() {
        assert_eq!(shade(0, 100), None);
        assert_eq!(shade(1, 1_000_000), Some(0));
        assert_eq!(shade(1_000_000, 1_000_000), Some(4));
        assert_eq!(shade(1, 1), Some(4));
    }
}
