//! The options of each command.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use ltt_analysis::filter::Moment;
use ltt_analysis::groups::Quantile;
use ltt_analysis::groups::Sort;
use ltt_analysis::live::LookBack;

use super::common::{Common, Grouping};
use super::values::{ExportFormat, FormatChoice, address, interval, length, nanoseconds, probability, slice};

#[derive(Args, Debug)]
pub struct TopOptions {
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub grouping: Grouping,

    /// The percentiles to show, e.g. 50,99,99.99; the one of --sort is added.
    #[arg(
        long,
        value_name = "PERCENT",
        value_delimiter = ',',
        default_value = "50,90,99,99.9",
        help_heading = "Grouping"
    )]
    pub percentiles: Vec<Quantile>,
}

impl TopOptions {
    /// The percentiles to show: those asked for, each once, and the one that groups are ranked by.
    pub fn quantiles(&self) -> Vec<Quantile> {
        let mut quantiles: Vec<Quantile> = Vec::new();
        let ranking = match self.grouping.sort {
            Sort::Percentile(quantile) => Some(quantile),
            _ => None,
        };
        for &quantile in self.percentiles.iter().chain(&ranking) {
            if !quantiles.contains(&quantile) {
                quantiles.push(quantile);
            }
        }
        quantiles
    }
}

#[derive(Args, Debug)]
pub struct TopCommandOptions {
    #[command(flatten)]
    pub top: TopOptions,

    /// Show the figures over time: of each such length, for the groups with the most time in the whole trace.
    #[arg(long, value_name = "DURATION", value_parser = slice, help_heading = "Grouping")]
    pub every: Option<Duration>,
}

#[derive(Args, Debug)]
pub struct ReportOptions {
    #[command(flatten)]
    pub top: TopOptions,
    #[command(flatten)]
    pub rule: IncidentRule,
    #[command(flatten)]
    pub choice: IncidentChoice,
}

#[derive(Args, Debug)]
pub struct IncidentOptions {
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub rule: IncidentRule,
    #[command(flatten)]
    pub choice: IncidentChoice,
}

/// What makes an incident.
#[derive(Args, Clone, Copy, Debug)]
pub struct IncidentRule {
    /// The shortest stall that counts as an incident.
    #[arg(
        long = "longer-than",
        value_name = "DURATION",
        default_value = "1ms",
        value_parser = nanoseconds,
        help_heading = "Rule"
    )]
    pub longer_than_ns: u64,
}

/// Which incidents are shown, and what they are judged by.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct IncidentChoice {
    /// List each incident, instead of neighbouring ones of one cause together.
    #[arg(long, help_heading = "Output")]
    pub each: bool,

    /// Judge only the events that pass the filters, as if nothing else had been recorded.
    ///
    /// By default all events are judged, and filters select from the incidents that were found.
    #[arg(long, help_heading = "Filters")]
    pub in_isolation: bool,
}

impl IncidentChoice {
    /// The rule as the analysis takes it.
    pub fn rule(self, rule: &IncidentRule) -> ltt_analysis::IncidentRule {
        ltt_analysis::IncidentRule {
            threshold_ns: rule.longer_than_ns,
            in_isolation: self.in_isolation,
            shows_each: self.each,
        }
    }
}

#[derive(Args, Debug)]
pub struct SlowOptions {
    #[command(flatten)]
    pub common: Common,
}

#[derive(Args, Debug)]
pub struct OutlierOptions {
    #[command(flatten)]
    pub common: Common,

    /// Group by these fields instead of the catalog's keys; `event` groups by the event only.
    #[arg(long, value_name = "FIELD", value_delimiter = ',', help_heading = "Grouping")]
    pub by: Option<Vec<String>>,

    /// The probability that a healthy trace gets any finding: low (1e-6), normal (0.005), high (0.05), or a number.
    #[arg(long, value_name = "LEVEL", default_value = "normal", value_parser = probability, help_heading = "Rule")]
    pub sensitivity: f64,

