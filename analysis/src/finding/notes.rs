//! Notes for the reader of a finding.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{Empty, GroupName};
use crate::groups::summary::Summary;
use crate::reading::selection::{EventKind, LeftOut};

/// What the reader of a finding must know, besides what is missing from the trace.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Notes {
    /// The number of implausible durations, which are in no figure.
    pub implausible: u64,
    /// Groups that have implausible durations, the first few.
    pub implausible_in: Vec<GroupName>,
    /// Events whose unit is a guess.
    pub guessed_units: BTreeSet<String>,
    /// What was left out on purpose.
    pub left_out: LeftOut,
    /// What could not be told apart because there was too much of it.
    #[serde(skip_serializing_if = "Forgotten::is_empty")]
    pub forgotten: Forgotten,
    /// Why there is nothing to show, if there is nothing.
    pub empty: Option<Empty>,
}

/// How often something was met that is not told apart from others, because its table is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Forgotten {
    /// Threads: those of a process that are too many count as one.
    pub threads: u64,
    /// Clients: those that are too many are not named, and do not count as waiting.
    pub clients: u64,
    /// Names of groups: those that are too many count as one.
    pub names: u64,
    /// Threads whose samples of the scheduler were dropped for those of others.
    pub samples: u64,
}

impl Forgotten {
    /// Whether all were told apart.
    pub fn is_empty(&self) -> bool {
        *self == Forgotten::default()
    }

    /// Adds another count.
    pub fn add(&mut self, other: Forgotten) {
        self.threads += other.threads;
        self.clients += other.clients;
        self.names += other.names;
        self.samples += other.samples;
    }
}

impl Notes {
    /// The number of groups with implausible durations that are listed.
    const NAMED: usize = 6;

    /// Notes on groups.
    pub(crate) fn of_summary<E>(summary: &Summary<E>) -> Notes {
        let broken = || summary.groups.iter().filter(|group| group.figures.implausible > 0);
        let in_groups: u64 = broken().map(|group| group.figures.implausible).sum();
        Notes {
            implausible: in_groups + summary.folded.as_ref().map_or(0, |folded| folded.implausible),
            implausible_in: broken().take(Notes::NAMED).map(GroupName::of).collect(),
            guessed_units: guessed(summary.groups.iter().map(|group| &*group.kind)),
            left_out: summary.left_out.clone(),
            ..Notes::default()
        }
    }
}

/// The events whose unit is a guess.
pub(crate) fn guessed<'a>(kinds: impl Iterator<Item = &'a EventKind>) -> BTreeSet<String> {
    kinds.filter(|kind| kind.unit_is_guess).map(|kind| kind.event.clone()).collect()
}
