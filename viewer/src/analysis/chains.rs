//! Why single events took long: the intervals that contain them, and those within them.
//!
//! The events are known; only the times around them are read again, in time order.

use std::collections::HashMap;
use std::sync::Arc;

use ctf_reader::{Progress, Reader, Window};

use super::finding::LinkFinding;
use super::intervals::{Feed, Interval, Link, Listener, Nesting, chain};
use super::longest::Record;
use super::selection::Selection;

/// How far after an event to look for what contains it: as long as it took, within these bounds; nanoseconds.
const AFTER: std::ops::RangeInclusive<i64> = 100_000_000..=1_000_000_000;

/// For each event the chain from the outermost interval that contains it to the innermost within it that took most of the
/// time; empty for those that are not intervals.
pub(super) fn chains(reader: &Reader, selection: &Selection, records: &[Record]) -> Vec<Vec<LinkFinding>> {
    // Filters apply to the events, not to what contains them.
    let selection = Arc::new(selection.unfiltered());
    let mut wanted: Vec<WantedChain> = records.iter().map(WantedChain::new).collect();
    for window in windows(&wanted) {
        follow(reader, &selection, window, &mut wanted);
    }
    wanted.into_iter().map(|wanted| wanted.chain).collect()
}

/// An event whose chain is wanted.
struct WantedChain {
    begin: i64,
    end: i64,
    event: String,
    is_interval: bool,
    chain: Vec<LinkFinding>,
}

impl WantedChain {
    fn new(record: &Record) -> Self {
        let length = i64::try_from(record.duration_ns).unwrap_or(i64::MAX);
        WantedChain {
            begin: record.timestamp.saturating_sub(length),
            end: record.timestamp,
            event: record.kind.event.clone(),
            is_interval: !record.kind.is_sum,
            chain: Vec::new(),
        }
    }
}

/// The times to read: around each event, merged where they overlap.
fn windows(wanted: &[WantedChain]) -> Vec<Window> {
    let after =
        |wanted: &WantedChain| wanted.end.saturating_sub(wanted.begin).clamp(*AFTER.start(), *AFTER.end());
    let intervals = wanted.iter().filter(|wanted| wanted.is_interval);
    let mut spans: Vec<(i64, i64)> =
        intervals.map(|wanted| (wanted.begin, wanted.end.saturating_add(after(wanted)))).collect();
    spans.sort_unstable();
    spans.dedup_by(|later, earlier| {
        let joins = later.0 <= earlier.1;
        if joins {
            earlier.1 = earlier.1.max(later.1);
        }
        joins
    });
    spans.into_iter().map(|(since, until)| Window { since: Some(since), until: Some(until) }).collect()
}

/// Reads a window, and fills in the chains of the events in it.
fn follow(reader: &Reader, selection: &Arc<Selection>, window: Window, wanted: &mut [WantedChain]) {
    let mut feed = Feed::new(selection, reader.gaps(window));
    let mut by_end: HashMap<i64, Vec<usize>> = HashMap::new();
    for (place, wanted) in wanted.iter().enumerate().filter(|(_, wanted)| wanted.is_interval) {
        by_end.entry(wanted.end).or_default().push(place);
    }
    let mut finder = Finder { threads: Vec::new(), found: Vec::new(), wanted, by_end };
    feed.follow(reader, window, &Progress::default(), &mut finder);
    for FoundEvent { wanted: place, within, chain, .. } in finder.found {
        let links = within.iter().rev().chain(&chain);
        finder.wanted[place].chain = links.map(|link| LinkFinding::new(link, &feed.lexicon)).collect();
    }
}

/// Looks for the wanted events among the intervals of all threads.
struct Finder<'w> {
    threads: Vec<Nesting>,
    found: Vec<FoundEvent>,
    wanted: &'w mut [WantedChain],
    /// The wanted intervals by their ends.
    by_end: HashMap<i64, Vec<usize>>,
}

/// A wanted event that was found.
struct FoundEvent {
    wanted: usize,
    thread: usize,
    interval: Interval,
    /// From it down to the innermost.
    chain: Vec<Link>,
    /// What contains it, from the inside out.
    within: Vec<Link>,
}

impl Listener for Finder<'_> {
    fn event(&mut self, _: usize, _: i64) {}

    fn ended(&mut self, thread: usize, interval: Interval, feed: &Feed) {
        if self.threads.len() <= thread {
            self.threads.resize_with(thread + 1, Nesting::default);
        }
        let nesting = &mut self.threads[thread];
        nesting.end(interval, |outer, inner| feed.may_contain(thread, outer, inner));
        let entry = feed.lexicon.entry(interval.name);
        if let Some(tree) = nesting.last() {
            // An interval that began earlier and ends later contains those found before.
            let contains = |found: &&mut FoundEvent| {
                found.thread == thread
                    && interval.begin <= found.interval.begin
                    && feed.may_contain(thread, interval.name, found.interval.name)
            };
            for found in self.found.iter_mut().filter(contains) {
                found.within.push(chain(tree, 2).0[0]);
            }
            let ending_now = self.by_end.get(&interval.end).map_or(&[][..], |places| places);
            let is_it = |place: &&usize| {
                let wanted = &self.wanted[**place];
                wanted.begin == interval.begin && wanted.event == entry.event
            };
            if let Some(&wanted) = ending_now.iter().find(is_it) {
                let (chain, _) = chain(tree, if entry.is_outermost { 10 } else { 2 });
                self.found.push(FoundEvent { wanted, thread, interval, chain, within: Vec::new() });
            }
        }
        if entry.is_outermost {
            self.threads[thread].clear();
        }
    }

    fn summed(&mut self, _: usize, _: Interval) {}

    fn lost(&mut self, threads: &mut dyn Iterator<Item = usize>, _: i64, _: i64) {
        for thread in threads {
            if let Some(nesting) = self.threads.get_mut(thread) {
                nesting.clear();
            }
        }
    }
}
