//! The items of a provider's Rust module: its events, what they record besides a duration, and its enums.

use std::collections::HashMap;

use crate::check::{names, parts};
use crate::error::{Authority, Report};
use crate::model::{Catalog, Event};
use crate::place::Place;

/// What the generated modules use of Rust's prelude and primitive types, by these names.
const USED_BY_GENERATED: &[&str] = &[
    "From", "FnOnce", "Into", "bool", "f32", "f64", "i16", "i32", "i64", "i8", "str", "u16", "u32", "u64",
    "u8",
];

/// Refuses items that clash with each other or with what generated code uses. Items with a bad name have been
/// refused for that.
pub(super) fn check(catalog: &Catalog, report: &mut Report) {
    let mut modules = Modules::default();
    let events = || parts::events(catalog).filter(|event| names::is_good(&event.part.name));
    for event in events() {
        let owner = format!("the event `{}`", event.part.name);
        modules.add(&event.provider.name, event.part.name.clone(), owner, event.place, report);
    }
    for event in events().filter(|event| has_details(event.part)) {
        let owner = format!("what the event `{}` records besides its duration", event.part.name);
        modules.add(&event.provider.name, event.part.details_name(), owner, event.place, report);
    }
    for enumeration in parts::enumerations(catalog).filter(|known| names::is_good(&known.part.name)) {
        let owner = format!("the enum `{}`", enumeration.part.name);
        let (provider, name) = (&enumeration.provider.name, enumeration.part.rust_name());
        modules.add(provider, name, owner, enumeration.place, report);
    }
}

fn has_details(event: &Event) -> bool {
    event.meaning.duration.is_some() && event.fields.len() > 1
}

/// By provider and name, the items of all modules.
#[derive(Default)]
struct Modules<'c> {
    owners: HashMap<(&'c str, String), String>,
}

impl<'c> Modules<'c> {
    fn add(&mut self, provider: &'c str, name: String, owner: String, place: Place, report: &mut Report) {
        let message = if name.starts_with(|first: char| first.is_ascii_digit()) {
            format!("in Rust {owner} would be `{name}`, and an identifier does not begin with a digit")
        } else if name == "Self" || USED_BY_GENERATED.contains(&name.as_str()) {
            format!("in Rust {owner} would be `{name}`, which generated code uses; choose another name")
        } else if let Some(other) = self.owners.get(&(provider, name.clone())) {
            format!("in Rust {owner} would be `{name}`, as would {other}; rename one of the two")
        } else {
            self.owners.insert((provider, name), owner);
            return;
        };
        report.add(Authority::Rust, place, message);
    }
}
