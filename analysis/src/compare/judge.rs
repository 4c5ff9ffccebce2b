//! What became of each group, from its durations in both recordings.

use super::blocks::Sides;
use super::finding::Verdict;
use super::relative::{Relative, SHARE_OF_RATE, relative};
use super::statistics::{Interval, MEDIAN, difference, intervals, told_apart};
use crate::parallel::in_parallel;

/// The places of the tail among intervals.
const TAIL: [usize; 2] = [4, 5];

/// A change that is not to be missed.
pub const TENTH: f64 = 1.1;

/// How many times rarer than the error rate a tail is called slower by chance, by intervals that are right: with few durations beyond a
/// percentile they are too narrow at times.
const MARGIN: f64 = 10.0;

/// A group of both recordings.
#[derive(Clone, Copy, Debug)]
pub struct Judged {
    pub verdict: Verdict,
    /// How likely a difference like this is by chance, of this group alone; none if there are too few durations to tell.
    pub probability: Option<f64>,
    pub relative: Option<Relative>,
    pub intervals: [Option<Interval>; 6],
}

/// Judges groups, so that the probability of any wrong verdict, or of a wrong statement about any of a number of `limits` on each
/// group, is at most `rate`.
pub fn judged(groups: &[Sides<'_>], rate: f64, limits: usize) -> Vec<Judged> {
    let tests = in_parallel(groups, |sides| difference(*sides));
    let relatives = relative(groups);
    let ln_alone: Vec<_> = tests.iter().map(|test| test.map(|(ln, _)| ln)).collect();
    let ln_relative: Vec<_> = relatives.iter().map(|one| one.map(|one| one.ln_probability)).collect();
    let is_told = told_apart(&ln_alone, rate * (1.0 - SHARE_OF_RATE));
    let is_told_of_others = told_apart(&ln_relative, rate * SHARE_OF_RATE);
    let statements = groups.len() * (TAIL.len() + limits);
    let beyond = rate / MARGIN / statements.max(1) as f64;
    let numbers: Vec<usize> = (0..groups.len()).collect();
    in_parallel(&numbers, |&number| {
        let intervals = intervals(groups[number], number as u64, beyond);
        let alone = tests[number].filter(|_| is_told[number]).map(|(_, is_slower)| is_slower);
        let than_others = relatives[number].filter(|_| is_told_of_others[number]);
        Judged {
            verdict: verdict(alone, than_others.map(|relative| relative.ratio > 1.0), &intervals),
            probability: tests[number].map(|(ln, _)| ln.exp()),
            relative: relatives[number],
            intervals,
        }
    })
}

/// What became of a group: most of its durations were told to be slower or faster, or not, or only compared with other groups, and the
/// intervals of its tail are these.
fn verdict(is_slower: Option<bool>, than_others: Option<bool>, intervals: &[Option<Interval>; 6]) -> Verdict {
    let tail = || TAIL.iter().filter_map(|place| intervals[*place]);
    let is_up = tail().any(|interval| interval.surely.0 > 1.0);
    let is_down = tail().any(|interval| interval.surely.1 < 1.0);
    match (is_slower, is_up, is_down) {
        (Some(true), _, true) | (Some(false), true, _) | (None, true, true) => Verdict::Mixed,
        (Some(true), ..) => Verdict::Slower,
        (Some(false), ..) => Verdict::Faster,
        _ if than_others == Some(true) => Verdict::SlowerThanOthers,
        _ if than_others == Some(false) => Verdict::FasterThanOthers,
        (None, true, false) => Verdict::TailSlower,
        (None, false, true) => Verdict::TailFaster,
        (None, false, false) => match intervals[MEDIAN] {
            Some(Interval { alone: (low, high), .. }) if low > 1.0 / TENTH && high < TENTH => {
                Verdict::NoDifference
            }
            _ => Verdict::CannotTell,
        },
    }
}
