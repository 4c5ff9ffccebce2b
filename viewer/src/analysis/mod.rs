//! From events to findings. Knows no terminal.

mod fold;
pub mod group;
mod groups;
pub mod heat;
pub mod histogram;
pub mod info;
pub mod key;
mod longest;
#[cfg(test)]
pub(crate) mod made;
pub mod outliers;
mod plan;
mod reading;
mod roster;
mod selection;
pub mod slow;
mod tail;
pub mod top;

pub use longest::{Field, Record};
pub use reading::{Failure, Reading};
pub use selection::{Kind, LeftOut, Misfit, Selection};
pub use tail::{Basis, Judged, Rule};
