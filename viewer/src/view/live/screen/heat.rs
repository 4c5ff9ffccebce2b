//! The heat map: time to the right, durations upwards.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::palette::Palette;
use crate::view::width::fit;
use ltt_analysis::finding::Ns;
use ltt_analysis::live::LiveFinding;

/// What cells look like, the densest last.
const CELLS: [char; 5] = [' ', '░', '▒', '▓', '█'];

/// How wide the durations on the left are.
const GUTTER: usize = 8;

/// Draws the map in the area, the longest durations on top, with the times below it.
pub fn draw(frame: &mut Frame<'_>, area: Rect, finding: &LiveFinding, is_here: bool, palette: Palette) {
    let heat = &finding.heat;
    let (width, height) = (area.width as usize, area.height as usize);
    if height < 4 || width < GUTTER + 4 {
        return;
    }
    let columns = (width - GUTTER).min(heat.columns.len().max(1) * 2);
    let length = heat.slice_ns * heat.columns.len() as u64;
    let mark = if is_here { "▶" } else { "" };
    let title = format!("{mark}DURATIONS over the last {}", Ns::from(length).in_words());
    let mut lines = vec![Line::styled(title, palette.title())];
    // Rows share a line without room for each.
    let share = heat.rows_from.len().div_ceil(height - 2).max(1);
    let starts: Vec<usize> = (0..heat.rows_from.len()).step_by(share).collect();
    for &first in starts.iter().rev() {
        let rows = first..(first + share).min(heat.rows_from.len());
        let mut spans = vec![Span::raw(format!("{:>7} ", heat.rows_from[first].short()))];
        for place in 0..columns {
            let column = &heat.columns[place * heat.columns.len() / columns];
            let count: u64 = column[rows.clone()].iter().sum();
            let level = level(count, heat.densest);
            spans.push(Span::styled(CELLS[level].to_string(), palette.heat(level)));
        }
        lines.push(Line::from(spans));
    }
    lines.push(Line::styled(format!("{}{}", " ".repeat(GUTTER), times(length, columns)), palette.faint()));
    frame.render_widget(Paragraph::new(lines), area);
}

/// The axis of time: how long ago each quarter begins, and now.
fn times(length_ns: u64, columns: usize) -> String {
    let parts = if columns >= 40 { 4 } else { 1 };
    let mut axis = String::new();
    for part in 0..parts {
        let ago = Ns::from(length_ns * (parts - part) as u64 / parts as u64);
        axis = fit(&axis, columns * part / parts) + &format!("├ -{}", ago.short());
    }
    let end = columns.saturating_sub("now ┤".chars().count());
    fit(&axis, end) + "now ┤"
}

/// The density of a cell, from 0 to 4, on a logarithmic scale, so that rare long durations are visible.
fn level(count: u64, densest: u64) -> usize {
    match count {
        0 => 0,
        count => {
            let part = ((count + 1) as f64).ln() / ((densest + 1) as f64).ln();
            ((part * 4.0).ceil() as usize).clamp(1, 4)
        }
    }
}
