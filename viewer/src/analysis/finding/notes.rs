//! Notes for the reader of a finding.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{Empty, GroupName};
use crate::analysis::groups::summary::Summary;
use crate::analysis::reading::selection::{EventKind, LeftOut};

/// What the reader of a finding must know, besides what is missing from the trace.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Notes {
    /// The number of implausible durations, which are in no figure.
    pub implausible: u64,
    /// Groups that have implausible durations, the first few.
    pub implausible_in: Vec<GroupName>,
    /// Events whose unit is a guess.
    pub guessed_units: BTreeSet<String>,
    /// What was left out on purpose.
    pub left_out: LeftOut,
    /// Why there is nothing to show, if there is nothing.
    pub empty: Option<Empty>,
}

impl Notes {
    /// The number of groups with implausible durations that are listed.
    const NAMED: usize = 6;

    /// Notes on groups.
    pub(in crate::analysis) fn of_summary<E>(summary: &Summary<E>) -> Notes {
        let broken = || summary.groups.iter().filter(|group| group.figures.implausible > 0);
        let in_groups: u64 = broken().map(|group| group.figures.implausible).sum();
        Notes {
            implausible: in_groups + summary.folded.as_ref().map_or(0, |folded| folded.implausible),
            implausible_in: broken().take(Notes::NAMED).map(GroupName::of).collect(),
            guessed_units: guessed(summary.groups.iter().map(|group| &*group.kind)),
            left_out: summary.left_out.clone(),
            empty: None,
        }
    }
}

/// The events whose unit is a guess.
pub(in crate::analysis) fn guessed<'a>(kinds: impl Iterator<Item = &'a EventKind>) -> BTreeSet<String> {
    kinds.filter(|kind| kind.unit_is_guess).map(|kind| kind.event.clone()).collect()
}
