//! Groups for each process where processes differ, so that a slow server does not hide what is slow in a fast one.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::modes::Evidence;
use super::rule::{ENOUGH, PROCESSES_DIFFER};
use super::series::Resolution;
use crate::datum::Datum;
use crate::groups::quantile::Quantile;
use crate::reading::{EventKind, PROCESS, Selection, key};
use ctf_reader::Value;

/// A kind of events, and the key of a group without the process.
type GroupKey = (Arc<EventKind>, Box<[u8]>);

/// Joins the groups of a key over processes, unless those differ. The process is the last key of each group.
pub(super) fn join_processes<'s>(groups: Vec<Evidence<'s>>, selection: &Selection) -> Vec<Evidence<'s>> {
    let limit = Resolution::cells(groups.len());
    let is_given = selection.by.iter().flatten().any(|name| name == PROCESS || name == "pid");
    let has_process = |kind: &EventKind| !is_given && kind.keys.last().is_some_and(|name| name == PROCESS);
    let mut joined = Vec::new();
    let mut families: BTreeMap<GroupKey, Vec<Evidence<'_>>> = BTreeMap::new();
    for group in groups {
        match stem(&group).filter(|_| has_process(&group.kind)) {
            Some(stem) => families.entry((Arc::clone(&group.kind), stem)).or_default().push(group),
            None => joined.push(group),
        }
    }
    for (_, mut family) in families {
        if differ(&family) {
            joined.append(&mut family);
            continue;
        }
        let mut family = family.into_iter();
        let Some(mut all) = family.next() else { continue };
        all.name.key.0.pop();
        for group in family {
            all.members.extend(group.members);
            all.figures.to_mut().merge(&group.figures);
            all.series.to_mut().join(group.series.into_owned());
        }
        all.series.to_mut().compact(limit);
        joined.push(all);
    }
    joined.sort_by_key(|group| Reverse(group.durations().total() * group.kind.unit_ns()));
    joined
}

/// The key of a group without the process.
fn stem(group: &Evidence<'_>) -> Option<Box<[u8]>> {
    let Some((_, Datum::Integer(process))) = group.name.key.0.last() else { return None };
    let mut last = Vec::new();
    key::encode(&Value::Signed(i64::try_from(*process).ok()?), &mut last);
    Some(group.key.strip_suffix(&*last)?.into())
}

/// Whether processes are too different to be judged together: by the medians of those that can be judged.
fn differ(family: &[Evidence<'_>]) -> bool {
    let telling = family.iter().map(Evidence::durations).filter(|durations| durations.count() >= ENOUGH);
    let medians = telling.filter_map(|durations| durations.percentile(Quantile::P50));
    let (least, most) =
        medians.fold((u64::MAX, 0), |(least, most), median| (least.min(median), most.max(median)));
    // A clock that counts whole units gives 0 for anything below one.
    least != u64::MAX && (most + 1) as f64 >= PROCESSES_DIFFER * (least + 1) as f64
}
