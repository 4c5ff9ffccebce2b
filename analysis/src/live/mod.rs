//! Events as they arrive: groups over the last seconds and minutes, incidents, and snapshots of both at any time.
//!
//! ```text
//! a merge of live sessions ─> audience ─> analysis ─┬─> board: groups, slices of time
//!                                                   └─> watches: an incidents::IncidentWatch for each host
//! ```

mod alike;
mod analysis;
mod audience;
mod board;
mod counters;
mod finding;
mod group_state;
mod host_watch;
mod ledger;
mod lessons;
mod metrics;
mod slices;
mod steps;
mod watches;

pub use analysis::{FrozenAnalysis, LiveAnalysis, LiveQuestion};
pub use audience::Audience;
pub use counters::{BOUNDS, GROUP_COUNTERS};
pub use finding::{Detail, HeatStrip, LiveFinding, SessionFinding};
pub use ledger::{Series, SeriesName};
pub use metrics::{HostMetrics, Meter, Metrics};
pub use slices::LookBack;
