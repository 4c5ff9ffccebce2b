//! The command line.

use std::io::Write;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use clap_complete::Shell;
use ltt_top::text::escape;
use ltt_top::unit::{TimeUnit, parse_duration};

use crate::{FAILED, USAGE, man};

/// Exports LTTng traces to Parquet, for DuckDB, Spark and other engines.
///
/// A TRACE is a folder: all traces in and below it are exported, e.g. all that a relay has received. Each host is a
/// partition of three tables: `events`, `incidents` and `groups`. A host that was exported before is skipped.
#[derive(Debug, Parser)]
#[command(
    name = "ltt-parquet",
    version = env!("VERSION_WITH_COMMIT"),
    max_term_width = 100,
    after_help = "Exit status: 0 all exported, 1 a host could not be exported, 2 wrong command line, 3 exported, but \
                  part of a trace is damaged and left out. A run that was killed leaves no file that an engine reads; \
                  run it again to complete the folder. docs/fleet.md describes the tables, docs/sql has queries."
)]
pub struct Options {
    /// Folders that contain traces.
    #[arg(value_name = "TRACE", required = true)]
    pub traces: Vec<PathBuf>,

    /// The folder to write; it is created if it does not exist.
    #[arg(short, long, value_name = "DIR", required_unless_present = "list")]
    pub output: Option<PathBuf>,

    /// Write nothing; print a JSON object for each host, with its name and the folders of its traces.
    #[arg(long, conflicts_with = "output")]
    pub list: bool,

    /// Export hosts again that were exported already.
    #[arg(long)]
    pub force: bool,

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

// What packagers need, which is not part of the help; a doc comment would be taken for the program's description.
#[derive(Debug, Subcommand)]
enum Packaging {
    /// Write a completion script for a shell.
    #[command(hide = true)]
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Write the man page into a folder.
    #[command(hide = true)]
    Man {
        /// The folder; it is created if it does not exist.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
}

impl Packaging {
    /// Returns the exit status.
    fn run(&self) -> u8 {
        let written = match self {
            Packaging::Completions { shell } => {
                let mut script = Vec::new();
                clap_complete::generate(*shell, &mut Options::command(), "ltt-parquet", &mut script);
                std::io::stdout()
                    .lock()
                    .write_all(&script)
                    .map_err(|error| format!("cannot write it: {error}"))
            }
            Packaging::Man { folder } => man::write(Options::command(), folder)
                .map_err(|error| format!("{}: cannot write man pages: {error}", folder.display())),
        };
        written.map_or_else(
            |error| {
                tell(&format!("error: {error}"));
                FAILED
            },
            |()| 0,
        )
    }
}

/// Reads the command line; otherwise says why not, or writes what packagers need, and returns the exit status.
pub fn parse() -> Result<Options, u8> {
    let command = Packaging::augment_subcommands(Options::command())
        .args_conflicts_with_subcommands(true)
        .subcommand_negates_reqs(true)
        .disable_help_subcommand(true);
    let parsed = command.try_get_matches().and_then(|matches| match matches.subcommand_name() {
        Some(_) => Packaging::from_arg_matches(&matches).map(|packaging| Err(packaging.run())),
        None => Options::from_arg_matches(&matches).map(Ok),
    });
    parsed.unwrap_or_else(|error| {
        Err(match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
                // The pipe may be closed, as in `ltt-parquet --help | head -1`.
                _ = error.print();
                0
            }
            _ => {
                let message = error.to_string();
                let said = message.split("\n\nUsage:").next().unwrap_or(&message);
                let words: Vec<&str> = said.split_whitespace().collect();
                tell(&format!("{} (see ltt-parquet --help)", words.join(" ")));
                USAGE
            }
        })
    })
}

fn nanoseconds(text: &str) -> Result<u64, String> {
    let parsed = parse_duration(text).and_then(|nanoseconds| u64::try_from(nanoseconds).ok());
    parsed.ok_or_else(|| "write a duration such as 50us or 1.5ms".into())
}

/// Writes a line to standard error, which may be closed. It may quote a trace, which is untrusted.
pub fn tell(message: &str) {
    _ = writeln!(std::io::stderr(), "ltt-parquet: {}", escape::text(message));
}
