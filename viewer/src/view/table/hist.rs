//! `hist` as bars: one for each power of two.

use super::label::{Names, figure};
use super::page::{Page, Style};
use crate::view::Screen;
use ltt_analysis::durations::{Hist, HistGroup, Outline};
use ltt_analysis::text::amount::{counted, grouped};

/// The length of the longest bar on a screen without a width.
const BAR: usize = 60;
/// The columns of a line before its bar.
const GUTTER: usize = 33;

/// Adds a histogram for each group.
pub fn add(hist: &Hist, screen: &Screen, page: &mut Page) {
    let timed = || hist.groups.iter().filter(|group| !group.octaves.is_empty());
    for group in timed() {
        page.blank();
        page.line(title(&group.outline, screen));
        bars(group, screen, page);
    }
    let is_untimed = timed().next().is_none() && hist.notes.empty.is_none();
    page.texts(Style::Note, footnotes(is_untimed, hist.hidden_groups));
}

/// The name of a group and its main figures.
pub(super) fn title(group: &Outline, screen: &Screen) -> String {
    let name = Names::default().group(&group.name);
    let events = counted(group.count, "event");
    let figure = |ns| figure(ns, group.name.unit_is_guess);
    let (p50, p99, max) = (figure(group.p50), figure(group.p99), figure(group.max));
    format!("{}  {events}, p50 {p50}, p99 {p99}, max {max}", screen.bold(&name))
}

/// The footnotes of both kinds of histogram.
pub(super) fn footnotes(is_untimed: bool, hidden_groups: u64) -> impl Iterator<Item = String> {
    let untimed = is_untimed.then(|| "no events with a duration".to_owned());
    let hidden =
        (hidden_groups > 0).then(|| format!("{} not shown (-n shows more)", counted(hidden_groups, "group")));
    untimed.into_iter().chain(hidden)
}

fn bars(group: &HistGroup, screen: &Screen, page: &mut Page) {
    let most = group.octaves.iter().map(|octave| octave.count).max().unwrap_or(1).max(1);
    let room = screen.width.map_or(BAR, |width| width.saturating_sub(GUTTER).clamp(1, BAR * 2));
    for octave in &group.octaves {
        let bar = bar(octave.count, most, room);
        let (count, part) = (grouped(octave.count.into()), octave.cumulative_share * 100.0);
        let from = figure(Some(octave.from), group.outline.name.unit_is_guess);
        page.line(format!("{from:>8} {count:>12} {part:>8.3}%  {}", screen.paint("36", &bar)));
    }
}

/// A bar in eighths of a character; non-zero counts are always visible.
fn bar(count: u64, most: u64, room: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (count as f64 / most as f64 * (room * 8) as f64).round() as usize;
    let eighths = if count > 0 { eighths.max(1) } else { 0 };
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rare_duration_is_never_invisible() {
        assert_eq!(bar(1, 1_000_000, 10), "▏");
        assert_eq!(bar(0, 1_000_000, 10), "");
        assert_eq!(bar(7, 7, 3), "███");
    }
}
