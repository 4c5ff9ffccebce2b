//! The samples of the groups of a kind of events: when one is enough for all of them.
//!
//! Of a group with few events a larger share is compared than of one with many. Whose an event is, only its key says, and to read
//! all keys takes long; with one sample for all groups, nearly all events would be looked at for those of the rarest group. So
//! keys are read only while rare groups have events:
//!
//! ```text
//!  get   ################################   of 1,000,000 a hundredth is compared
//!  set   ###############  ###############   of 800,000 an eightieth: for both without reading keys
//!  keys              ##              #      of 200 all, and keys are read meanwhile
//! ```

use std::ops::RangeInclusive;

use crate::finding::Span;
use crate::groups::RecentKeys;
use crate::intervals::total;
use ctf_reader::Sample;

/// To look at a needless event takes this number of times as long as to read its key.
const NEEDLESS: f64 = 4.0;

/// What is compared of a group.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroupSample<'g> {
    pub sample: Sample,
    pub events: f64,
    /// When it has events, if it is rare.
    pub times: Option<&'g [Span]>,
}

/// The samples of the groups of a kind.
#[derive(Clone, Debug)]
pub(super) struct KindSamples {
    largest: Sample,
    /// The largest of groups that are not rare.
    usual: Sample,
    /// When there are events of rare groups, in order; no two spans overlap.
    rare: Vec<Span>,
}

impl KindSamples {
    /// The same sample of all groups.
    pub fn of_all(sample: Sample) -> KindSamples {
        KindSamples { largest: sample, usual: sample, rare: Vec::new() }
    }

    /// Those of groups in a time of this length. Which of them are rare is what makes for the least work.
    pub fn new(mut groups: Vec<GroupSample<'_>>, length_ns: u64) -> KindSamples {
        groups.sort_by_key(|group| std::cmp::Reverse(group.sample));
        let largest = groups.first().map_or(Sample::NONE, |group| group.sample);
        let (mut events, mut compared) = (0.0, 0.0);
        for group in &groups {
            events += group.events;
            compared += group.sample.share_of(group.events);
        }
        let all = events;
        let (mut best, mut least) = (KindSamples::of_all(largest), f64::INFINITY);
        // Where keys are read, they should be remembered.
        let has_many = groups.len() > RecentKeys::MOST;
        let mut rare: Vec<Span> = Vec::new();
        for group in &groups {
            let covered = total(rare.iter().map(|span| span.length_ns()));
            let read = all * (covered as f64 / length_ns.max(1) as f64).min(1.0);
            let work = read + NEEDLESS * (group.sample.share_of(events) - compared);
            if work < least {
                (best, least) = (KindSamples { largest, usual: group.sample, rare: rare.clone() }, work);
            }
            let Some(times) = group.times.filter(|_| !has_many) else { break };
            rare.extend(times);
            rare = Span::merged(rare);
            events -= group.events;
            compared -= group.sample.share_of(group.events);
        }
        best
    }

    /// Whether any events are compared.
    pub fn has_any(&self) -> bool {
        self.largest != Sample::NONE
    }

    /// The sample of events in a time, and whether it differs by key then.
    pub fn at(&self, time: &RangeInclusive<i64>) -> (Sample, bool) {
        let next = self.rare.partition_point(|span| span.end_ns <= *time.start());
        match self.rare.get(next).is_some_and(|span| span.begin_ns <= *time.end()) {
            true => (self.largest, true),
            false => (self.usual, false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_while_rare_groups_have_events() {
        let sample = |events: f64| Sample::of(10_000, events as u64);
        let times = [Span { begin_ns: 100, end_ns: 110 }, Span { begin_ns: 500, end_ns: 505 }];
        let group = |events: f64, times| GroupSample { sample: sample(events), events, times };
        let groups = vec![group(1e6, None), group(1e3, Some(&times[..])), group(9e5, None)];
        let samples = KindSamples::new(groups, 1000);
        for (time, is_by_key) in [(0..=99, false), (99..=100, true), (109..=109, true), (110..=499, false)] {
            let wanted = if is_by_key { sample(1e3) } else { sample(9e5) };
            assert_eq!(samples.at(&time), (wanted, is_by_key), "{time:?}");
        }
        assert_eq!(samples.at(&(0..=1000)), (sample(1e3), true));
    }

    #[test]
    fn no_event_that_is_to_be_compared_is_left_out() {
        let seed = fastrand::u64(..);
        let mut random = fastrand::Rng::with_seed(seed);
        for round in 0..1000 {
            let length = random.i64(1..10_000);
            let mut groups: Vec<(u64, Option<Vec<Span>>)> = Vec::new();
            for _ in 0..random.usize(0..20) {
                let span = |begin_ns: i64, most: i64| Span { begin_ns, end_ns: begin_ns + 1 + most };
                let times = (0..random.usize(0..6)).map(|_| span(random.i64(0..length), random.i64(0..50)));
                let times = Span::merged(times.collect());
                groups.push((1 << random.u32(..24), random.bool().then_some(times)));
            }
            let sample = |events: u64| Sample::of(10_000, events);
            let list = groups.iter().map(|(events, times)| GroupSample {
                sample: sample(*events),
                events: *events as f64,
                times: times.as_deref(),
            });
            let samples = KindSamples::new(list.collect(), length as u64);
            for (events, times) in &groups {
                let everywhere = [Span { begin_ns: 0, end_ns: length }];
                for span in times.as_deref().unwrap_or(&everywhere) {
                    let (begin, end) = (random.i64(..=span.begin_ns), span.end_ns + random.i64(0..9));
                    for time in [begin..=span.begin_ns, span.end_ns - 1..=end] {
                        let (of_time, is_by_key) = samples.at(&time);
                        assert!(is_by_key || of_time >= sample(*events), "seed {seed}, round {round}");
                    }
                }
            }
        }
    }

    #[test]
    fn times_of_all_that_a_clock_can_say_are_no_overflow() {
        let part = |number: i64| Span { begin_ns: number << 60, end_ns: number << 60 | ((1 << 60) - 1) };
        let times: Vec<Span> = (-8..8).map(part).collect();
        let group = |events: u64, times| GroupSample {
            sample: Sample::of(10_000, events),
            events: events as f64,
            times,
        };
        let samples = KindSamples::new(vec![group(100, Some(&times[..])), group(1 << 40, None)], u64::MAX);
        assert!(samples.at(&(i64::MIN..=i64::MAX)).0 >= Sample::of(10_000, 1 << 40));
    }

    #[test]
    fn keys_are_not_read_where_that_takes_longer_than_looking_at_some_events_in_vain() {
        let always = [Span { begin_ns: 0, end_ns: 1000 }];
        let group = |events: u64| GroupSample {
            sample: Sample::of(10_000, events),
            events: events as f64,
            times: Some(&always),
        };
        let samples = KindSamples::new(vec![group(150_000), group(100_000), group(120_000)], 1000);
        assert_eq!(samples.at(&(5..=9)), (Sample::of(10_000, 100_000), false));
        assert!(samples.has_any() && !KindSamples::new(Vec::new(), 1000).has_any());
    }
}
