//! `hist` as bars: one for each power of two.

use std::io::{self, Write};

use super::{Names, label};
use crate::analysis::group::Group;
use crate::analysis::histogram::{Histogram, Quantile};
use crate::analysis::top::Top;
use crate::view::amount::{counted, duration, grouped};
use crate::view::{Screen, notes};

/// How long the longest bar is where the screen has no width.
const BAR: usize = 60;
/// What a line has besides its bar.
const BESIDES: usize = 33;

/// Writes a histogram for each group, at most `limit` of them.
pub fn hist(top: &Top, limit: usize, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    notes::heading(&top.report, screen, out)?;
    let timed: Vec<&Group> = top.groups.iter().filter(|group| group.figures.durations.count() > 0).collect();
    for group in timed.iter().take(limit) {
        writeln!(out)?;
        title(group, screen, out)?;
        bars(group, screen, out)?;
    }
    notes::footing(&footnotes(top, timed.len(), limit), screen, out)
}

/// Writes the name of a group and its main figures.
pub(super) fn title(group: &Group, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    let name = label(&Names::default(), &group.kind, &group.key());
    let figure = |ns: Option<u128>| duration(ns.unwrap_or(0) as f64);
    let events = counted(group.figures.count(), "event");
    let (p50, p99) = (group.percentile_ns(Quantile::P50), group.percentile_ns(Quantile::P99));
    let max = figure(group.max_ns());
    writeln!(out, "{}  {events}, p50 {}, p99 {}, max {max}", screen.bold(&name), figure(p50), figure(p99))
}

/// What both kinds of histogram have at their end.
pub(super) fn footnotes(top: &Top, timed: usize, limit: usize) -> Vec<String> {
    let mut footnotes = Vec::new();
    if timed == 0 {
        footnotes.push("no events with a duration".into());
    } else if timed > limit {
        footnotes.push(format!("{} not shown (-n shows more)", counted((timed - limit) as u64, "group")));
    }
    let implausible = top.groups.iter().map(|group| group.figures.implausible).sum();
    footnotes.extend(notes::implausible(implausible, "see `ltt-top top`"));
    footnotes.extend(notes::left_out(&top.left_out));
    footnotes.extend(notes::guesses(top.groups.iter().map(|group| &*group.kind)));
    footnotes
}

fn bars(group: &Group, screen: &Screen, out: &mut dyn Write) -> io::Result<()> {
    let octaves = octaves(&group.figures.durations);
    let first = octaves.iter().position(|&count| count > 0).unwrap_or(0);
    let last = octaves.iter().rposition(|&count| count > 0).unwrap_or(0);
    let most = octaves.iter().copied().max().unwrap_or(1).max(1);
    let all = group.figures.durations.count() as f64;
    let room = screen.width.map_or(BAR, |width| width.saturating_sub(BESIDES).clamp(1, BAR * 2));
    let mut below = 0;
    for (octave, &count) in octaves.iter().enumerate().take(last + 1).skip(first) {
        below += count;
        let bar = bar(count, most, room);
        let (count, part) = (grouped(count.into()), below as f64 / all * 100.0);
        writeln!(out, "{:>8} {count:>12} {part:>8.3}%  {}", from(group, octave), screen.paint("36", &bar))?;
    }
    Ok(())
}

/// Where an octave begins.
pub(super) fn from(group: &Group, octave: usize) -> String {
    let ticks = if octave == 0 { 0 } else { 1 << (octave - 1) };
    duration(group.kind.ns(ticks) as f64)
}

/// How many durations are 0, 1, 2 to 3, 4 to 7, …
fn octaves(durations: &Histogram) -> [u64; 64] {
    let mut octaves = [0; 64];
    for bucket in durations.buckets() {
        octaves[(u64::BITS - bucket.low.leading_zeros()) as usize] += bucket.count;
    }
    octaves
}

/// A bar in eighths of a character; what is not 0 is never invisible.
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

    #[test]
    fn every_power_of_two_is_a_row() {
        let mut durations = Histogram::default();
        [0, 1, 2, 3, 4, 1 << 40].into_iter().for_each(|ticks| durations.record(ticks));
        let octaves = octaves(&durations);
        assert_eq!((octaves[0], octaves[1], octaves[2], octaves[3], octaves[41]), (1, 1, 2, 1, 1));
    }
}
