//! What changed from one version of a catalog to the next, and who would notice.
//!
//! A *reader* has traces of both versions, and a program or a catalog of one: it notices what it would not find, or
//! would misread. CTF describes itself, so a number that got wider or moved is read as before.
//! A *caller* emits the events: it notices what no longer compiles, or what it would now pass wrongly.

mod changes;
mod enumerations;
mod events;
mod fields;

use lttng_catalog::{Catalog, Provider};
use serde::Serialize;

pub use changes::Change;
use changes::{Changes, Notices};

/// What changed between two versions of a catalog.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The version of the old catalog.
    pub old_version: u32,
    /// The version of the new catalog.
    pub new_version: u32,
    /// Whether a reader of traces notices any change.
    pub reader: bool,
    /// Whether a caller notices any change.
    pub caller: bool,
    /// Every change, in the order of the catalogs.
    pub changes: Vec<Change>,
}

impl Difference {
    /// Whether a reader notices although the version was not raised.
    pub fn needs_version(&self) -> bool {
        self.reader && self.new_version <= self.old_version
    }
}

/// Compares two versions of a catalog.
///
/// ```
/// use lttng_catalog_cli::diff::diff;
///
/// let old = lttng_catalog::valkey();
/// let mut new = old.clone();
/// new.providers[0].events[0].doc.push_str(" Or so.");
/// let difference = diff(&old, &new);
/// assert_eq!(difference.changes.len(), 1);
/// assert!(!difference.reader && !difference.caller);
/// ```
pub fn diff(old: &Catalog, new: &Catalog) -> Difference {
    let mut changes = Changes::default();
    if old.name != new.name {
        changes.changed("catalog", "name", &old.name, &new.name, Notices::Nobody);
    }
    changes.documentation("catalog", &old.doc, &new.doc);
    for provider in &old.providers {
        match new.provider(&provider.name) {
            Some(newer) => compare_providers(provider, newer, new, &mut changes),
            None => provider
                .events
                .iter()
                .for_each(|event| events::removed(&provider.name, event, new, &mut changes)),
        }
    }
    for provider in new.providers.iter().filter(|provider| old.provider(&provider.name).is_none()) {
        let count = provider.events.len();
        let events = if count == 1 { "event" } else { "events" };
        changes.add(&provider.name, format!("new provider with {count} {events}"), Notices::Nobody);
    }
    let changes = changes.list;
    Difference {
        old_version: old.version,
        new_version: new.version,
        reader: changes.iter().any(|change| change.reader),
        caller: changes.iter().any(|change| change.caller),
        changes,
    }
}

fn compare_providers(old: &Provider, new: &Provider, catalog: &Catalog, changes: &mut Changes) {
    changes.documentation(&old.name, &old.doc, &new.doc);
    for event in &old.events {
        match new.event(&event.name) {
            Some(newer) => events::compare(&format!("{}:{}", old.name, event.name), event, newer, changes),
            None => events::removed(&old.name, event, catalog, changes),
        }
    }
    for event in new.events.iter().filter(|event| old.event(&event.name).is_none()) {
        let renamed = event
            .meaning
            .formerly
            .iter()
            .any(|name| name.provider == old.name && old.event(&name.event).is_some());
        if !renamed {
            changes.add(&format!("{}:{}", new.name, event.name), "new event", Notices::Nobody);
        }
    }
    for enumeration in &old.enums {
        let place = format!("{} → {}", old.name, enumeration.name);
        match new.enumeration(&enumeration.name) {
            Some(newer) => enumerations::compare(&place, enumeration, newer, changes),
            None => changes.add(&place, "the enum is gone", Notices::Caller),
        }
    }
    for enumeration in new.enums.iter().filter(|known| old.enumeration(&known.name).is_none()) {
        changes.add(&format!("{} → {}", old.name, enumeration.name), "new enum", Notices::Nobody);
    }
}
