//! `hist --over-time` as a map: time to the right, durations upwards, the denser the darker.

use std::io::{self, Write};

use super::hist::{footnotes, from, title};
use crate::analysis::group::Group;
use crate::analysis::heat::{Columns, Heat, Map, ROWS};
use crate::view::amount::duration_in_words;
use crate::view::{Screen, notes};

/// What a line has besides its cells.
pub const BESIDES: usize = 10;

/// Shades for a part of the densest cell, on a logarithmic scale.
const SHADES: [char; 5] = ['·', '░', '▒', '▓', '█'];
/// The same in colour, from blue to red.
const COLOURS: [&str; 5] = ["34", "36", "32", "33", "31"];

/// Writes the maps.
pub fn heat(heat: &Heat, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    notes::heading(&heat.top.report, screen, out)?;
    for (group, map) in heat.groups() {
        writeln!(out)?;
        title(group, screen, out)?;
        rows(group, map, screen, out)?;
        axis(&heat.columns, screen, out)?;
    }
    let timed = heat.top.groups.iter().filter(|group| group.figures.durations.count() > 0).count();
    let mut notes = footnotes(&heat.top, timed, heat.maps.len());
    if !heat.maps.is_empty() {
        let scale: String = SHADES.iter().collect();
        notes.insert(0, format!("{scale}: few to many events, on a logarithmic scale for each map"));
    }
    notes::footing(&notes, screen, out)
}

fn rows(group: &Group, map: &Map, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    let is_used = |row: &usize| map.columns().iter().any(|column| column[*row] > 0);
    let (first, last) = ((0..ROWS).find(is_used).unwrap_or(0), (0..ROWS).rev().find(is_used).unwrap_or(0));
    let most = map.columns().iter().flatten().copied().max().unwrap_or(1);
    for row in (first..=last).rev() {
        write!(out, "{:>8}  ", from(group, row))?;
        for column in map.columns() {
            match shade(column[row], most) {
                Some(shade) => write!(out, "{}", screen.paint(COLOURS[shade], &SHADES[shade].to_string()))?,
                None => write!(out, " ")?,
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

fn axis(columns: &Columns, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    let end = columns.begin.saturating_add_unsigned(columns.width.saturating_mul(columns.count as u64));
    let (begin, end) = (screen.time_of_day(columns.begin), screen.time_of_day(end));
    let step = format!("{} a column", duration_in_words(columns.width as f64));
    let room = columns.count.saturating_sub(begin.len() + end.len());
    let middle = if room > step.len() + 1 { format!("{step:^room$}") } else { " ".to_owned() };
    writeln!(out, "{:>BESIDES$}{begin}{middle}{end}", "")
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
