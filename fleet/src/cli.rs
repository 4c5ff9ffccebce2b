//! The command line.

use std::io::Write;
use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, CommandFactory as _, Parser, Subcommand};
use clap_complete::Shell;
use ltt_analysis::text::escape;
use ltt_analysis::unit::{TimeUnit, parse_duration};

use crate::USAGE;
use crate::refusal::Refusal;

/// Exports LTTng traces to Parquet, for DuckDB, Spark and other engines.
///
/// A TRACE is a folder or an archive: all traces in and below it are exported, e.g. all that a relay has received. What was
/// exported before stays as it is, whatever becomes of its source, and what is new is added to three tables: `events`,
/// `incidents` and `groups`, partitioned by day and host.
#[derive(Debug, Parser)]
#[command(
    name = "ltt-parquet",
    version = env!("VERSION_WITH_COMMIT"),
    max_term_width = 100,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    disable_help_subcommand = true,
    after_help = "Exit status: 0 all exported, 1 a host could not be exported, 2 wrong command line, 3 exported, but \
                  part of a trace is damaged and left out. A run that was killed leaves no file that an engine reads \
                  half; run it again to complete the tables. docs/fleet.md describes the tables, docs/sql has queries."
)]
pub struct Options {
    #[command(subcommand)]
    pub command: Option<Action>,

    #[command(flatten)]
    pub export: Option<ExportOptions>,
}

/// What to export, and how.
#[derive(Debug, Args)]
pub struct ExportOptions {
    /// Folders and archives that contain traces.
    #[arg(value_name = "TRACE", required = true)]
    pub traces: Vec<PathBuf>,

    /// The folder of the tables, which is created if it does not exist, or a bucket, e.g. s3://bucket/tables.
    #[arg(short, long, value_name = "DIR", required_unless_present = "list")]
    pub output: Option<PathBuf>,

    /// Write nothing; print a JSON object for each host, with its name and the folders of its traces.
    #[arg(long, conflicts_with = "output")]
    pub list: bool,

    /// The name of the host that all traces are of, instead of the one that they were recorded with.
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub host: Option<String>,

    /// Keep a Delta Lake log beside the tables, from their first export on: readers of it see one version of all files.
    #[arg(long)]
    pub delta: bool,

    /// The shortest stall that counts as an incident.
    #[arg(long = "longer-than", value_name = "DURATION", default_value = "1ms", value_parser = nanoseconds)]
    pub longer_than_ns: u64,

    /// Read the meaning of events from a catalog; may be repeated. Those of Valkey, Redis and memcached are built in.
    #[arg(long, value_name = "FILE")]
    pub catalog: Vec<PathBuf>,

    /// The field to take as the duration, in events that have it.
    #[arg(long, value_name = "FIELD")]
    pub duration: Option<String>,

    /// The unit of --duration: ns, us, ms or s; by default the suffix of its name, or else ns.
    #[arg(long, value_name = "UNIT", requires = "duration")]
    pub unit: Option<TimeUnit>,

    /// The number of threads; by default one per core.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
}

impl ExportOptions {
    /// All of these traces, with nothing special.
    pub fn new(traces: Vec<PathBuf>, output: PathBuf) -> ExportOptions {
        ExportOptions {
            traces,
            output: Some(output),
            list: false,
            host: None,
            delta: false,
            longer_than_ns: 1_000_000,
            catalog: Vec::new(),
            duration: None,
            unit: None,
            threads: None,
        }
    }
}

/// What to do instead of an export.
#[derive(Debug, Subcommand)]
pub enum Action {
    /// Remove days from the tables that are older than needed.
    Prune {
        /// The folder of the tables.
        #[arg(value_name = "DIR")]
        tables: PathBuf,

        /// How long to keep days: a number of days (30d), hours (48h) or less.
        #[arg(long, value_name = "DURATION", value_parser = age)]
        keep: u64,

        /// How long files stay that the Delta Lake log has removed, for readers of older versions.
        #[arg(long, value_name = "DURATION", default_value = "1h", value_parser = age)]
        grace: u64,
    },
    /// Make one file of the files of each day and host, but those of today; for tables with a Delta Lake log.
    Compact {
        /// The folder of the tables.
        #[arg(value_name = "DIR")]
        tables: PathBuf,

        /// How long files stay that were replaced, for readers of older versions.
        #[arg(long, value_name = "DURATION", default_value = "1h", value_parser = age)]
        grace: u64,
    },
    /// Record for ever, export each finished chunk, and remove it.
    Agent {
        /// The configuration, in TOML; contrib/agent/ltt-agent.toml explains it.
        #[arg(value_name = "FILE")]
        config: PathBuf,
    },
    /// Write a completion script for a shell.
    #[command(hide = true)]
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Write the man pages into a folder.
    #[cfg(feature = "man")]
    #[command(hide = true)]
    Man {
        /// The folder; it is created if it does not exist.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
}

/// Writes a completion script to standard output.
pub fn completions(shell: Shell) -> Result<(), String> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Options::command(), "ltt-parquet", &mut script);
    std::io::stdout().lock().write_all(&script).map_err(|error| format!("cannot write it: {error}"))
}

/// Reads the command line; otherwise says why not, and returns the exit status.
pub fn parse() -> Result<Options, u8> {
    Options::try_parse().map_err(|error| match Refusal::from(error) {
        Refusal::Help(help) => {
            // The pipe may be closed, as in `ltt-parquet --help | head -1`.
            _ = help.print();
            0
        }
        Refusal::Wrong(message) => {
            tell(&format!("error: {message}"));
            USAGE
        }
    })
}

/// A duration of which days make sense.
pub fn age(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, u64); 4] =
        [("d", 86_400_000_000_000), ("h", 3_600_000_000_000), ("min", 60_000_000_000), ("s", 1_000_000_000)];
    let parse = |&(unit, ns): &(&str, u64)| text.strip_suffix(unit)?.parse::<u64>().ok()?.checked_mul(ns);
    UNITS.iter().find_map(parse).ok_or_else(|| "write a duration such as 30d, 48h or 90min".into())
}

fn nanoseconds(text: &str) -> Result<u64, String> {
    let parsed = parse_duration(text).and_then(|nanoseconds| u64::try_from(nanoseconds).ok());
    parsed.ok_or_else(|| "write a duration such as 50us or 1.5ms".into())
}

/// Writes a line to standard error, which may be closed. It may quote a trace, which is untrusted.
pub fn tell(message: &str) {
    _ = writeln!(std::io::stderr(), "ltt-parquet: {}", escape::text(message));
}
