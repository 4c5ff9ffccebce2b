//! Why there is nothing to show.

use serde::Serialize;

use crate::datum::Datum;

/// Which filter no event passed, and what would have matched.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Empty {
    /// What kind of filter it was.
    pub cause: EmptyCause,
    /// The option that no event passed, as it was given, or the fields that no event has together.
    pub filter: Option<String>,
    /// The number of events that the filters before it let through.
    pub events: u64,
    /// The value that was probably meant.
    pub did_you_mean: Option<String>,
    /// Existing values, the most frequent first.
    pub values: Vec<Datum>,
    /// The smallest and the largest, if all values are integers.
    pub range: Option<(i128, i128)>,
    /// Whether there are more values than these.
    pub has_more_values: bool,
    /// The time of the trace's first event, if no event is in the window.
    pub trace_begin_ns: Option<i64>,
    /// The time of its last.
    pub trace_end_ns: Option<i64>,
}

/// Why there is nothing to show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum EmptyCause {
    /// The trace has no events.
    #[default]
    Trace,
    /// No event is in the window.
    Window,
    /// The trace describes events of the names asked for, but recorded none.
    Name,
    /// All events only repeat the durations of others.
    Repeats,
    /// No event has all fields that are asked for.
    Fields,
    /// No event meets a condition.
    Condition,
}