    /// Ignore outliers closer than this to the normal range.
    #[arg(
        long = "min-excess",
        value_name = "DURATION",
        default_value = "5us",
        value_parser = nanoseconds,
        help_heading = "Rule"
    )]
    pub min_excess_ns: u64,

    /// Instead, list and count all events that took this long or longer, however common, as SLOWLOG does.
    #[arg(
        long = "slower-than",
        value_name = "DURATION",
        value_parser = nanoseconds,
        help_heading = "Rule"
    )]
    pub slower_than_ns: Option<u64>,

    /// Judge only the events that pass the filters, as if nothing else had been recorded.
    ///
    /// By default all events are judged, and filters select from what was found.
    #[arg(long, help_heading = "Filters")]
    pub in_isolation: bool,

    /// Say how findings were made: the rule with its limits.
    #[arg(long, help_heading = "Output")]
    pub explain: bool,
}

#[derive(Args, Debug)]
pub struct HistOptions {
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub grouping: Grouping,

    /// Show a heat map: time to the right, durations upwards.
    #[arg(long)]
    pub over_time: bool,
}

#[derive(Args, Debug)]
pub struct EventsOptions {
    #[command(flatten)]
    pub common: Common,

    /// Only the events nearest to a time, on both sides of it; see Times.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = "Filters")]
    pub around: Option<Moment>,

    /// Show N events of any kind before and after each match; with --around, N matches on each side.
    #[arg(long, short = 'C', value_name = "N", help_heading = "Output")]
    pub context: Option<usize>,

    /// Write only these fields, in this order, e.g. name,addr,duration.
    #[arg(long, value_name = "FIELD", value_delimiter = ',', help_heading = "Output")]
    pub fields: Option<Vec<String>>,

    /// Write events as they are recorded; TRACE is the URL of a session, as for `live`.
    #[arg(long, short = 'f')]
    pub follow: bool,
}

#[derive(Args, Debug)]
pub struct HtmlOptions {
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub grouping: Grouping,
    #[command(flatten)]
    pub rule: IncidentRule,
    #[command(flatten)]
    pub choice: IncidentChoice,

    /// The file to write, compressed if its name ends in .gz; - is standard output.
    #[arg(short = 'o', long, value_name = "FILE", default_value = "report.html", help_heading = "Output")]
    pub output: PathBuf,

    /// Replace the file if it exists.
    #[arg(long, help_heading = "Output")]
    pub force: bool,
}

#[derive(Args, Debug)]
pub struct ExportOptions {
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub rule: IncidentRule,

    /// What to write.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT", help_heading = "Output")]
    pub to: ExportFormat,

    /// The file to write, compressed if its name ends in .gz; - is standard output. For Parquet a folder.
    #[arg(short = 'o', long, value_name = "FILE", required = true, help_heading = "Output")]
    pub output: PathBuf,

    /// Replace the file if it exists. Parquet tables are only added to.
    #[arg(long, help_heading = "Output")]
    pub force: bool,

    /// Write no file larger than about this, in MiB before compression: of more, the longest intervals and those around
    /// incidents; by default 32 for Speedscope, else 512.
    #[arg(
        long = "max-size",
        value_name = "MIB",
        value_parser = clap::value_parser!(u64).range(1..1 << 40),
        help_heading = "Output"
    )]
    pub max_size_mib: Option<u64>,

    /// Only what is near a time, on both sides of it; see Times.
    #[arg(
        long,
        value_name = "TIME",
        allow_hyphen_values = true,
        conflicts_with_all = ["since", "until"],
        help_heading = "Filters"
    )]
    pub around: Option<Moment>,

    /// How far from --around.
    #[arg(
        long,
        value_name = "DURATION",
        default_value = "1s",
        value_parser = nanoseconds,
        help_heading = "Filters"
    )]
    pub within: u64,
}

#[derive(Args, Debug)]
pub struct RecordOptions {
    #[command(flatten)]
    pub rule: IncidentRule,

    /// Record events whose name matches, e.g. 'valkey_*'; may be repeated.
    #[arg(short = 'e', long, value_name = "GLOB", required = true)]
    pub enable: Vec<String>,

    /// The folder to record into; by default a new one in lttng-traces.
    #[arg(short = 'o', long, value_name = "DIR")]
    pub output: Option<PathBuf>,

