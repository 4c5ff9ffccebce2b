//! What LTTng-UST 2.13 demands.

mod events;
mod fields;
pub(super) mod names;
mod symbols;

use crate::error::Report;
use crate::model::Catalog;

pub(super) fn check(catalog: &Catalog, report: &mut Report) {
    events::check(catalog, report);
    fields::check(catalog, report);
    symbols::check(catalog, report);
}
