//! Filters: by the name, the fields and the time of events.

mod condition;
mod glob;
mod moment;

pub use condition::{BoundCondition, Condition, Mismatch};
pub use glob::Glob;
pub use moment::Moment;
