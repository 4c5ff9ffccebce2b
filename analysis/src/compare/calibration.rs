//! Against known truth: how often a difference is claimed, and how often it is found.
//!
//! [`tables`] prints those of `docs/compare.md`.

use super::blocks::{BLOCKS, Side, Sides};
use super::finding::Verdict;
use super::judge::judged;
use super::relative::relative;
use super::statistics::{BEYOND, Interval, MEDIAN, difference, intervals, told_apart};
use crate::durations::histogram::Histogram;
use crate::outliers::verdict::ln_tail;

/// The steps of a recording, after each of which the level changes.
const STEPS: usize = 1000;

/// The error rate of verdicts, and that of the test alone beside a plain one.
const RATE: f64 = 0.01;
const PLAIN_RATE: f64 = 0.05;

#[derive(Clone, Copy, Debug)]
enum Shape {
    Exponential,
    LogNormal,
    TwoModes,
    ZeroOrOne,
    /// Three tenths around the level.
    Narrow,
}

/// A machine, and the groups of durations that it makes. Events arrive at random (Poisson).
#[derive(Clone, Copy, Debug)]
struct Machine {
    name: &'static str,
    shape: Shape,
    groups: usize,
    /// About the number of durations of each group in a recording.
    events: f64,
    /// The share of a level that the next step keeps (AR(1)).
    kept: f64,
    /// How far the level of all groups reaches, and that of each.
    common: f64,
    own: f64,
    /// Whether some groups follow the level of all more than others.
    is_uneven: bool,
    /// How many recordings a side has, in the time of one.
    recordings: usize,
}

const STEADY: Machine = Machine {
    name: "steady",
    shape: Shape::Narrow,
    groups: 1,
    events: 5000.0,
    kept: 0.0,
    common: 0.0,
    own: 0.0,
    is_uneven: false,
    recordings: 1,
};

/// A machine whose level is about this many independent ones in a recording.
const fn wandering(name: &'static str, levels: usize) -> Machine {
    Machine { name, kept: 1.0 - levels as f64 / STEPS as f64, common: 0.2, ..STEADY }
}

const SHAPES: [Machine; 3] = [
    Machine { name: "Exponential", shape: Shape::Exponential, ..STEADY },
    Machine { name: "LogNormal", shape: Shape::LogNormal, ..STEADY },
    Machine { name: "TwoModes", shape: Shape::TwoModes, ..STEADY },
];
const WHOLE: Machine = Machine { name: "ZeroOrOne", shape: Shape::ZeroOrOne, ..STEADY };
const WANDERING: [Machine; 8] = [
    wandering("AR(1) 0.9, 100 levels", 100),
    wandering("40 levels", 40),
    wandering("15 levels", 15),
    wandering("AR(1) 0.99, 10 levels", 10),
    wandering("9 levels", 9),
    wandering("6 levels", 6),
    wandering("3 levels", 3),
    wandering("AR(1) 0.999, 1 level", 1),
];

fn normal(random: &mut fastrand::Rng) -> f64 {
    (-2.0 * (1.0 - random.f64()).ln()).sqrt() * (std::f64::consts::TAU * random.f64()).cos()
}

/// The number of arrivals, if this many are expected (Poisson).
fn arrivals(expected: f64, random: &mut fastrand::Rng) -> usize {
    let (mut product, mut count, least) = (random.f64(), 0, (-expected).exp());
    while product > least {
        product *= random.f64();
        count += 1;
    }
    count
}

/// The durations of groups, by block.
type Recording = Vec<Vec<Histogram>>;

impl Machine {
    fn begins(&self) -> [bool; BLOCKS] {
        std::array::from_fn(|block| block % (BLOCKS / self.recordings) == 0)
    }

