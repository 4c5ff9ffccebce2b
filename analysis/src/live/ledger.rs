//! Counters by name, for a bounded number of names: those that cost the most have their own, the others share one.
//!
//! A monitor computes rates from counters, so none may go down while its series exists. A name that gets its own series
//! late therefore begins there with 0: what was counted before stays in the shared one, as does all of a name that loses
//! its series to a more costly one.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use super::counters::add;

/// A name loses its series to one that costs this many times as much.
const WORTH: u64 = 2;

/// What identifies a series.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SeriesName {
    /// The machine; empty where all are together.
    pub host: String,
    /// The full name of the event; empty for all that have no series of their own.
    pub event: Arc<str>,
    /// The values that identify the group.
    pub group: String,
    /// What took most of the time within it.
    pub detail: String,
}

/// Counters with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series<const N: usize> {
    /// The name.
    pub name: SeriesName,
    /// The counters.
    pub counters: [u64; N],
}

/// Counters by name.
#[derive(Debug)]
pub(super) struct Ledger<const N: usize> {
    limit: usize,
    own: HashMap<SeriesName, OwnCounters<N>>,
    rest: [u64; N],
    /// Whether names without a series have been counted.
    has_rest: bool,
}

#[derive(Debug)]
struct OwnCounters<const N: usize> {
    /// The last reading.
    read: [u64; N],
    counted: [u64; N],
}

impl<const N: usize> Ledger<N> {
    /// A ledger with at most this number of names.
    pub fn new(limit: usize) -> Self {
        Ledger { limit, own: HashMap::new(), rest: [0; N], has_rest: false }
    }

    /// Takes new readings, and what is counted under no name. Returns the series in the order of their names, and at last
    /// the shared one.
    pub fn update(
        &mut self,
        mut readings: HashMap<SeriesName, [u64; N]>,
        unnamed: [u64; N],
        cost: impl Fn(&[u64; N]) -> u64,
    ) -> Vec<Series<N>> {
        let mut all = unnamed;
        readings.values().for_each(|counters| add(&mut all, counters));
        for (name, own) in &mut self.own {
            let Some(new) = readings.remove(name) else { continue };
            // It was forgotten and began anew if it has gone down.
            let is_new = new.iter().zip(&own.read).any(|(new, read)| new < read);
            let before = if is_new { [0; N] } else { own.read };
            (0..N).for_each(|place| own.counted[place] += new[place] - before[place]);
            own.read = new;
        }
        let mut others: Vec<(SeriesName, [u64; N])> = readings.into_iter().collect();
        others.sort_by(|a, b| (Reverse(cost(&a.1)), &a.0).cmp(&(Reverse(cost(&b.1)), &b.0)));
        let mut others = others.into_iter().peekable();
        while self.own.len() < self.limit
            && let Some((name, read)) = others.next()
        {
            let counted = if self.has_rest { [0; N] } else { read };
            self.own.insert(name, OwnCounters { read, counted });
        }
        self.has_rest |= others.peek().is_some() || unnamed.iter().any(|&counter| counter > 0);
        let mut owners: Vec<(u64, SeriesName)> =
            self.own.iter().map(|(name, own)| (cost(&own.read), name.clone())).collect();
        owners.sort_unstable();
        for ((name, read), (cheapest, owner)) in others.zip(owners) {
            if cost(&read) <= cheapest.saturating_mul(WORTH) {
                break;
            }
            self.own.remove(&owner);
            self.own.insert(name, OwnCounters { read, counted: [0; N] });
        }
        let mut own_sum = [0; N];
        self.own.values().for_each(|own| add(&mut own_sum, &own.counted));
        for (place, rest) in self.rest.iter_mut().enumerate() {
            *rest = all[place].saturating_sub(own_sum[place]).max(*rest);
        }
        let mut series: Vec<Series<N>> =
            self.own.iter().map(|(name, own)| Series { name: name.clone(), counters: own.counted }).collect();
        series.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        if self.has_rest {
            series.push(Series { name: SeriesName::default(), counters: self.rest });
        }
        series
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lttng_testing::Random;
    use std::collections::BTreeMap;

    fn name(number: u64) -> SeriesName {
        SeriesName { event: number.to_string().into(), ..SeriesName::default() }
    }

    #[test]
    fn few_names_have_exactly_their_readings() {
        let mut ledger = Ledger::new(3);
        for round in 1..5 {
            let readings = (0..3).map(|number| (name(number), [round, number * round])).collect();
            let series = ledger.update(readings, [0, 0], |counters| counters[1]);
            let expected =
                (0..3).map(|number| Series { name: name(number), counters: [round, number * round] });
            assert_eq!(series, expected.collect::<Vec<_>>());
        }
    }

    #[test]
    fn random_readings_give_few_series_that_never_go_down_and_sum_up_to_all() {
        for seed in 0..200 {
            let mut random = Random::new(seed + 1);
            let mut ledger = Ledger::new(5);
            let mut readings: BTreeMap<u64, [u64; 2]> = BTreeMap::new();
            let mut folded = [0, 0];
            let mut before: HashMap<SeriesName, [u64; 2]> = HashMap::new();
            for round in 0..40 {
                for _ in 0..random.below(20) {
                    // Later ones cost more.
                    let counters = readings.entry(random.below(3 + round)).or_default();
                    add(counters, &[1, random.below(1 << (round / 2))]);
                }
                // Some are forgotten, and may come again.
                let place = random.below(3 + round);
                if random.below(4) == 0
                    && let Some(forgotten) = readings.remove(&place)
                {
                    add(&mut folded, &forgotten);
                }
                let given = readings.iter().map(|(number, counters)| (name(*number), *counters)).collect();
                let series = ledger.update(given, folded, |counters| counters[1]);
                assert!(series.len() <= 6, "seed {seed}, round {round}");
                let mut all = folded;
                readings.values().for_each(|counters| add(&mut all, counters));
                let mut sum = [0, 0];
                for Series { name, counters } in &series {
                    add(&mut sum, counters);
                    let old = before.get(name).copied().unwrap_or_default();
                    assert!(counters.iter().zip(old).all(|(new, old)| *new >= old), "seed {seed}: {name:?}");
                }
                assert_eq!(sum, all, "seed {seed}, round {round}");
                before = series.into_iter().map(|series| (series.name, series.counters)).collect();
            }
        }
    }
}
