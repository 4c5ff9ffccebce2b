//! The options that several commands have.

use std::path::PathBuf;

use clap::Args;
use ltt_analysis::filter::{Condition, Moment};
use ltt_analysis::groups::Sort;
use ltt_analysis::unit::TimeUnit;

use super::values::{ColorChoice, FormatChoice, SourceChoice};

/// The options of all commands that read traces.
#[derive(Args, Debug, Default)]
pub struct Common {
    /// Folders that contain traces; by default the newest trace in lttng-traces.
    #[arg(value_name = "TRACE")]
    pub traces: Vec<PathBuf>,

    /// How to write the result.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT", help_heading = "Output")]
    pub format: FormatChoice,

    /// When to use colours.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN", help_heading = "Output")]
    pub color: ColorChoice,

    /// Show at most N entries; 0 shows all.
    ///
    /// By default 20 (hist: 5, hist --over-time: 3, events: all). JSON and CSV have all groups, and 1,000 outliers.
    #[arg(short = 'n', long, value_name = "N", help_heading = "Output")]
    pub limit: Option<usize>,

    /// Only events whose name matches, e.g. 'valkey_aof:*' or command_call; may be repeated.
    #[arg(long, value_name = "GLOB", help_heading = "Filters")]
    pub event: Vec<String>,

    /// Only events whose field meets a condition: = != > >= < <= ~ (glob) !~; may be repeated.
    ///
    /// Fields are named as in the trace or in the catalog; duration, client, pid, tid, cpu and host work
    /// for every event that has them. Durations may have a unit: 'duration>1.5ms'.
    #[arg(long = "where", value_name = "FIELD=VALUE", help_heading = "Filters")]
    pub conditions: Vec<Condition>,

    /// Only events at this time or later; see Times.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = "Filters")]
    pub since: Option<Moment>,

    /// Only events at this time or earlier; see Times.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = "Filters")]
    pub until: Option<Moment>,

    /// Only events of this process (needs the context vpid, or per-process buffers).
    #[arg(long, value_name = "PID", help_heading = "Filters")]
    pub pid: Option<i64>,

    /// Only events recorded on this CPU.
    #[arg(long, value_name = "CPU", help_heading = "Filters")]
    pub cpu: Option<i64>,

    /// Include events that only repeat the duration of another event.
    #[arg(long, alias = "repeats", help_heading = "Filters")]
    pub all: bool,

    /// Read the meaning of events from a catalog; may be repeated. Those of Valkey, Redis and memcached are built in.
    ///
    /// Catalogs are also read from $LTT_TOP_CATALOG, and from catalog.toml and *.catalog.toml in a TRACE.
    #[arg(long, value_name = "FILE", help_heading = "Meaning")]
    pub catalog: Vec<PathBuf>,

    /// The field to take as the duration, in events that have it.
    #[arg(long, value_name = "FIELD", help_heading = "Meaning")]
    pub duration: Option<String>,

    /// The unit of --duration: ns, us, ms or s; by default the suffix of its name, or else ns.
    #[arg(long, value_name = "UNIT", requires = "duration", help_heading = "Meaning")]
    pub unit: Option<TimeUnit>,

    /// The number of threads that decode; by default one per core.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = "Reading")]
    pub threads: Option<u16>,

    /// Who reads the traces: native, babeltrace2, or babeltrace2:PLUGIN.CLASS for a source component of Babeltrace 2.
    ///
    /// A component gets TRACE as its parameter `inputs`.
    #[arg(long, default_value_t, value_name = "SOURCE", help_heading = "Reading")]
    pub source: SourceChoice,

    /// A parameter of the source component; may be repeated.
    #[arg(long = "source-param", value_name = "NAME=VALUE", help_heading = "Reading")]
    pub source_parameters: Vec<String>,
}

/// How events are grouped, and how groups are ranked.
#[derive(Args, Debug)]
pub struct Grouping {
    /// Group by these fields instead of the catalog's keys, e.g. addr or name,addr; `event` groups by the event only.
    #[arg(long, value_name = "FIELD", value_delimiter = ',', help_heading = "Grouping")]
    pub by: Option<Vec<String>>,

    /// Rank groups by total, count, mean, max or a percentile such as p99.9.
    #[arg(long, default_value_t, value_name = "FIGURE", help_heading = "Grouping")]
    pub sort: Sort,
}

impl Grouping {
    /// The fields to group by, if not those of the catalog.
    pub fn by(&self) -> Option<&[String]> {
        self.by.as_deref()
    }
}
