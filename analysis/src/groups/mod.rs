//! Groups of events: what is kept of each, how many are kept, and how they are ranked.

mod brief_counts;
pub(super) mod fold;
pub(super) mod group;
mod long_ones;
pub(super) mod over_time;
pub(super) mod quantile;
pub(super) mod summary;
pub(super) mod table;
mod tally;
pub(super) mod top;

pub use group::Sort;
pub use quantile::Quantile;
pub use top::{OverTime, TimeSlice, Top};

pub(super) use brief_counts::BriefCounts;
pub(super) use group::{Extra, Figures, Folded, Group, LongOfKind};
pub(super) use long_ones::LongOnes;
pub(super) use over_time::over_time;
pub(super) use summary::{GROUP_CAP, MANY, PROCESSES_MAX, Pools, Summary, SummaryCollector, rank, summarise};
pub(super) use table::{Groups, Place, RecentKeys};
pub(super) use top::top;
