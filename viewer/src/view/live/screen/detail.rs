//! One group: how its durations are distributed, and its slowest events.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::palette::Palette;
use crate::view::Screen;
use crate::view::table::{Names, details, figure};
use crate::view::width::fit;
use ltt_analysis::live::LiveFinding;
use ltt_analysis::text::amount::{counted, grouped};

/// Draws the chosen group.
pub fn draw(frame: &mut Frame<'_>, area: Rect, finding: &LiveFinding, screen: &Screen, palette: Palette) {
    let Some(detail) = &finding.detail else {
        frame.render_widget(Paragraph::new("no events of this group in this window"), area);
        return;
    };
    let width = area.width as usize;
    let outline = &detail.durations.outline;
    let is_guess = outline.name.unit_is_guess;
    let figures = [("p50", outline.p50), ("p99", outline.p99), ("max", outline.max)];
    let figures = figures.map(|(name, value)| format!("{name} {}", figure(value, is_guess))).join(", ");
    let name = Names::default().group(&detail.name);
    let title = format!("{name}: {}, {figures}", counted(outline.count, "event"));
    let mut lines = vec![Line::styled(title, palette.title())];
    let slowest = detail.slowest.len().min(area.height as usize / 3);
    let room = (area.height as usize).saturating_sub(slowest + 3);
    let octaves = &detail.durations.octaves;
    let most = octaves.iter().map(|octave| octave.count).max().unwrap_or(0).max(1);
    // The longest durations matter most: without room for all, the shortest are dropped.
    for octave in &octaves[octaves.len().saturating_sub(room)..] {
        let bar = (octave.count as usize * width.saturating_sub(24)).div_ceil(most as usize);
        lines.push(Line::from(vec![
            Span::raw(format!("{:>8} {:>11} ", octave.from.short(), grouped(octave.count.into()))),
            Span::styled("█".repeat(bar), palette.spark()),
        ]));
    }
    lines.push(Line::styled("SLOWEST so far", palette.title()));
    for event in detail.slowest.iter().take(slowest) {
        let took = event.duration.short();
        let client = event.client.as_ref().map_or(String::new(), ltt_analysis::text::escape::datum);
        let said =
            format!("{} {took:>8} {client} {}", screen.time_of_day(event.timestamp_ns), details(event));
        lines.push(Line::raw(fit(&said, width)));
    }
    frame.render_widget(Paragraph::new(lines), area);
}
