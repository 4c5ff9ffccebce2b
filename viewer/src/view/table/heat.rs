//! `hist --over-time` as a heat map: time to the right, durations upwards.

use std::io::{self, Write};

use super::hist::{footnotes, title};
use super::label::figure;
use crate::analysis::durations::{Heat, HeatGroup, TimeColumns};
use crate::analysis::finding::Ns;
use crate::view::Screen;

/// The columns of a line before its cells.
pub const GUTTER: usize = 10;

/// Shades relative to the densest cell, on a logarithmic scale.
const SHADES: [char; 5] = ['·', '░', '▒', '▓', '█'];
/// The same in colour, from blue to red.
const COLOURS: [&str; 5] = ["34", "36", "32", "33", "31"];

/// Writes the maps, and returns the footnotes.
pub fn write(heat: &Heat, screen: &Screen, out: &mut dyn Write) -> io::Result<Vec<String>> {
    for group in &heat.groups {
        writeln!(out)?;
        title(&group.outline, screen, out)?;
        rows(group, screen, out)?;
        axis(&heat.columns, screen, out)?;
    }
    let mut notes = footnotes(heat.groups.is_empty() && heat.notes.empty.is_none(), heat.hidden_groups);
    if !heat.groups.is_empty() {
        let scale: String = SHADES.iter().collect();
        notes.insert(0, format!("{scale}: few to many events, on a logarithmic scale for each map"));
    }
    Ok(notes)
}

fn rows(group: &HeatGroup, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    for (row, from) in group.rows_from_us.iter().enumerate().skip(group.first_row).rev() {
        write!(out, "{:>8}  ", figure(Some(*from), group.outline.name.unit_is_guess))?;
        for column in &group.counts {
            match shade(column[row], group.densest) {
                Some(shade) => write!(out, "{}", screen.paint(COLOURS[shade], &SHADES[shade].to_string()))?,
                None => write!(out, " ")?,
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

fn axis(columns: &TimeColumns, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    let (begin, end) = (screen.time_of_day(columns.begin_ns), screen.time_of_day(columns.end_ns));
    let step = format!("{} per column", Ns::from(columns.width_ns).in_words());
    let room = columns.count.saturating_sub(begin.len() + end.len());
    let middle = if room > step.len() + 1 { format!("{step:^room$}") } else { " ".to_owned() };
    writeln!(out, "{:>GUTTER$}{begin}{middle}{end}", "")
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
