//! Against known truth: how often a difference is claimed, and how often it is found.

use super::*;

/// How durations are distributed, in microseconds.
#[derive(Clone, Copy, Debug)]
enum Law {
    Exponential,
    LogNormal,
    TwoModes,
    ZeroOrOne,
    /// Neighbours are alike: the level wanders, to about this many others in a recording.
    Wandering(usize),
}

const LAWS: [Law; 6] =
    [Law::Exponential, Law::LogNormal, Law::TwoModes, Law::ZeroOrOne, Law::Wandering(40), Law::Wandering(8)];

fn normal(random: &mut fastrand::Rng) -> f64 {
    (-2.0 * (1.0 - random.f64()).ln()).sqrt() * (std::f64::consts::TAU * random.f64()).cos()
}

/// A recording of `count` durations, each longer by a factor.
fn recording(law: Law, count: usize, factor: f64, random: &mut fastrand::Rng) -> Vec<Histogram> {
    let mut blocks = vec![Histogram::default(); BLOCKS];
    let levels = if let Law::Wandering(levels) = law { levels as f64 } else { 0.0 };
    let change = levels / count.max(80) as f64;
    let mut level = 0.2 * normal(random);
    for number in 0..count {
        level = level * (1.0 - change) + 0.2 * (2.0 * change - change * change).sqrt() * normal(random);
        let duration = match law {
            Law::Exponential => -50.0 * (1.0 - random.f64()).ln(),
            Law::LogNormal => 40.0 * normal(random).exp(),
            Law::TwoModes => {
                if random.f64() < 0.9 {
                    20.0 + 3.0 * normal(random)
                } else {
                    200.0 + 20.0 * normal(random)
                }
            }
            Law::ZeroOrOne => {
                if random.f64() < 0.3 {
                    1.2
                } else {
                    0.7
                }
            }
            Law::Wandering(_) => 50.0 * (level + 0.3 * normal(random)).exp(),
        };
        blocks[number * BLOCKS / count].record((duration * factor).max(0.0) as u64);
    }
    blocks
}

/// The share of pairs in which a difference is told at this rate.
fn told(
    law: Law,
    counts: [usize; 2],
    factor: f64,
    pairs: usize,
    rate: f64,
    random: &mut fastrand::Rng,
) -> f64 {
    let is_told = |_: &usize| {
        let before = recording(law, counts[0], 1.0, random);
        let after = recording(law, counts[1], factor, random);
        let probability = difference(&before, &after).map(|(ln, _)| ln);
        told_apart(&[probability], rate)[0]
    };
    (0..pairs).filter(is_told).count() as f64 / pairs as f64
}

/// Claims of differences where there are none are at most as frequent as stated, and real ones are found.
fn assert_honest(pairs: usize, counts: &[usize]) {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    println!("| durations | events | same | +5 % | +10 % | +50 % |\n|---|---|---|---|---|---|");
    for law in LAWS {
        for &count in counts {
            let rate = 0.05;
            // The load differs, too.
            let same = told(law, [count, count * 3 / 2], 1.0, pairs, rate, &mut random);
            let found =
                [1.05, 1.1, 1.5].map(|factor| told(law, [count, count], factor, pairs, rate, &mut random));
            let row = found.map(|share| format!("{:.0} %", share * 100.0)).join(" | ");
            println!("| {law:?} | {count} | {:.1} % | {row} |", same * 100.0);
            // Four standard deviations of what this number of pairs shows by chance.
            let most = rate + 4.0 * (rate * (1.0 - rate) / pairs as f64).sqrt();
            assert!(same <= most, "{law:?}, {count} events: {same} of equal pairs are told apart");
            if count >= 10_000 && !matches!(law, Law::ZeroOrOne | Law::Wandering(_)) {
                assert!(found[1] > 0.9 && found[2] > 0.99, "{law:?}, {count} events: {found:?}");
            }
        }
    }
}

#[test]
fn equal_pairs_are_rarely_told_apart_and_shifted_ones_are() {
    assert_honest(40, &[100, 10_000]);
}

#[test]
#[ignore = "make check: 1,000 pairs for each line of the table in docs/compare.md"]
fn of_a_thousand_equal_pairs_few_are_told_apart() {
    assert_honest(1000, &[100, 10_000]);
}

#[test]
fn the_rate_holds_over_all_groups_together() {
    let ln = |probability: f64| Some(probability.ln());
    assert_eq!(told_apart(&[ln(0.004), None, ln(0.04), ln(0.001)], 0.01), [true, false, false, true]);
    assert_eq!(told_apart(&[ln(0.006), ln(0.006)], 0.01), [false, false]);
    assert!(told_apart(&[], 0.01).is_empty());
}

#[test]
fn few_durations_tell_nothing() {
    let mut random = fastrand::Rng::with_seed(1);
    let few = recording(Law::Exponential, 7, 1.0, &mut random);
    let many = recording(Law::Exponential, 1000, 9.0, &mut random);
    assert_eq!(difference(&few, &many), None);
    assert_eq!(intervals(&vec![Histogram::default(); BLOCKS], &many, 0), [None; 6]);
    let [_, _, p50, _, p99, p999] = intervals(&many, &many, 0);
    assert!(p50.is_some() && p99.is_some(), "{p50:?} {p99:?}");
    assert_eq!(p999, None, "one duration is beyond it");
}

#[test]
fn intervals_contain_the_true_change() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let pairs = 60;
    let mut missed = [0; 6];
    for _ in 0..pairs {
        let before = recording(Law::LogNormal, 5000, 1.0, &mut random);
        let after = recording(Law::LogNormal, 5000, 1.1, &mut random);
        let intervals = intervals(&before, &after, random.u64(..));
        for (place, interval) in intervals.iter().enumerate() {
            let truth = if place == 0 { 1.0 } else { 1.1 };
            let (low, high) = interval.expect("there are enough");
            missed[place] += usize::from(!(low..=high).contains(&truth));
        }
    }
    // 99 % intervals of 24 blocks: at most 3 % miss, and chance adds a few of 60.
    assert!(missed.iter().all(|missed| *missed <= 8), "{missed:?}");
}
