//! Stalls are found however many there are, wherever they are, and whosever they are.

use super::samples::Random;
use crate::outliers::verdict::{Durations, Judged, Rule, judge};
use crate::unit::TimeUnit;

const STALL_US: u64 = 100_000;

/// When stalls happen in a trace of a minute.
#[derive(Clone, Copy, Debug)]
enum When {
    Evenly,
    WithinOneSecond,
    AtTheEnd,
}

/// Healthy calls of 0 to 2 µs and stalls of 100 ms, of the same command or of another.
fn stalled(
    calls: u64,
    stalls: u64,
    when: When,
    is_other: bool,
    random: &mut Random,
) -> (Vec<Durations>, Vec<i64>) {
    let group = |name| Durations::new("app:request", name, TimeUnit::Microseconds);
    let mut groups = vec![group("get"), group("keys")];
    for _ in 0..calls {
        groups[0].record((random.uniform() * 59e9) as i64, random.below(3));
    }
    let times: Vec<i64> = (0..stalls)
        .map(|stall| match when {
            When::Evenly => ((stall as f64 + 0.5) / stalls as f64 * 59e9) as i64,
            When::WithinOneSecond => (20e9 + random.uniform() * 1e9) as i64,
            When::AtTheEnd => (59e9 + random.uniform() * 1e9) as i64,
        })
        .collect();
    times.iter().for_each(|&time| groups[usize::from(is_other)].record(time, STALL_US));
    (groups, times)
}

/// Whether each of the stalls is in exactly one finding, and nothing else is.
fn assert_all_found(judged: &Judged, group: &Durations, times: &[i64], case: &str) {
    let limit = group.limit(judged).expect(case);
    let in_periods = |time: i64| {
        let spans = judged.periods.iter().flat_map(|period| &period.spans);
        spans.filter(|span| (span.begin_ns..span.end_ns).contains(&time)).count()
    };
    let in_modes = limit.modes.iter().filter(|mode| mode.contains(&STALL_US)).count();
    let is_single = usize::from(limit.is_single(STALL_US));
    for &time in times {
        // What is above the limit is in no period, whenever it was.
        let found = if STALL_US > limit.above { in_modes + is_single } else { in_periods(time) };
        assert_eq!(found, 1, "{case}: {judged:#?}");
    }
    let counted = judged.singles
        + judged.modes.iter().map(|mode| mode.count).sum::<u64>()
        + judged.periods.iter().map(|period| period.count).sum::<u64>();
    let stalls = times.len() as u64;
    assert!((stalls..=stalls + stalls / 10).contains(&counted), "{case}: {counted} of {stalls} {judged:#?}");
}

fn check(calls: u64, stalls: u64, random: &mut Random) {
    for when in [When::Evenly, When::WithinOneSecond, When::AtTheEnd] {
        for is_other in [false, true] {
            let (groups, times) = stalled(calls, stalls, when, is_other, random);
            let judged = judge(&groups, &Rule::default());
            let case = format!("{stalls} stalls among {calls} calls, {when:?}, another command: {is_other}");
            assert_all_found(&judged, &groups[usize::from(is_other)], &times, &case);
        }
    }
}

#[test]
fn no_number_of_stalls_hides_them() {
    let mut random = Random::new(11);
    for _ in 0..60 {
        let calls = (100.0 * 200_f64.powf(random.uniform())) as u64;
        let stalls = ((calls as f64 / 10.0).powf(random.uniform()) as u64).max(1);
        check(calls, stalls, &mut random);
    }
}

#[test]
fn nothing_changes_at_the_numbers_at_which_rules_change() {
    let mut random = Random::new(12);
    for calls in [100, 200, 299, 300, 999, 1_000, 2_999, 3_000] {
        for stalls in [1, 2, 5, 9, 10, 11, 19, 20, 21, 29, 30, 31, 39, 40, 99, 100, 101, 299, 300] {
            if stalls * 10 <= calls {
                check(calls, stalls, &mut random);
            }
        }
    }
}

#[test]
fn a_million_calls_hide_neither_one_stall_nor_a_hundred_thousand() {
    let mut random = Random::new(13);
    for (stalls, is_other) in [(1, false), (100_000, true)] {
        let (groups, times) = stalled(1_000_000, stalls, When::Evenly, is_other, &mut random);
        let judged = judge(&groups, &Rule::default());
        assert_all_found(&judged, &groups[usize::from(is_other)], &times, &format!("{stalls} stalls"));
    }
}
