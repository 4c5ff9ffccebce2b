//! Names that differ in the catalog and are the same in generated Rust, or clash with what it uses.

use std::collections::HashMap;

use super::names::is_good_name;
use crate::error::Report;
use crate::model::{Event, Provider};
use crate::place::{Place, Step};

/// What the generated modules use of Rust's prelude and primitive types, by these names.
const USED_BY_GENERATED: &[&str] = &[
    "From", "FnOnce", "Into", "bool", "f32", "f64", "i16", "i32", "i64", "i8", "str", "u16", "u32", "u64",
    "u8",
];

/// Checks the items of a provider's Rust module: its events, what they record beside a duration, and
/// its enums. What has a bad name has been refused for that.
pub(super) fn check(provider: &Provider, place: &Place, report: &mut Report) {
    let mut module = Module::default();
    let events = || provider.events.iter().filter(|event| is_good_name(&event.name));
    for event in events() {
        let place = place.then(Step::Event(event.name.clone()));
        let owner = format!("the event `{}`", event.name);
        module.add(event.name.clone(), owner, &place, report);
    }
    for event in events().filter(|event| has_details(event)) {
        let place = place.then(Step::Event(event.name.clone()));
        let owner = format!("what the event `{}` records beside its duration", event.name);
        module.add(event.details_name(), owner, &place, report);
    }
    for enumeration in provider.enums.iter().filter(|known| is_good_name(&known.name)) {
        let place = place.then(Step::Enum(enumeration.name.clone()));
        let owner = format!("the enum `{}`", enumeration.name);
        module.add(enumeration.rust_name(), owner, &place, report);
    }
}

fn has_details(event: &Event) -> bool {
    event.meaning.duration.is_some() && event.fields.len() > 1
}

/// The names of a Rust module, and what has them.
#[derive(Default)]
struct Module {
    owners: HashMap<String, String>,
}

impl Module {
    fn add(&mut self, name: String, owner: String, place: &Place, report: &mut Report) {
        let message = if name.starts_with(|first: char| first.is_ascii_digit()) {
            format!("in Rust {owner} would be `{name}`, and a name begins with a letter")
        } else if name == "Self" || USED_BY_GENERATED.contains(&name.as_str()) {
            format!(
                "in Rust {owner} would be `{name}`, which generated code uses itself; choose another name"
            )
        } else if let Some(other) = self.owners.get(&name) {
            format!("in Rust {owner} would be `{name}`, and so would {other}; rename one of the two")
        } else {
            self.owners.insert(name, owner);
            return;
        };
        report.add(place.clone(), message);
    }
}
