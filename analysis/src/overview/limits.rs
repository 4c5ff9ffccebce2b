//! From which duration on an event of a group is slow, for groups in which processes may be together.

use crate::datum::{Datum, Pairs};
use crate::finding::{GroupName, Ns};
use crate::outliers::Outliers;
use crate::reading::selection::PROCESS;

/// The limits of a group: several where processes were judged apart, the lowest first.
pub fn limits(outliers: &Outliers, name: &GroupName) -> Vec<Ns> {
    let of_group = outliers.limits.iter().filter(|(judged, _)| {
        judged.event == name.event
            && (judged.key == name.key || without_process(&judged.key) == pairs(&name.key))
    });
    let mut limits: Vec<Ns> = of_group.map(|(_, limit)| *limit).collect();
    limits.sort_unstable();
    limits.dedup();
    limits
}

fn pairs(Pairs(pairs): &Pairs) -> Vec<&(String, Datum)> {
    pairs.iter().collect()
}

fn without_process(Pairs(pairs): &Pairs) -> Vec<&(String, Datum)> {
    pairs.iter().filter(|(name, _)| name != PROCESS).collect()
}
