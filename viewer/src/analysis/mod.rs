//! From events to findings. Knows no terminal.

mod fold;
mod groups;
pub mod heat;
pub mod histogram;
pub mod info;
pub mod key;
mod longest;
#[cfg(test)]
mod made;
pub mod outliers;
mod plan;
mod reading;
pub mod slow;
mod tail;
pub mod top;

pub use longest::{Field, Record};
pub use plan::{Kind, LeftOut, Misfit, Selection};
pub use reading::{Failure, Reading};
pub use tail::{Basis, Judged, Rule};
