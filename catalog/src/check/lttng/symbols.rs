//! Names that differ in the catalog and become the same symbol in LTTng-UST's C.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::check::parts;
use crate::error::{Authority, Report};
use crate::model::Catalog;
use crate::place::Place;

pub(super) fn check(catalog: &Catalog, report: &mut Report) {
    let mut symbols = Owners::default();
    for (place, provider) in parts::providers(catalog) {
        symbols.claim(
            format!("lttng_ust_tracepoint_provider_{}", provider.name),
            format!("provider `{}`", provider.name),
            place,
            report,
        );
    }
    for event in parts::events(catalog) {
        let (provider, name) = (&event.provider.name, &event.part.name);
        symbols.claim(
            format!("lttng_ust_tracepoint_{provider}___{name}"),
            format!("event `{provider}:{name}`"),
            event.place,
            report,
        );
    }
    for enumeration in parts::enumerations(catalog) {
        let (provider, name) = (&enumeration.provider.name, &enumeration.part.name);
        symbols.claim(
            format!("__enum_values__{provider}_{name}"),
            format!("enum `{name}` of `{provider}`"),
            enumeration.place,
            report,
        );
    }
}

/// The symbols that are taken, and by what.
#[derive(Default)]
struct Owners {
    by_symbol: HashMap<String, String>,
}

impl Owners {
    fn claim(&mut self, symbol: String, owner: String, place: Place, report: &mut Report) {
        match self.by_symbol.entry(symbol) {
            Entry::Vacant(free) => {
                free.insert(owner);
            }
            Entry::Occupied(taken) => {
                let message = format!(
                    "LTTng-UST gives this the C symbol `{}`, which is also that of {}; rename one of the two",
                    taken.key(),
                    taken.get()
                );
                report.add(Authority::Lttng, place, message);
            }
        }
    }
}
