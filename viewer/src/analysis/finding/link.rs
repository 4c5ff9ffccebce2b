//! Links of a chain of causes.

use serde::Serialize;

use super::Ns;
use crate::analysis::intervals::{Lexicon, Link};
use crate::datum::{Datum, Pairs};

/// Intervals of one name within the same parent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkFinding {
    /// The full name of the event.
    pub event: String,
    /// The values that tell its group apart.
    pub key: Pairs,
    /// On whose behalf it happened.
    pub client: Option<Datum>,
    /// How long it took, all of them together.
    #[serde(rename = "duration_us")]
    pub duration: Ns,
    /// How much of that none within it covers.
    #[serde(rename = "self_us")]
    pub own: Ns,
    /// How many there were.
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
