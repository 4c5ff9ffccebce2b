//! Events as they arrive: groups over the last seconds and minutes, incidents, and snapshots of both at any time.
//!
//! ```text
//! lttng_live::Live ─> intake (a merge for each host) ─> analysis ─┬─> board: groups, slices of time
//!                                                                 └─> watches: an incidents::Watch for each host
//! ```

mod analysis;
mod board;
mod counters;
mod finding;
mod intake;
mod ledger;
mod metrics;
mod slices;
mod steps;
mod watches;

pub use analysis::{FrozenAnalysis, LiveAnalysis, LiveQuestion};
pub use counters::{BOUNDS, GROUP_COUNTERS};
pub use finding::{Detail, HeatStrip, LiveFinding, SessionFinding};
pub use intake::{Audience, Intake, Turn};
pub use ledger::{Series, SeriesName};
pub use metrics::{CAUSE_COUNTERS, Meter, Metrics, OWN_SERIES};
pub use slices::LookBack;