    /// Those of one side, of which the first group is slower by a factor.
    fn record(&self, factor: f64, random: &mut fastrand::Rng) -> Recording {
        let mut groups = vec![vec![Histogram::default(); BLOCKS]; self.groups];
        let fresh = |random: &mut fastrand::Rng| (0..=self.groups).map(|_| normal(random)).collect();
        let mut levels: Vec<f64> = fresh(random);
        for step in 0..STEPS {
            if step > 0 && step * self.recordings % STEPS < self.recordings {
                levels = fresh(random);
            }
            for level in &mut levels {
                *level = self.kept * *level + (1.0 - self.kept * self.kept).sqrt() * normal(random);
            }
            for (group, blocks) in groups.iter_mut().enumerate() {
                let follows = if self.is_uneven { 0.6 + 0.1 * group as f64 } else { 1.0 };
                let level = follows * self.common * levels[0] + self.own * levels[1 + group];
                let longer = if group == 0 { factor } else { 1.0 };
                for _ in 0..arrivals(self.events / STEPS as f64, random) {
                    let duration = self.duration(random) * longer * level.exp();
                    blocks[step * BLOCKS / STEPS].record(duration.max(0.0) as u64);
                }
            }
        }
        groups
    }

    fn duration(&self, random: &mut fastrand::Rng) -> f64 {
        match self.shape {
            Shape::Exponential => -50.0 * (1.0 - random.f64()).ln(),
            Shape::LogNormal => 40.0 * normal(random).exp(),
            Shape::TwoModes if random.f64() < 0.9 => 20.0 + 3.0 * normal(random),
            Shape::TwoModes => 200.0 + 20.0 * normal(random),
            Shape::ZeroOrOne if random.f64() < 0.3 => 1.2,
            Shape::ZeroOrOne => 0.7,
            Shape::Narrow => 50.0 * (0.3 * normal(random)).exp(),
        }
    }
}

fn sides<'r>(recordings: [&'r Recording; 2], begins: &'r [bool; BLOCKS]) -> Vec<Sides<'r>> {
    let of_group = |group: usize| recordings.map(|side| Side { blocks: &side[group], begins });
    (0..recordings[0].len()).map(of_group).collect()
}

/// The probability of a difference like this by chance (the logarithm), by a plain test of Mann and Whitney, for which each
/// duration is independent of all others.
fn plain([before, after]: Sides<'_>) -> f64 {
    let [one, other] = [before, after].map(|side| {
        let mut all = Histogram::default();
        side.blocks.iter().for_each(|block| all.merge(block));
        all
    });
    let (count, others) = (one.count() as f64, other.count() as f64);
    let total = count + others;
    let mut both = one.clone();
    both.merge(&other);
    let mut of_one = one.buckets().into_iter().peekable();
    let (mut below, mut ranks, mut ties) = (0.0, 0.0, 0.0);
    for bucket in both.buckets() {
        let equal = bucket.count as f64;
        if let Some(own) = of_one.next_if(|own| own.low == bucket.low) {
            ranks += own.count as f64 * (below + (equal + 1.0) / 2.0);
        }
        below += equal;
        ties += equal * equal * equal - equal;
    }
    let expected = count * (total + 1.0) / 2.0;
    let variance = count * others / 12.0 * (total + 1.0 - ties / (total * (total - 1.0)));
    if variance <= 0.0 {
        0.0
    } else {
        (ln_tail((ranks - expected).abs() / variance.sqrt()) + 2_f64.ln()).min(0.0)
    }
}

/// The share that is exceeded in one of ten million runs, if each of this number of pairs is told apart at this rate.
fn most_by_chance(pairs: usize, rate: f64) -> f64 {
    let mut probability = (1.0 - rate).powi(pairs as i32);
    let mut at_most = probability;
    let mut told = 0;
    while at_most < 1.0 - 1e-7 && told < pairs {
        probability *= (pairs - told) as f64 / (told + 1) as f64 * rate / (1.0 - rate);
        told += 1;
        at_most += probability;
    }
    told as f64 / pairs as f64
}

