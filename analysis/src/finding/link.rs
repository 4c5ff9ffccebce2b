//! Links of a chain of causes.

use serde::Serialize;

use super::Ns;
use crate::datum::{Datum, Pairs};
use crate::intervals::{Lexicon, Link};

/// Intervals of one name within the same parent.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LinkFinding {
    /// The full name of the event.
    pub event: String,
    /// The values that identify its group.
    pub key: Pairs,
    /// The client on whose behalf it happened; of several, the one that took most of the time.
    pub client: Option<Datum>,
    /// The number of clients.
    pub clients: u64,
    /// Their total duration.
    #[serde(rename = "duration_us")]
    pub duration: Ns,
    /// The same with what handling them took: reading and parsing a request, writing the answer to the one before.
    #[serde(rename = "spent_us")]
    pub spent: Ns,
    /// Its self time: what no interval within it covers.
    #[serde(rename = "self_us")]
    pub own: Ns,
    /// Their number.
    pub count: u64,
}

impl LinkFinding {
    pub(crate) fn new(link: &Link, lexicon: &Lexicon) -> Self {
        LinkFinding {
            event: lexicon.kinds.of(link.name).kind.event.clone(),
            key: lexicon.key(link.name),
            client: link.client.and_then(|client| lexicon.client_value(client)),
            clients: link.clients,
            duration: Ns(link.length.max(0) as u128),
            spent: Ns(link.spent.max(0) as u128),
            own: Ns(link.own.max(0) as u128),
            count: link.count,
        }
    }
}