    /// Stop after this time.
    #[arg(long = "for", value_name = "DURATION", value_parser = length)]
    pub for_length: Option<Duration>,

    /// Record only this process.
    #[arg(long = "pid", value_name = "PID", conflicts_with = "command")]
    pub target_pid: Option<u32>,

    /// Record only processes of this name.
    #[arg(long, value_name = "NAME", conflicts_with = "command")]
    pub name: Option<String>,

    /// How to write the report.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub format: FormatChoice,

    /// First remove what an earlier run that was killed has left: its session, its daemons and its temporary files.
    #[arg(long)]
    pub clean: bool,

    /// Do not sample the scheduler (samples explain stalls without events).
    #[arg(long)]
    pub no_samples: bool,

    /// A program to run, with its arguments; recording ends when it exits.
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

impl RecordOptions {
    /// The options of `incidents` for the recorded folder.
    pub fn incidents(&self, folder: PathBuf) -> IncidentOptions {
        let rule = self.rule;
        let common = Common { traces: vec![folder], format: self.format, ..Common::default() };
        IncidentOptions { common, rule, choice: IncidentChoice::default() }
    }
}

#[derive(Args, Debug)]
pub struct ListOptions {
    /// List every event with its fields and what the catalogs say about it, and LTTng's own events.
    #[arg(long)]
    pub all: bool,

    /// How to write the list.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub format: FormatChoice,

    /// First remove what an earlier run that was killed has left: its session, its daemons and its temporary files.
    #[arg(long)]
    pub clean: bool,

    /// Read the meaning of events from a catalog; may be repeated. Those of Valkey, Redis and memcached are built in.
    #[arg(long, value_name = "FILE")]
    pub catalog: Vec<PathBuf>,
}

#[derive(Args, Debug)]
pub struct LiveOptions {
    #[command(flatten)]
    pub top: TopOptions,
    #[command(flatten)]
    pub rule: IncidentRule,

    /// Write a table every interval instead of filling the screen.
    #[arg(long, help_heading = "Output")]
    pub plain: bool,

    /// How often to write.
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = interval, help_heading = "Output")]
    pub interval: Duration,

    /// Stop after this time.
    #[arg(long = "for", value_name = "DURATION", value_parser = length, help_heading = "Output")]
    pub for_length: Option<Duration>,

    /// How far back the statistics go: 10s, 1m, 10m or all; by default all, on a screen 1m.
    #[arg(long, value_name = "WINDOW", help_heading = "Filters")]
    pub window: Option<LookBack>,

    /// Skip what was recorded before.
    #[arg(long, help_heading = "Filters")]
    pub from_now: bool,

    /// Serve the figures to Prometheus and other monitors over HTTP, such as on 9464 or 127.0.0.1:9464.
    ///
    /// Without an address, only this machine is served. Where there is no screen, tables are written only with --plain or
    /// --format.
    #[arg(long, value_name = "[ADDRESS:]PORT", value_parser = address, help_heading = "Output")]
    pub metrics: Option<SocketAddr>,

    /// Wait for the relay and the session if they do not exist yet.
    #[arg(long, conflicts_with = "enable", help_heading = "Reading")]
    pub wait: bool,

    /// Record events on this machine whose name matches, while they are watched; may be repeated.
    ///
    /// A relay is started, and a session daemon if none is running; both are stopped at the end. They keep the newest events
    /// only, at most 128 MiB on machines of up to 8 CPUs.
    #[arg(short = 'e', long, value_name = "GLOB", help_heading = "Reading")]
    pub enable: Vec<String>,

    /// First remove what an earlier run that was killed has left: its session, its daemons and its temporary files.
    #[arg(long, requires = "enable", help_heading = "Reading")]
    pub clean: bool,

    /// Do not sample the scheduler (samples explain stalls without events).
    #[arg(long, requires = "enable", help_heading = "Reading")]
    pub no_samples: bool,
}

#[derive(Args, Debug)]
pub struct InfoOptions {
    #[command(flatten)]
    pub common: Common,
}
