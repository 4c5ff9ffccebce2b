//! What Rust demands of the names in generated code.

mod items;
pub(super) mod keywords;
mod variants;

use crate::error::Report;
use crate::model::Catalog;

pub(super) fn check(catalog: &Catalog, report: &mut Report) {
    items::check(catalog, report);
    variants::check(catalog, report);
}
