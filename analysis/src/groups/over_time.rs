//! Groups over time: the figures of each slice of the trace.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::finding::{GroupFinding, GroupName, TraceFinding};
use crate::groups::group::{Extra, Figures, Group, Sort};
use crate::groups::summary::summarise_into;
use crate::groups::top::{OverTime, TimeSlice, Top};
use crate::reading::{Failure, Selection, SourceWindow};
use crate::source::Source;
use ctf_reader::Error;

/// More slices than anyone can read are refused, because each group has figures for each.
const SLICES_MAX: u64 = 10_000;

/// The most groups that are followed over time; the lightest beyond that are left out.
const GROUPS_MAX: usize = 1_000;

/// Where slices begin, and how long they are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slicing {
    begin_ns: i64,
    every_ns: u64,
}

impl Slicing {
    #[inline]
    fn slice(&self, time: i64) -> u64 {
        time.saturating_sub(self.begin_ns).max(0) as u64 / self.every_ns
    }
}

/// The figures of a group for each slice.
type SlicedFigures = BTreeMap<u64, Figures>;

impl Extra for SlicedFigures {
    type Context = Slicing;
    /// The number of its slice.
    type Moment = u64;

    fn alike_until(time: i64, slicing: &Slicing) -> i64 {
        let next = (slicing.slice(time) + 1).saturating_mul(slicing.every_ns);
        slicing.begin_ns.saturating_add_unsigned(next - 1).max(time)
    }

    fn moment(time: i64, slicing: &Slicing) -> u64 {
        slicing.slice(time)
    }

    #[inline]
    fn take(&mut self, duration: Option<u64>, slice: u64, _: &Slicing) {
        self.entry(slice).or_default().record(duration);
    }

    fn take_many(&mut self, ticks: u64, count: u64, slice: u64, _: &Slicing) {
        self.entry(slice).or_default().record_many(ticks, count);
    }

    fn absorb(&mut self, other: Self) {
        other.iter().for_each(|(&slice, figures)| self.entry(slice).or_default().merge(figures));
    }
}

/// Follows the groups of a finding over time.
pub(crate) fn over_time<S: Source>(
    input: &mut SourceWindow<'_, S>,
    selection: &Arc<Selection>,
    top: &Top,
    every_ns: u64,
) -> Result<OverTime, Failure> {
    let TraceFinding { begin_ns, length_ns, .. } = top.trace;
    let (begin_ns, length_ns) = (begin_ns.unwrap_or(0), length_ns.unwrap_or(0));
    if length_ns / every_ns >= SLICES_MAX {
        let slices = length_ns / every_ns + 1;
        let refused = format!(
            "--every cuts the trace into {slices} slices, at most {SLICES_MAX}: choose a longer time"
        );
        return Err(Error::new(&refused).into());
    }
    // Slices begin at whole multiples, so that those of two traces can be compared.
    let begin_ns = begin_ns - begin_ns.rem_euclid(i64::try_from(every_ns).unwrap_or(i64::MAX));
    let slicing = Slicing { begin_ns, every_ns };
    let summary = summarise_into::<SlicedFigures, S>(input, selection, Sort::Total, GROUPS_MAX, slicing)?;
    let mut slices: BTreeMap<u64, Vec<(usize, GroupFinding)>> = BTreeMap::new();
    let of_slice = top.trace.over(every_ns);
    for (group, of_group) in summary.groups.iter().zip(summary.extras) {
        let name = GroupName::of(group);
        let Some(place) = top.groups.iter().position(|shown| shown.name == name) else { continue };
        for (slice, figures) in of_group {
            let group = Group { kind: Arc::clone(&group.kind), key_bytes: group.key_bytes.clone(), figures };
            let finding = GroupFinding::new(&group, &top.quantiles, &of_slice);
            slices.entry(slice).or_default().push((place, finding));
        }
    }
    let slice = |(slice, mut groups): (u64, Vec<(usize, GroupFinding)>)| {
        groups.sort_by_key(|(place, _)| *place);
        let begin_ns = begin_ns.saturating_add_unsigned(slice.saturating_mul(every_ns));
        TimeSlice {
            begin_ns,
            end_ns: begin_ns.saturating_add_unsigned(every_ns),
            groups: groups.into_iter().map(|(_, group)| group).collect(),
        }
    };
    Ok(OverTime { every_ns, slices: slices.into_iter().map(slice).collect() })
}
