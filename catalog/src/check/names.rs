//! Names become C identifiers, LTTng's names and Rust's: each of the three has a say, in this order.

use super::lttng::names as lttng;
use super::rust::keywords as rust;
use super::{c, parts};
use crate::error::{Authority, Report};
use crate::model::Catalog;
use crate::place::Place;

pub(super) fn check(catalog: &Catalog, report: &mut Report) {
    for (place, provider) in parts::providers(catalog) {
        check_name(&provider.name, place, report);
    }
    for part in parts::enumerations(catalog) {
        check_name(&part.part.name, part.place, report);
    }
    for part in parts::classes(catalog) {
        check_name(&part.part.name, part.place, report);
    }
    for part in parts::events(catalog) {
        check_name(&part.part.name, part.place, report);
    }
    for list in parts::field_lists(catalog) {
        for (place, field) in parts::fields(&list) {
            check_name(&field.name, place.value("name"), report);
            // An argument that is named after its field shares the field's mistakes.
            if is_good(&field.name) || field.argument != field.name {
                check_argument(&field.argument, place.value("arg"), report);
            }
        }
    }
}

/// Whether every authority accepts a name.
pub(super) fn is_good(name: &str) -> bool {
    refusal(name).is_none()
}

/// Who refuses the name of a provider, event, class, enum or field, and why.
fn refusal(name: &str) -> Option<(Authority, String)> {
    let by_c = c::wrong_name(name).map(|wrong| (Authority::C, wrong));
    by_c.or_else(|| lttng::wrong_name(name).map(|wrong| (Authority::Lttng, wrong)))
        .or_else(|| rust::wrong_name(name).map(|wrong| (Authority::Rust, wrong)))
}

fn check_name(name: &str, place: Place, report: &mut Report) {
    if let Some((authority, wrong)) = refusal(name) {
        report.add(authority, place, wrong);
    }
}

/// Checks the name of an argument, which is restricted further.
fn check_argument(name: &str, place: Place, report: &mut Report) {
    let refusal = refusal(name)
        .or_else(|| c::wrong_argument(name).map(|wrong| (Authority::C, wrong)))
        .or_else(|| lttng::wrong_argument(name).map(|wrong| (Authority::Lttng, wrong)));
    if let Some((authority, wrong)) = refusal {
        report.add(authority, place, format!("invalid argument: {wrong}"));
    }
}
