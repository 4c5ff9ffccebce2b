//! The tables in `docs/verdicts.md`: findings in healthy groups, and which planted stalls are found. `OVERWRITE=1 cargo
//! test` writes it anew.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use lttng_testing::assert_golden;

use super::samples::{Drawn, LENGTH_NS, Random, SHAPES, Shape, found, healthy, p999};

const SIZES: [usize; 4] = [50, 1_000, 10_000, 100_000];
/// Stalls are planted in groups of these sizes.
const PLANTED_IN: [usize; 2] = [1_000, 10_000];

/// What is planted in a healthy group.
#[derive(Clone, Copy)]
enum Plant {
    /// A number of stalls, at a multiple of the 99.9th percentile.
    Stalls(usize, u64),
    /// Stalls of 10 times the 99.9th percentile within one second, 2 % of the group.
    Second,
    /// Everything is 5 times slower from a time on.
    Shift,
}

const PLANTS: [(&str, Plant); 10] = [
    ("1 at 10×", Plant::Stalls(1, 10)),
    ("1 at 100×", Plant::Stalls(1, 100)),
    ("5 at 10×", Plant::Stalls(5, 10)),
    ("5 at 100×", Plant::Stalls(5, 100)),
    ("50 at 10×", Plant::Stalls(50, 10)),
    ("50 at 100×", Plant::Stalls(50, 100)),
    ("1,000 at 10×", Plant::Stalls(1_000, 10)),
    ("1,000 at 100×", Plant::Stalls(1_000, 100)),
    ("a second", Plant::Second),
    ("shift 5×", Plant::Shift),
];

impl Plant {
    fn fits(self, size: usize) -> bool {
        !matches!(self, Plant::Stalls(count, _) if count * 10 > size)
    }

    fn plant(self, events: &mut Vec<Drawn>, random: &mut Random) {
        let p999 = p999(events).max(1) as f64;
        let stall = |time_ns: f64, times: f64| Drawn {
            time_ns: time_ns as i64,
            duration_us: (p999 * times) as u64,
            is_planted: true,
        };
        match self {
            Plant::Stalls(count, times) => {
                events.extend((0..count).map(|_| {
                    stall(random.uniform() * LENGTH_NS, times as f64 * (1.0 + 0.2 * random.uniform()))
                }))
            }
            Plant::Second => {
                let count = events.len() / 50;
                events.extend((0..count).map(|_| stall(30e9 + random.uniform() * 1e9, 10.0)));
            }
            Plant::Shift => {
                for event in events.iter_mut().filter(|event| event.time_ns as f64 > LENGTH_NS * 0.6) {
                    event.duration_us = ((event.duration_us as f64 + 0.5) * 5.0) as u64;
                    event.is_planted = true;
                }
            }
        }
    }
}

/// Large groups differ little from one another.
fn seeds(size: usize) -> u64 {
    if size > 1_000 { 1 } else { 3 }
}

/// The most lines that any healthy group of a size gets.
fn lines(shape: &Shape, size: usize) -> u64 {
    let lines = |seed| found(&healthy(shape, size, &mut Random::new(100 * seed + size as u64))).lines();
    (1..=seeds(size)).map(lines).max().unwrap_or(0)
}

/// The share of planted events that is found, and the share of what is found that was planted, for each plant. What the
/// healthy group has a line for without them is neither.
fn recall_and_precision(shape: &Shape) -> [(f64, f64); PLANTS.len()] {
    let mut sums = [(0.0, 0.0, 0.0); PLANTS.len()];
    for size in PLANTED_IN {
        for seed in 1..=seeds(size) {
            let mut random = Random::new(1000 * seed + size as u64);
            let without = healthy(shape, size, &mut random);
            let before = found(&without);
            for ((_, plant), (runs, recall, precision)) in PLANTS.iter().zip(&mut sums) {
                if !plant.fits(size) {
                    continue;
                }
                let mut events = without.clone();
                plant.plant(&mut events, &mut random);
                let after = found(&events);
                let planted = events.iter().filter(|event| event.is_planted).count() as f64;
                let hits = events.iter().filter(|event| event.is_planted && after.has(event)).count() as f64;
                let is_false = |event: &&Drawn| !event.is_planted && after.has(event) && !before.has(event);
                let misses = events.iter().filter(is_false).count() as f64;
                *runs += 1.0;
                *recall += hits / planted;
                *precision += if hits + misses > 0.0 { hits / (hits + misses) } else { 1.0 };
            }
        }
    }
    sums.map(|(runs, recall, precision)| (recall / runs, precision / runs))
}

#[test]
#[ignore = "make check: long statistics"]
fn healthy_groups_are_quiet_stalls_are_found_and_the_table_says_so() {
    let mut healthy = String::from("| healthy group |");
    SIZES.iter().for_each(|size| write!(healthy, " {size} |").unwrap());
    healthy += &format!("\n|---|{}\n", "---|".repeat(SIZES.len()));
    let mut planted = String::from("| stalls in |");
    PLANTS.iter().for_each(|(name, _)| write!(planted, " {name} |").unwrap());
    planted += &format!("\n|---|{}\n", "---|".repeat(PLANTS.len()));
    let (mut recalls, mut precisions) = (Vec::new(), Vec::new());
    for shape in &SHAPES {
        write!(healthy, "| {} |", shape.name).unwrap();
        for size in SIZES {
            let lines = lines(shape, size);
            let allowed = u64::from(shape.may_have_line);
            assert!(lines <= allowed, "{} of {size}: {lines} lines", shape.name);
            write!(healthy, " {lines} |").unwrap();
        }
        healthy.push('\n');
        write!(planted, "| {} |", shape.name).unwrap();
        for (recall, precision) in recall_and_precision(shape) {
            if shape.is_told {
                recalls.push(recall);
                precisions.push(precision);
            }
            let percent = |part: f64| (part * 100.0).round();
            write!(planted, " {}/{} |", percent(recall), percent(precision)).unwrap();
        }
        planted.push('\n');
    }
    let mean = |parts: &[f64]| parts.iter().sum::<f64>() / parts.len() as f64;
    assert!(mean(&recalls) >= 0.95, "{} found", mean(&recalls));
    assert!(mean(&precisions) >= 0.9, "{} right", mean(&precisions));
    assert_documented("healthy", &healthy);
    assert_documented("planted", &planted);
}

/// Compares a table with that of the documentation, between `<!-- name -->` and `<!-- end -->`.
pub fn assert_documented(name: &str, table: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/verdicts.md");
    let text = fs::read_to_string(&path).expect("the document is there");
    let begin = format!("<!-- {name} -->\n");
    let (before, rest) = text.split_once(&begin).expect("the table has a place");
    let (_, after) = rest.split_once("<!-- end -->").expect("the table ends");
    assert_golden(path, &format!("{before}{begin}{table}<!-- end -->{after}"));
}

#[test]
fn a_million_healthy_durations_get_no_line() {
    for shape in SHAPES.iter().filter(|shape| shape.name == "log-normal, sigma 1") {
        assert_eq!(lines(shape, 1_000_000), 0, "{}", shape.name);
    }
}
