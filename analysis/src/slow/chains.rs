//! Why single events took long: the intervals that contain them, and those within them.
//!
//! The events are known; only the times around them are read again, in time order.

use std::ops::ControlFlow;
use std::sync::Arc;

use ctf_reader::{EventClass, Progress, Reader, Window};
use hashbrown::{HashMap, HashSet};

use crate::finding::{LinkFinding, Span};
use crate::intervals::{Feed, Interval, Link, Listener, Nesting, Scene, SpanNumbers, Spans, Tree, chain};
use crate::parallel::in_parallel;
use crate::reading::{Selection, grown};
use crate::slow::longest::SlowEvent;

/// How far after an event to look for what contains it: as long as it took, within these bounds; nanoseconds.
const AFTER: std::ops::RangeInclusive<i64> = 100_000_000..=1_000_000_000;

/// With more windows than this, everything from the first to the last is read at once: each reading looks at all packets.
const MOST_WINDOWS: usize = 256;

/// For each event the chain from the outermost interval that contains it to the innermost within it that took most of the
/// time; empty for those that are not intervals. They are the longest that a selection has in a window, the longest first.
pub(crate) fn chains(
    reader: &Reader,
    selection: &Selection,
    window: Window,
    records: &[SlowEvent],
) -> Vec<Vec<LinkFinding>> {
    let is_whole = selection.is_plain() && (window.since, window.until) == (None, None);
    let has_length = |class: &Arc<EventClass>| {
        let meaning = selection.dictionary.look_up(class);
        (meaning.duration.is_some() || meaning.pair.is_none()) && class.field("tracing_span").is_none()
    };
    // No interval is longer than the longest event, if there are no others than events.
    let longest = records.first().filter(|_| is_whole && reader.classes().all(has_length));
    let longest = longest.and_then(|longest| i64::try_from(longest.duration_ns).ok()).unwrap_or(i64::MAX);
    // Filters apply to the events, not to what contains them.
    let selection = Arc::new(selection.unfiltered());
    let wanted: Vec<WantedChain> = records.iter().map(WantedChain::new).collect();
    let mut places: HashMap<(i64, i64), Vec<usize>> = HashMap::new();
    for (place, wanted) in wanted.iter().enumerate().filter(|(_, wanted)| wanted.is_interval) {
        places.entry((wanted.begin, wanted.end)).or_default().push(place);
    }
    let shortest = places.keys().map(|(begin, end)| end.saturating_sub(*begin)).min().unwrap_or(0);
    let found = in_parallel(&windows(&wanted, longest), |&window| {
        let mut feed = Feed::new(&selection, reader.gaps(window));
        let spans = SpanFinder::default();
        let is_missing = |place: &usize| wanted[*place].is_interval && wanted[*place].span().is_in(window);
        let missing = (0..wanted.len()).filter(is_missing).collect();
        let mut finder =
            Finder { threads: Vec::new(), spans, wanted: &wanted, places: &places, shortest, missing };
        feed.follow(reader, window, &Progress::default(), |feed, event| {
            feed.event(event, &mut finder);
            if finder.missing.is_empty() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let chain = |found: FoundEvent| -> (usize, Vec<LinkFinding>) {
            let links = found.within.iter().rev().chain(&found.chain);
            (found.wanted, links.map(|link| LinkFinding::new(link, feed.lexicon())).collect())
        };
        let of_threads = finder.threads.into_iter().flat_map(|thread| thread.found.0);
        of_threads.chain(finder.spans.found).map(chain).collect::<Vec<_>>()
    });
    let mut chains = vec![Vec::new(); wanted.len()];
    found.into_iter().flatten().for_each(|(place, chain)| chains[place] = chain);
    chains
}

/// An event whose chain is wanted.
struct WantedChain {
    begin: i64,
    end: i64,
    event: String,
    is_interval: bool,
}

impl WantedChain {
    fn new(record: &SlowEvent) -> Self {
        let length = i64::try_from(record.duration_ns).unwrap_or(i64::MAX);
        WantedChain {
            begin: record.timestamp.saturating_sub(length),
            end: record.timestamp,
            event: record.kind.event.clone(),
            is_interval: !record.kind.is_sum,
        }
    }

    fn span(&self) -> Span {
        Span { begin_ns: self.begin, end_ns: self.end }
    }
}

/// The times to read: around each event, merged where they overlap. No interval is longer than the longest, so what ends later
/// contains none of them.
fn windows(wanted: &[WantedChain], longest: i64) -> Vec<Window> {
    let around = |wanted: &WantedChain| {
        let after = wanted.end.saturating_sub(wanted.begin).clamp(*AFTER.start(), *AFTER.end());
        [wanted.begin, wanted.end.saturating_add(after), wanted.begin.saturating_add(longest)]
    };
    let intervals = wanted.iter().filter(|wanted| wanted.is_interval);
    let mut spans: Vec<[i64; 3]> = intervals.map(around).collect();
    spans.sort_unstable();
    spans.dedup_by(|later, earlier| {
        let joins = later[0] <= earlier[1];
        if joins {
            (1..3).for_each(|end| earlier[end] = earlier[end].max(later[end]));
        }
        joins
    });
    if spans.len() > MOST_WINDOWS {
        let end = |end: usize| spans.iter().map(|span| span[end]).max().unwrap_or(i64::MAX);
        spans = vec![[spans[0][0], end(1), end(2)]];
    }
    let window = |[since, until, last]: [i64; 3]| Window { since: Some(since), until: Some(until.min(last)) };
    spans.into_iter().map(window).collect()
}

/// Looks for the wanted events among the intervals of all threads.
struct Finder<'w> {
    threads: Vec<ThreadFinder>,
    spans: SpanFinder,
    wanted: &'w [WantedChain],
    /// The wanted intervals by their beginnings and ends.
    places: &'w HashMap<(i64, i64), Vec<usize>>,
    /// The length of the shortest of them.
    shortest: i64,
    /// Those in the window about which more may be found.
    missing: HashSet<usize>,
}

#[derive(Default)]
struct ThreadFinder {
    nesting: Nesting,
    found: FoundEvents,
}

/// The wanted events that are spans with numbers.
#[derive(Default)]
struct SpanFinder {
    spans: Spans,
    found: Vec<FoundEvent>,
    /// Those that were found within each open span of a process.
    within: HashMap<(usize, u64), Vec<usize>>,
}

impl SpanFinder {
    /// A span of a process has ended: it contains those that were found within it, and may be wanted.
    fn ended(
        &mut self,
        process: usize,
        numbers: SpanNumbers,
        interval: Interval,
        find: impl FnOnce(Tree<'_>) -> Option<FoundEvent>,
    ) {
        let SpanFinder { spans, found, within } = self;
        spans.end(process, numbers, interval, |tree| {
            let mut inner = match numbers.own {
                0 => Vec::new(),
                own => within.remove(&(process, own)).unwrap_or_default(),
            };
            let link = (!inner.is_empty()).then(|| chain(tree, 2).0[0]);
            inner.iter().for_each(|&place| found[place].within.extend(link));
            if let Some(event) = find(tree) {
                inner.push(found.len());
                found.push(event);
            }
            if numbers.parent != 0 && !inner.is_empty() {
                within.entry((process, numbers.parent)).or_default().append(&mut inner);
            }
        });
    }
}

/// The wanted events of a thread that were found, in the order of their ends.
#[derive(Default)]
struct FoundEvents(Vec<FoundEvent>);

impl FoundEvents {
    /// Those that may lie within an interval that began then and ends now. The others are not looked at: there may be as
    /// many as the trace has events.
    fn since(&mut self, begin: i64) -> impl Iterator<Item = &mut FoundEvent> {
        self.0.iter_mut().rev().take_while(move |found| found.interval.end >= begin)
    }
}

/// A wanted event that was found.
struct FoundEvent {
    wanted: usize,
    interval: Interval,
    /// From it down to the innermost.
    chain: Vec<Link>,
    /// What contains it, from the inside out.
    within: Vec<Link>,
}

impl Listener for Finder<'_> {
    fn ended(&mut self, thread: usize, interval: &Interval, scene: &Scene) {
        let interval = *interval;
        let entry = scene.kinds.of(interval.name);
        let find = |tree: Tree<'_>| {
            let is_long = interval.length() >= self.shortest;
            let places = is_long.then(|| self.places.get(&(interval.begin, interval.end))).flatten();
            let is_it = |place: &&usize| self.wanted[**place].event == entry.kind.event;
            let wanted = *places.into_iter().flatten().find(is_it)?;
            let (chain, _) = chain(tree, if entry.is_outermost { 10 } else { 2 });
            Some(FoundEvent { wanted, interval, chain, within: Vec::new() })
        };
        if let Some(numbers) = scene.span {
            return self.spans.ended(scene.threads.thread(thread).process, numbers, interval, find);
        }
        let ThreadFinder { nesting, found } = grown(&mut self.threads, thread);
        nesting.end(interval, |outer, inner| scene.may_contain(thread, outer, inner));
        if let Some(tree) = nesting.last() {
            // An interval that began earlier and ends later contains those found before.
            let contains = |found: &&mut FoundEvent| {
                interval.begin <= found.interval.begin
                    && scene.may_contain(thread, &interval, &found.interval)
            };
            let mut link = None;
            for inner in found.since(interval.begin).filter(contains) {
                inner.within.push(*link.get_or_insert_with(|| chain(tree, 2).0[0]));
                if entry.is_outermost {
                    self.missing.remove(&inner.wanted);
                }
            }
            if let Some(event) = find(tree) {
                if entry.is_outermost {
                    self.missing.remove(&event.wanted);
                }
                found.0.push(event);
            }
        }
        if entry.is_outermost {
            nesting.clear();
        }
    }

    fn lost(&mut self, threads: &mut dyn Iterator<Item = usize>, _: i64, _: i64) {
        for thread in threads {
            if let Some(thread) = self.threads.get_mut(thread) {
                thread.nesting.clear();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intervals::IntervalName;
    use crate::reading::passes::Passes;

    /// The number of found events that are looked at for one command after another, each wanted, in turns of ten.
    fn steps(commands: i64) -> usize {
        let mut found = FoundEvents::default();
        let mut steps = 0;
        for number in 0..commands {
            let (begin, end) = (number * 10, number * 10 + 9);
            steps += found.since(begin).count();
            let interval = Interval {
                begin,
                end,
                name: IntervalName { kind: 0, key: 0 },
                client: None,
                passes: Passes::ALL,
            };
            found.0.push(FoundEvent { wanted: 0, interval, chain: Vec::new(), within: Vec::new() });
            if number % 10 == 9 {
                steps += found.since(begin - 90).count();
            }
        }
        steps
    }

    #[test]
    fn nothing_is_read_after_the_longest_interval_that_may_contain_an_event() {
        let wanted = [(0, 1_000_000), (50_000_000, 50_400_000), (500_000_000, 500_400_000)]
            .map(|(begin, end)| WantedChain { begin, end, event: String::new(), is_interval: true });
        let read = |longest| {
            let windows = windows(&wanted, longest);
            windows.iter().map(|window| (window.since, window.until)).collect::<Vec<_>>()
        };
        let around = |begin, end| (Some(begin), Some(end));
        assert_eq!(read(i64::MAX), [around(0, 150_400_000), around(500_000_000, 600_400_000)]);
        assert_eq!(read(1_000_000), [around(0, 51_000_000), around(500_000_000, 501_000_000)]);
    }

    #[test]
    fn ten_times_the_events_take_ten_times_the_steps() {
        assert_eq!((steps(1_000), steps(100_000)), (1_000, 100_000), "not a hundred times a hundred");
    }
}
