//! Which events count: by name, by their fields and by time.

mod condition;
mod glob;
mod moment;

pub use condition::{BoundCondition, Condition, Mismatch};
pub use glob::Glob;
pub use moment::Moment;