/// In what shares of pairs something is seen; the second of each is slower by a factor.
fn shares<const N: usize>(
    [one, other]: [Machine; 2],
    factor: f64,
    pairs: usize,
    random: &mut fastrand::Rng,
    mut seen: impl FnMut(&[Sides<'_>]) -> [bool; N],
) -> [f64; N] {
    let mut counts = [0; N];
    for _ in 0..pairs {
        let recordings = [one.record(1.0, random), other.record(factor, random)];
        let seen = seen(&sides(recordings.each_ref(), &one.begins()));
        counts.iter_mut().zip(seen).for_each(|(count, seen)| *count += usize::from(seen));
    }
    counts.map(|count| count as f64 / pairs as f64)
}

fn percent(shares: &[f64]) -> String {
    shares.iter().map(|share| format!(" {:.1} % |", share * 100.0)).collect()
}

/// How often a group alone is told apart, by blocks and by a plain test.
fn alone(machines: &[(Machine, usize)], pairs: usize, random: &mut fastrand::Rng) {
    println!("\n| durations | events | same | +5 % | +10 % | +50 % |\n|---|---|---|---|---|---|");
    for &(machine, events) in machines {
        let machine = Machine { events: events as f64, ..machine };
        let busier = Machine { events: machine.events * 1.5, ..machine };
        let told = |groups: &[Sides<'_>]| {
            let by_blocks = told_apart(&[difference(groups[0]).map(|(ln, _)| ln)], PLAIN_RATE)[0];
            [by_blocks, plain(groups[0]) < PLAIN_RATE.ln()]
        };
        let same = shares([machine, busier], 1.0, pairs, random, told);
        let found = [1.05, 1.1, 1.5].map(|factor| shares([machine; 2], factor, pairs, random, told));
        let cell = |[blocks, plain]: &[f64; 2]| format!("{:.1} / {:.1} %", blocks * 100.0, plain * 100.0);
        let row: Vec<String> = [same].iter().chain(&found).map(cell).collect();
        println!("| {} | {events} | {} |", machine.name, row.join(" | "));
        // In 100 events, a level that wanders is hard to see.
        let is_seen = machine.common == 0.0 || events > 1000;
        let most = most_by_chance(pairs, 1.2 * PLAIN_RATE);
        assert!(!is_seen || same[0] <= most, "{machine:?}: {same:?} of equal pairs are told apart");
        if events >= 10_000 && machine.common == 0.0 && !matches!(machine.shape, Shape::ZeroOrOne) {
            assert!(found[1][0] > 0.9 && found[2][0] > 0.99, "{machine:?}: {found:?}");
        }
    }
}

/// How often the 99 % intervals of each figure miss a true change of a tenth.
fn misses(machines: &[Machine], pairs: usize, random: &mut fastrand::Rng) {
    println!("\n| durations | rate | time | p50 | p90 | p99 | p99.9 |\n|---|---|---|---|---|---|---|");
    for &machine in machines {
        let mut seed = random.u64(..);
        let missed = shares([machine; 2], 1.1, pairs, random, |groups| {
            seed = seed.wrapping_add(1);
            let intervals = intervals(groups[0], seed, BEYOND);
            std::array::from_fn::<_, 6, _>(|place| {
                let truth = if place == 0 { 1.0 } else { 1.1 };
                intervals[place]
                    .is_some_and(|Interval { alone: (low, high), .. }| !(low..=high).contains(&truth))
            })
        });
        println!("| {} |{}", machine.name, percent(&missed));
        let allowed = if machine.common > 0.0 && machine.kept > 0.996 { 0.05 } else { 0.025 };
        assert!(
            missed.iter().all(|missed| *missed <= most_by_chance(pairs, allowed)),
            "{machine:?}: {missed:?}"
        );
    }
}

/// Durations whose slowest fiftieth takes half as long again.
fn with_slower_tail(before: &Recording, same: &Recording) -> Recording {
    let mut all = Histogram::default();
    before[0].iter().for_each(|block| all.merge(block));
    let mut above = 0;
    let buckets = all.buckets();
    let slow = buckets.iter().rev().find(|bucket| {
        above += bucket.count;
        above * 50 >= all.count()
    });
    let slow = slow.map_or(0, |bucket| bucket.low);
    let stretched = same[0].iter().map(|block| {
        let mut stretched = Histogram::default();
        for bucket in block.buckets() {
            let value = if bucket.low >= slow { bucket.low * 3 / 2 } else { bucket.low };
            stretched.record_many(value, bucket.count);
        }
        stretched
    });
    vec![stretched.collect()]
}

fn is_told(verdict: Verdict) -> bool {
    !matches!(verdict, Verdict::NoDifference | Verdict::CannotTell)
}

/// How often equal pairs of one group have any verdict, and how often a slower tail is found.
fn tails(machines: &[Machine], pairs: usize, random: &mut fastrand::Rng) {
    println!("\n| durations | same | tail half as long again |\n|---|---|---|");
    for &machine in machines {
        let told = shares([machine; 2], 1.0, pairs, random, |groups| {
            let [before, same] = groups[0].map(|side| vec![side.blocks.to_vec()]);
            let slower = with_slower_tail(&before, &same);
            let slower = judged(&sides([&before, &slower], &machine.begins()), RATE, 0)[0].verdict;
            let equal = judged(groups, RATE, 0)[0].verdict;
            [is_told(equal), matches!(slower, Verdict::TailSlower | Verdict::Slower)]
        });
        println!("| {} |{}", machine.name, percent(&told));
        assert!(told[0] <= most_by_chance(pairs, 2.0 * RATE), "{machine:?}: {told:?}");
    }
}

/// How often pairs of eight groups have a verdict if they are equal, and how often a tenth in one of them is found.
fn in_common(machines: &[Machine], pairs: usize, random: &mut fastrand::Rng) {
    println!(
        "\n| levels | recordings | equal, with a verdict | +10 % found | others, too |\n|---|---|---|---|---|"
    );
    for &machine in machines {
        let told = |groups: &[Sides<'_>]| {
            let verdicts: Vec<Verdict> =
                judged(groups, RATE, 0).iter().map(|judged| judged.verdict).collect();
            let is_found =
                matches!(verdicts[0], Verdict::Slower | Verdict::SlowerThanOthers | Verdict::Mixed);
            [verdicts.iter().copied().any(is_told), is_found, verdicts[1..].iter().copied().any(is_told)]
        };
        let [equal, ..] = shares([machine; 2], 1.0, pairs, random, told);
        let [_, found, others] = shares([machine; 2], 1.1, pairs, random, told);
        let each = machine.recordings;
        println!("| {} | {each} + {each} |{}", machine.name, percent(&[equal, found, others]));
        assert!(equal <= most_by_chance(pairs, 2.0 * RATE), "{machine:?}: {equal}");
        let is_promised = machine.own == 0.0 && machine.kept < 0.995;
        let missed = most_by_chance(pairs, 1.0 - 20.0 / 24.0);
        assert!(!is_promised || 1.0 - found <= missed, "{machine:?}: {found}");
    }
}

/// How often equal pairs fail a gate with limits of nothing on four figures.
fn gates(machines: &[Machine], pairs: usize, random: &mut fastrand::Rng) {
    println!(
        "\n| levels | groups | pairs | any limit | rate | time | p50 | p99 |\n|---|---|---|---|---|---|---|---|"
    );
    for &machine in machines {
        let pairs = (pairs / machine.groups.isqrt()).max(1);
        let failed = shares([machine; 2], 1.0, pairs, random, |groups| {
            let judged = judged(groups, RATE, 4);
            let fails = [0, 1, MEDIAN, MEDIAN + 2].map(|place: usize| {
                judged.iter().any(|one| one.intervals[place].is_some_and(|interval| interval.surely.0 > 1.0))
            });
            [fails.contains(&true), fails[0], fails[1], fails[2], fails[3]]
        });
        println!("| {} | {} | {pairs} |{}", machine.name, machine.groups, percent(&failed));
        assert!(failed[0] <= most_by_chance(pairs, 2.0 * RATE), "{machine:?}: {failed:?}");
    }
}

fn seeded() -> fastrand::Rng {
    let seed =
        std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(|| fastrand::u64(..));
    println!("seed {seed}");
    fastrand::Rng::with_seed(seed)
}

#[test]
fn few_pairs_hold_what_many_do() {
    let random = &mut seeded();
    alone(&[(SHAPES[1], 100), (WANDERING[2], 100)], 20, random);
    misses(&[SHAPES[1], WANDERING[2]], 4, random);
    in_common(&[Machine { groups: 8, ..WANDERING[3] }], 4, random);
}

#[test]
fn the_rate_holds_over_all_groups_together() {
    let ln = |probability: f64| Some(probability.ln());
    assert_eq!(told_apart(&[ln(0.004), None, ln(0.04), ln(0.001)], 0.01), [true, false, false, true]);
    assert_eq!(told_apart(&[ln(0.006), ln(0.006)], 0.01), [false, false]);
    assert!(told_apart(&[], 0.01).is_empty());
}

#[test]
fn few_durations_or_groups_tell_nothing() {
    let random = &mut fastrand::Rng::with_seed(1);
    let exponential = |groups: usize, events: f64| Machine { groups, events, ..SHAPES[0] };
    let [few, many, none] = [7.0, 1000.0, 0.0].map(|events| exponential(3, events).record(9.0, random));
    let begins = &STEADY.begins();
    assert_eq!(difference(sides([&few, &many], begins)[0]), None);
    assert_eq!(intervals(sides([&none, &many], begins)[0], 0, BEYOND), [None; 6]);
    let [_, _, p50, _, p99, p999] = intervals(sides([&many, &many], begins)[0], 0, BEYOND);
    assert!(p50.is_some() && p99.is_some(), "{p50:?} {p99:?}");
    assert_eq!(p999, None, "one duration is beyond it");
    assert!(relative(&sides([&many, &many], begins)).iter().all(Option::is_none), "two others");
}

#[test]
fn equal_durations_tell_nothing() {
    let blocks = |value: u64| {
        let mut block = Histogram::default();
        block.record_many(value, 50);
        vec![vec![block; BLOCKS]]
    };
    let begins = &STEADY.begins();
    // Without a scale to judge it by.
    assert_eq!(difference(sides([&blocks(5), &blocks(9)], begins)[0]), None);
    assert_eq!(judged(&sides([&blocks(5), &blocks(5)], begins), RATE, 0)[0].probability, None);
}

#[test]
#[ignore = "make check: the tables in docs/compare.md, of few pairs"]
fn tables() {
    let pairs = std::env::var("PAIRS").ok().and_then(|pairs| pairs.parse().ok()).unwrap_or(8);
    let random = &mut seeded();
    let [wide, near, slow, whole] = [1, 3, 6, 7].map(|place| WANDERING[place]);
    let by_events = |machine: Machine| [(machine, 100), (machine, 10_000)];
    let machines = SHAPES.iter().copied().chain([WHOLE, wide, near, slow, whole]);
    alone(&machines.flat_map(by_events).collect::<Vec<_>>(), pairs, random);
    let single: Vec<Machine> = SHAPES.into_iter().chain(WANDERING).collect();
    misses(&single, pairs, random);
    tails(&single, pairs, random);
    let steady = Machine { groups: 8, ..STEADY };
    let [quick, near, whole] = [0, 3, 7].map(|place| Machine { groups: 8, ..WANDERING[place] });
    let uneven = Machine { name: "AR(1) 0.99, uneven", is_uneven: true, ..near };
    let own = Machine { name: "AR(1) 0.99, own", own: 0.05, ..near };
    let machines = [steady, quick, near, Machine { groups: 8, ..slow }, whole, uneven, own];
    let several = machines.map(|machine| Machine { recordings: 3, ..machine });
    in_common(&machines.into_iter().chain(several).collect::<Vec<_>>(), pairs, random);
    let by_groups = |machine: Machine| [1, 8, 100].map(|groups| Machine { groups, ..machine });
    gates(&[steady, near, whole].map(by_groups).concat(), pairs, random);
}
