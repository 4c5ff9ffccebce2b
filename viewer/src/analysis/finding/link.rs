//! Links of a chain of causes.

use serde::Serialize;

use super::Ns;
use crate::analysis::intervals::{Lexicon, Link};
use crate::datum::{Datum, Pairs};

/// Intervals of one name within the same parent.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LinkFinding {
    /// The full name of the event.
    pub event: String,
    /// The values that identify its group.
    pub key: Pairs,
    /// On whose behalf it happened.
    pub client: Option<Datum>,
    /// Their total duration.
    #[serde(rename = "duration_us")]
    pub duration: Ns,
    /// Its self time: what no interval within it covers.
    #[serde(rename = "self_us")]
    pub own: Ns,
    /// Their number.
    pub count: u64,
}

impl LinkFinding {
    pub(in crate::analysis) fn new(link: &Link, lexicon: &Lexicon) -> Self {
        LinkFinding {
            event: lexicon.entry(link.name).event.clone(),
            key: lexicon.key(link.name),
            client: link.client.and_then(|client| lexicon.client_value(client)),
            duration: Ns(link.length.max(0) as u128),
            own: Ns(link.own.max(0) as u128),
            count: link.count,
        }
    }
}
