//! What is unusual in a trace: single events, slow modes and slow periods, so that nothing can hide.
//!
//! ```text
//!  one reading ──> for each group a histogram, and a series of time bins by octave of duration
//!                    │
//!      histogram ──> gaps ──> modes and singles: is an empty stretch below the longest durations improbable?
//!      series    ──> changes ──> periods: did the level jump, and for how long?
//!                └─> drift: did it rise steadily?
//! ```
//!
//! - A *single* event is improbable for its group and stands apart; more than `SINGLES_MAX` of a group are a mode.
//! - A *slow mode* is two or more events far above the main body of their group.
//! - A *slow period* is a time in which a whole group, or all of them, were slower; at the end of a trace, a level shift.
//! - A *drift* is a group whose level rose steadily over the whole trace.
//!
//! An event is covered by one of the first three: what a mode holds is not single, and a period counts what is in neither.
//! `docs/verdicts.md` describes the rules and their limits.

mod ahead;
mod changes;
mod courses;
mod drift;
mod durations;
mod findings;
mod gaps;
mod judge;
mod limits;
mod modes;
mod normal;
mod periods;
mod prefix_sums;
mod processes;
mod rule;
mod series;
mod split;
#[cfg(test)]
mod tests;

pub use durations::{Durations, judge};
pub use findings::{Basis, Drift, Mode, Period, PeriodKind, Shift, Unjudged};
pub use judge::Judged;
pub use limits::{Limit, Limits};
pub use rule::{Rule, RuleFinding};

#[cfg(test)]
pub(crate) use tests::samples::Random;

pub(crate) use ahead::COMPARED;
pub(crate) use courses::{CourseCollector, CourseReading, Courses, Verdicts};
pub(crate) use judge::{JudgedGroup, judge_summary, single_limit};
#[cfg(test)]
pub(crate) use normal::ln_tail;
pub(crate) use normal::{ln_student_tail, student_quantile, tail_quantile};
pub(crate) use series::{Resolution, Series};
