//! Refuses what would not compile, what LTTng would change or lose, and what would mislead a reader of traces.
//!
//! The rules are apart by who makes them, and each error names that authority ([`Authority`]):
//!
//! | module | refuses |
//! |---|---|
//! | `model` | what contradicts itself: unknown names, duplicates, roles that a field cannot have |
//! | `c` | names that are not C identifiers, or that the compiler or a header defines |
//! | `lttng` | what LTTng-UST 2.13 cuts off, cannot record or calls by the same name |
//! | `rust` | names that generated Rust cannot have |
//! | `structure` | what no catalog that was read can have: parts without a name or with the same one |
//!
//! A name is asked of three authorities, in `names`; the first that refuses it is heard, so that one mistake is one
//! error. The rules hold for the model, wherever it came from; [`Catalog::parse`] applies them itself.

mod c;
mod lttng;
mod model;
mod names;
mod parts;
mod rust;
mod structure;

use crate::error::{Error, Report};
use crate::model::Catalog;

/// Everything that is wrong with a catalog that a program made or changed; the errors have places, but no positions.
///
/// ```
/// use lttng_catalog::{Authority, check, valkey};
///
/// let mut catalog = valkey();
/// assert!(check(&catalog).is_empty());
/// catalog.providers[0].name = "unix".to_owned();
/// assert!(check(&catalog).iter().any(|error| error.authority == Authority::C));
/// ```
pub fn check(catalog: &Catalog) -> Vec<Error> {
    let mut report = Report::default();
    structure::check(catalog, &mut report);
    report.errors.extend(check_rules(catalog));
    report.errors
}

/// What is wrong with a catalog whose structure comes from the format.
pub(crate) fn check_rules(catalog: &Catalog) -> Vec<Error> {
    let mut report = Report::default();
    model::check(catalog, &mut report);
    names::check(catalog, &mut report);
    c::check(catalog, &mut report);
    lttng::check(catalog, &mut report);
    rust::check(catalog, &mut report);
    report.errors
}
