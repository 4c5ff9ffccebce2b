//! Names that differ in the catalog and are the same to a linker.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::error::Report;
use crate::model::Catalog;
use crate::place::{Place, Step};

pub(super) fn check(catalog: &Catalog, report: &mut Report) {
    let mut symbols = Owners::default();
    for provider in &catalog.providers {
        let place = Place::top().then(Step::Provider(provider.name.clone()));
        symbols.claim(
            format!("lttng_ust_tracepoint_provider_{}", provider.name),
            format!("provider `{}`", provider.name),
            &place,
            report,
        );
        for event in &provider.events {
            symbols.claim(
                format!("lttng_ust_tracepoint_{}___{}", provider.name, event.name),
                format!("event `{}:{}`", provider.name, event.name),
                &place.then(Step::Event(event.name.clone())),
                report,
            );
        }
        for enumeration in &provider.enums {
            symbols.claim(
                format!("__enum_values__{}_{}", provider.name, enumeration.name),
                format!("enum `{}` of `{}`", enumeration.name, provider.name),
                &place.then(Step::Enum(enumeration.name.clone())),
                report,
            );
        }
    }
}

/// The symbols that are taken, and by what.
#[derive(Default)]
struct Owners {
    by_symbol: HashMap<String, String>,
}

impl Owners {
    fn claim(&mut self, symbol: String, owner: String, place: &Place, report: &mut Report) {
        match self.by_symbol.entry(symbol) {
            Entry::Vacant(free) => {
                free.insert(owner);
            }
            Entry::Occupied(taken) => report.add(
                place.clone(),
                format!(
                    "LTTng-UST names this by the C symbol `{}`, which it also gives to {}; rename \
                     one of the two",
                    taken.key(),
                    taken.get()
                ),
            ),
        }
    }
}
