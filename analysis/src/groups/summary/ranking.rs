//! Groups in the order that was asked for.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use ctf_reader::Report;

use super::{Pools, Summary};
use crate::groups::group::{Group, Sort};
use crate::reading::{EventKind, LeftOut};

impl<E> Summary<E> {
    /// Groups that are ranked now. The pools are those of kinds whose groups are not all among them.
    pub fn new(report: Report, mut groups: Vec<(Group, E)>, sort: Sort, known: Pools) -> Self {
        rank(&mut groups, sort, |(group, _)| group);
        let (groups, extras): (Vec<Group>, Vec<E>) = groups.into_iter().unzip();
        Summary {
            report,
            pools: pools(&groups, known),
            groups,
            extras,
            folded: None,
            left_out: LeftOut::default(),
            processes: BTreeSet::new(),
        }
    }

    /// The same groups, with what a function makes of what each has besides its figures.
    pub fn map_extras<F>(self, map: impl FnMut(E) -> F) -> Summary<F> {
        let Summary { report, groups, extras, folded, left_out, pools, processes } = self;
        let extras = extras.into_iter().map(map).collect();
        Summary { report, groups, extras, folded, left_out, pools, processes }
    }

    /// The same groups, ranked by another figure.
    pub fn ranked(&self, sort: Sort) -> Summary {
        let mut groups = self.groups.clone();
        rank(&mut groups, sort, |group| group);
        Summary {
            report: self.report.clone(),
            extras: vec![(); groups.len()],
            groups,
            folded: self.folded.clone(),
            left_out: self.left_out.clone(),
            pools: Vec::new(),
            processes: BTreeSet::new(),
        }
    }
}

/// Ranks groups; those of equal weight by their names.
pub(crate) fn rank<T>(groups: &mut [T], sort: Sort, group: impl Fn(&T) -> &Group) {
    groups.sort_by(|a, b| {
        let (a, b) = (group(a), group(b));
        (&a.kind, &a.key_bytes).cmp(&(&b.kind, &b.key_bytes))
    });
    groups.sort_by_cached_key(|ranked| Reverse(group(ranked).weight(sort)));
}

/// All durations of each kind: already known for kinds whose groups were folded, otherwise merged from their groups.
fn pools(groups: &[Group], mut pools: Pools) -> Pools {
    pools.retain(|(_, pool)| pool.count() > 0);
    let complete = pools.len();
    let mut places: HashMap<Arc<EventKind>, usize> =
        pools.iter().enumerate().map(|(place, (kind, _))| (Arc::clone(kind), place)).collect();
    for group in groups {
        match places.get(&group.kind) {
            Some(&known) if known < complete => {}
            Some(&known) => pools[known].1.merge(&group.figures.durations),
            None => {
                places.insert(Arc::clone(&group.kind), pools.len());
                pools.push((Arc::clone(&group.kind), group.figures.durations.clone()));
            }
        }
    }
    pools
}
