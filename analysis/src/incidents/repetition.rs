//! Whether something repeats regularly.

/// With fewer beginnings nothing is said.
const FEWEST: usize = 3;
/// With this number of steps or fewer, all of them must be nearly the same.
const FEW_STEPS: usize = 2;
/// Beginnings that follow each other within this part of the longest step are a burst, which counts as one.
const BURST: i64 = 8;
/// The part of the repetitions that may be missing.
const MISSING: f64 = 0.3;
/// The part of the steps that must be regular.
const REGULAR: f64 = 0.75;

/// Two repetitions that are mixed are looked for among this number of beginnings.
const MIXED: std::ops::RangeInclusive<usize> = 10..=500;
/// Where a repetition may begin, and how many others may lie between its first two.
const FIRST: usize = 8;
const BETWEEN: usize = 6;
/// The part of all beginnings that two mixed repetitions explain, and the least that each has.
const EXPLAINED: f64 = 0.85;
const LEAST: f64 = 0.2;

/// The time from one beginning to the next, if that is about the same each time. They are in order. Some repetitions may
/// be missing, one may be a burst, and two may be mixed: then it is that of the more frequent one.
pub fn period(beginnings: &[i64]) -> Option<i64> {
    alone(beginnings).or_else(|| mixed(beginnings))
}

/// The period of the more frequent of two repetitions that explain nearly all beginnings.
fn mixed(beginnings: &[i64]) -> Option<i64> {
    if !MIXED.contains(&beginnings.len()) {
        return None;
    }
    let first = longest_chain(beginnings);
    let is_left = |place: &usize| first.binary_search(place).is_err();
    let left: Vec<i64> = (0..beginnings.len()).filter(is_left).map(|place| beginnings[place]).collect();
    let second = longest_chain(&left);
    let all = beginnings.len() as f64;
    let is_telling = |chain: &[usize]| chain.len() > 2 * FEWEST && chain.len() as f64 >= LEAST * all;
    let is_explained = (first.len() + second.len()) as f64 >= EXPLAINED * all;
    let span = beginnings[*first.last()?] - beginnings[first[0]];
    (is_explained && is_telling(&first) && is_telling(&second)).then(|| span / (first.len() as i64 - 1))
}

/// The places of the beginnings that follow each other at one pace, for the pace that most of them do.
fn longest_chain(beginnings: &[i64]) -> Vec<usize> {
    let pairs = (0..FIRST.min(beginnings.len()))
        .flat_map(|first| (1..=BETWEEN).map(move |step| (first, first + step)));
    let pairs = pairs.filter(|(_, second)| *second < beginnings.len());
    pairs.map(|(first, second)| chain(beginnings, first, second)).max_by_key(Vec::len).unwrap_or_default()
}

/// The places of the beginnings that go on as two of them began, none of them missing.
fn chain(beginnings: &[i64], first: usize, second: usize) -> Vec<usize> {
    let mut places = vec![first, second];
    loop {
        let last = places[places.len() - 1];
        let period = (beginnings[last] - beginnings[first]) / (places.len() as i64 - 1);
        let expected = beginnings[last].saturating_add(period);
        let from = beginnings.partition_point(|begin| *begin < expected - period / 10);
        let near = (from..beginnings.len()).take_while(|place| beginnings[*place] <= expected + period / 10);
        match near.filter(|place| *place > last).min_by_key(|place| (beginnings[*place] - expected).abs()) {
            Some(next) => places.push(next),
            None => return places,
        }
    }
}

