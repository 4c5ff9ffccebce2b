//! The groups: rate, percentiles, the longest, and how many there were over time.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::palette::Palette;
use super::state::{Focus, ScreenState, first_row};
use crate::view::table::{Names, figure};
use crate::view::width::fit;
use ltt_analysis::finding::{GroupFinding, Ns};
use ltt_analysis::groups::Quantile;
use ltt_analysis::groups::Sort;
use ltt_analysis::live::LiveFinding;
use ltt_analysis::text::amount::scaled;
use ltt_analysis::text::escape;

/// How wide the figures are.
const FIGURE: usize = 8;

/// The bars of a sparkline.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A figure of a group.
#[derive(Clone, Copy, Debug, PartialEq)]
enum GroupColumn {
    Total,
    Rate,
    Count,
    Mean,
    Max,
    Percentile(Quantile),
}

/// The figures, the most important ones first.
const FIGURES: [GroupColumn; 6] = [
    GroupColumn::Total,
    GroupColumn::Percentile(Quantile::P99),
    GroupColumn::Rate,
    GroupColumn::Max,
    GroupColumn::Percentile(Quantile::P50),
    GroupColumn::Count,
];

impl GroupColumn {
    /// The figure that groups are ranked by.
    fn of(sort: Sort) -> GroupColumn {
        match sort {
            Sort::Total => GroupColumn::Total,
            Sort::Count => GroupColumn::Count,
            Sort::Mean => GroupColumn::Mean,
            Sort::Max => GroupColumn::Max,
            Sort::Percentile(quantile) => GroupColumn::Percentile(quantile),
        }
    }

    fn title(self) -> String {
        match self {
            GroupColumn::Total => "TOTAL".into(),
            GroupColumn::Rate => "RATE/S".into(),
            GroupColumn::Count => "COUNT".into(),
            GroupColumn::Mean => "MEAN".into(),
            GroupColumn::Max => "MAX".into(),
            GroupColumn::Percentile(quantile) => format!("P{quantile}"),
        }
    }

    fn value(self, group: &GroupFinding) -> String {
        let is_guess = group.unit_is_guess;
        match self {
            GroupColumn::Total => figure(group.total, is_guess),
            GroupColumn::Rate => group.rate_per_s.map_or("-".into(), scaled),
            GroupColumn::Count => scaled(group.count as f64),
            GroupColumn::Mean => figure(group.mean_us.map(|mean| Ns((mean * 1000.0) as u128)), is_guess),
            GroupColumn::Max => figure(group.max, is_guess),
            GroupColumn::Percentile(quantile) => {
                let found = group.percentiles.0.iter().find(|(known, _)| *known == quantile);
                figure(found.and_then(|(_, value)| *value), is_guess)
            }
        }
    }
}

/// The columns that fit.
struct GroupColumns {
    name: usize,
    figures: Vec<GroupColumn>,
    spark: usize,
}

impl GroupColumns {
    fn new(width: usize, sort: Sort) -> GroupColumns {
        let count = match width {
            0..24 => 1,
            24..36 => 2,
            36..48 => 3,
            48..72 => 4,
            72..90 => 5,
            _ => 6,
        };
        // What the groups are ranked by is always shown.
        let sorted = GroupColumn::of(sort);
        let mut figures: Vec<GroupColumn> = FIGURES[..count].to_vec();
        if !figures.contains(&sorted) {
            figures[count - 1] = sorted;
        }
        let rest = width.saturating_sub(count * FIGURE);
        let spark = if width < 56 { 0 } else { (rest / 3).min(60) };
        GroupColumns { name: rest.saturating_sub(spark + 1), figures, spark }
    }
}

/// Draws the groups that fit, including the chosen one.
pub fn draw(frame: &mut Frame<'_>, area: Rect, state: &ScreenState, finding: &LiveFinding, palette: Palette) {
    let sort = finding.top.sorted_by;
    let columns = GroupColumns::new(area.width as usize, sort);
    let room = (area.height as usize).saturating_sub(1);
    let first = first_row(state.row, area.height);
    let groups = &finding.top.groups;
    let names = Names::new(groups.iter().map(|group| &*group.name.event), area.width < 120);
    let is_here = state.focus == Focus::Groups;
    let mut heading = fit(if is_here { "▶GROUP" } else { "GROUP" }, columns.name);
    for &column in &columns.figures {
        let mark = if column == GroupColumn::of(sort) { "▼" } else { "" };
        heading.push_str(&format!("{:>FIGURE$}", column.title() + mark));
    }
    if columns.spark > 0 {
        heading.push_str(&format!(" {}", fit("EVENTS OVER TIME", columns.spark)));
    }
    let mut lines = vec![Line::styled(heading, palette.title())];
    for (place, group) in groups.iter().enumerate().skip(first).take(room) {
        let mut text = fit(&names.group(&group.name), columns.name);
        columns.figures.iter().for_each(|column| text.push_str(&format!("{:>FIGURE$}", column.value(group))));
        let spark = finding.sparks.get(place).map_or(String::new(), |counts| spark(counts, columns.spark));
        let mut line = Line::from(vec![Span::raw(text), Span::styled(format!(" {spark}"), palette.spark())]);
        if place == state.row {
            line = line.style(palette.chosen(is_here));
        }
        lines.push(line);
    }
    if groups.is_empty() {
        let narrow = &state.question.narrow;
        let said = match (&finding.meant, narrow.is_empty()) {
            (Some(meant), _) => format!("no group is called {narrow}: did you mean {}?", escape::text(meant)),
            (None, false) => format!("no group is called {narrow} in this window"),
            (None, true) => "no events in this window".into(),
        };
        lines.push(Line::styled(escape::text(&said), palette.faint()));
    }
    frame.render_widget(Paragraph::new(lines), area);
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
