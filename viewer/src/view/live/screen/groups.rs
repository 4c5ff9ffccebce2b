//! The groups: rate, percentiles, the longest, and how many there were over time.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::palette::Palette;
use super::state::ScreenState;
use crate::analysis::finding::GroupFinding;
use crate::analysis::live::LiveFinding;
use crate::text::amount::scaled;
use crate::text::width::fit;
use crate::view::table::{Names, figure};

/// How wide the figures are.
const FIGURE: usize = 8;

/// The bars of a sparkline.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The columns that fit.
struct GroupColumns {
    name: usize,
    figures: usize,
    spark: usize,
}

impl GroupColumns {
    fn new(width: usize) -> GroupColumns {
        let figures = match width {
            0..24 => 1,
            24..36 => 2,
            36..48 => 3,
            _ => 4,
        };
        let rest = width.saturating_sub(figures * FIGURE);
        let spark = if width < 56 { 0 } else { (rest / 3).min(60) };
        GroupColumns { name: rest.saturating_sub(spark + 1), figures, spark }
    }
}

/// Draws the groups that fit, including the chosen one.
pub fn draw(frame: &mut Frame<'_>, area: Rect, state: &ScreenState, finding: &LiveFinding, palette: Palette) {
    let columns = GroupColumns::new(area.width as usize);
    let room = (area.height as usize).saturating_sub(1);
    let first = (state.row + 1).saturating_sub(room.max(1));
    let groups = &finding.top.groups;
    let names = Names::new(groups.iter().map(|group| &*group.name.event), area.width < 120);
    // The most important figure is next to the name.
    let titles = ["P99", "RATE/S", "MAX", "P50"];
    let mut heading = fit("GROUP", columns.name);
    titles.iter().take(columns.figures).for_each(|title| heading.push_str(&format!("{title:>FIGURE$}")));
    if columns.spark > 0 {
        heading.push_str(&format!(" {}", fit("EVENTS OVER TIME", columns.spark)));
    }
    let mut lines = vec![Line::styled(heading, palette.title())];
    for (place, group) in groups.iter().enumerate().skip(first).take(room) {
        let text = row(group, &names, &columns);
        let spark = finding.sparks.get(place).map_or(String::new(), |counts| spark(counts, columns.spark));
        let mut line = Line::from(vec![Span::raw(text), Span::styled(format!(" {spark}"), palette.spark())]);
        if place == state.row {
            line = line.style(palette.chosen());
        }
        lines.push(line);
    }
    if groups.is_empty() {
        lines.push(Line::styled("no events in this window", palette.faint()));
    }
    frame.render_widget(Paragraph::new(lines), area);
}

fn row(group: &GroupFinding, names: &Names, columns: &GroupColumns) -> String {
    let is_guess = group.unit_is_guess;
    let percentile =
        |place: usize| figure(group.percentiles.0.get(place).and_then(|(_, value)| *value), is_guess);
    let figures = [
        percentile(1),
        group.rate_per_s.map_or("-".into(), scaled),
        figure(group.max, is_guess),
        percentile(0),
    ];
    let mut row = fit(&names.group(&group.name), columns.name);
    figures.iter().take(columns.figures).for_each(|figure| row.push_str(&format!("{figure:>FIGURE$}")));
    row
}

/// A sparkline, with the newest numbers on the right; several share a bar without room for each.
fn spark(counts: &[u64], width: usize) -> String {
    if width == 0 {
        return String::new();
    }
    let share = counts.len().div_ceil(width).max(1);
    let sums: Vec<u64> = counts.rchunks(share).map(|chunk| chunk.iter().sum()).collect();
    let most = sums.iter().copied().max().unwrap_or(0).max(1);
    let bar = |&sum: &u64| match sum {
        0 => ' ',
        sum => BARS[((sum * 8).div_ceil(most) as usize).clamp(1, 8) - 1],
    };
    let bars: String = sums.iter().rev().map(bar).collect();
    format!("{bars:>width$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparklines_have_their_newest_on_the_right_and_share_bars() {
        assert_eq!(spark(&[0, 1, 4, 8], 6), "   ▁▄█");
        assert_eq!(spark(&[1, 1, 2, 2], 2), "▄█");
        assert_eq!(spark(&[5], 0), "");
        assert_eq!(spark(&[], 3), "   ");
    }
}