/// The period of a repetition that is alone.
fn alone(beginnings: &[i64]) -> Option<i64> {
    let longest = beginnings.windows(2).map(|pair| pair[1] - pair[0]).max()?;
    let mut starts: Vec<i64> = Vec::new();
    let mut last = None;
    for &begin in beginnings {
        if last.is_none_or(|last| begin - last > longest / BURST) {
            starts.push(begin);
        }
        last = Some(begin);
    }
    if starts.len() < FEWEST {
        return None;
    }
    let steps: Vec<i64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let mut sorted = steps.clone();
    sorted.sort_unstable();
    let short = sorted[sorted.len() / 4] as f64;
    let turns = |step: &i64, period: f64| (*step as f64 / period).round().max(1.0);
    let all: f64 = steps.iter().map(|step| turns(step, short)).sum();
    let period = (starts[starts.len() - 1] - starts[0]) as f64 / all;
    let tolerated = if steps.len() <= FEW_STEPS { period / 20.0 } else { period / 5.0 };
    let is_regular = |step: &&i64| (**step as f64 - turns(step, period) * period).abs() <= tolerated;
    let regular = steps.iter().filter(is_regular).count() as f64;
    let missing = all - steps.len() as f64;
    let is_repetition = regular >= REGULAR * steps.len() as f64 && missing <= MISSING * all;
    (is_repetition && period >= 1.0).then_some(period as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outliers::verdict::Random;

    const PERIOD: i64 = 100_000;

    /// Repetitions that are late by up to a twentieth of the period; one of five may be missing.
    fn repeated(count: i64, is_missing: bool, burst: i64, random: &mut Random) -> Vec<i64> {
        let mut beginnings = Vec::new();
        let mut missing = 0;
        for turn in 0..count {
            if turn % 5 == 0 {
                missing = turn + random.below(5) as i64;
            }
            if is_missing && turn == missing {
                continue;
            }
            let begin = turn * PERIOD + random.below(PERIOD as u64 / 20) as i64;
            beginnings.extend((0..burst).map(|number| begin + number * PERIOD / 100));
        }
        beginnings
    }

    #[test]
    fn repetitions_are_found_with_a_fifth_missing_in_bursts_and_from_three_on() {
        let seed = 21;
        println!("seed {seed}");
        let mut random = Random::new(seed);
        for (count, missing, burst) in
            [(50, false, 1), (50, true, 1), (50, true, 5), (20, false, 8), (200, true, 3)]
        {
            for _ in 0..50 {
                let beginnings = repeated(count, missing, burst, &mut random);
                let found = period(&beginnings).unwrap_or(0);
                let case = format!("{count} repetitions, a fifth missing: {missing}, bursts of {burst}");
                assert!((found - PERIOD).abs() < PERIOD / 20, "{case}: {found} {beginnings:?}");
            }
        }
        assert_eq!(period(&[0, PERIOD, 2 * PERIOD + 1_000]), Some(PERIOD + 500));
        assert_eq!(period(&[0, PERIOD, 3 * PERIOD]), None);
        assert_eq!((period(&[]), period(&[5]), period(&[5, 5, 5])), (None, None, None));
    }

    #[test]
    fn of_two_repetitions_that_are_mixed_the_more_frequent_is_found() {
        let seed = 23;
        println!("seed {seed}");
        let mut random = Random::new(seed);
        for other in [13, 17, 23] {
            for _ in 0..50 {
                let late = |random: &mut Random| random.below(PERIOD as u64 / 40) as i64;
                let mut beginnings: Vec<i64> =
                    (0..60).map(|turn| turn * PERIOD + late(&mut random)).collect();
                let (step, shift) = (other * PERIOD / 10, random.below(PERIOD as u64) as i64);
                let others = (0..).map(|turn| turn * step + shift).take_while(|begin| *begin < 60 * PERIOD);
                beginnings.extend(others.map(|begin| begin + late(&mut random)).collect::<Vec<_>>());
                beginnings.sort_unstable();
                let found = period(&beginnings).unwrap_or(0);
                assert!((found - PERIOD).abs() < PERIOD / 20, "beside {step}: {found} {beginnings:?}");
            }
        }
    }

    #[test]
    fn what_comes_at_random_rarely_seems_to_repeat() {
        let seed = 22;
        println!("seed {seed}");
        let mut random = Random::new(seed);
        let mut found = 0;
        for _ in 0..1_000 {
            let mut time = 0.0;
            let beginnings: Vec<i64> = (0..30)
                .map(|_| {
                    time -= random.uniform().ln() * PERIOD as f64;
                    time as i64
                })
                .collect();
            found += u64::from(period(&beginnings).is_some());
        }
        assert!(found <= 10, "{found} of 1,000");
    }
}
