//! The command line.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use ltt_analysis::text::suggestion;
use lttng_catalog::nearest;

use crate::man;
use crate::refusal::Refusal;

mod common;
mod comparison;
mod help;
mod options;
mod values;

use help::{COMPARE_HELP, EXAMPLES, EXPORT_HELP, HTML_HELP, LIVE_URL, RECORD_HELP};

pub use common::Common;
pub use comparison::CompareOptions;
pub use options::{
    EventsOptions, ExportOptions, HtmlOptions, ListOptions, LiveOptions, RecordOptions, TopOptions,
};
use options::{
    HistOptions, IncidentOptions, InfoOptions, OutlierOptions, ReportOptions, SlowOptions, TopCommandOptions,
};
pub use values::{ColorChoice, ExportFormat, SourceChoice};

/// Finds slow commands and duration outliers in CTF traces.
///
/// ltt-top reads traces recorded by LTTng and shows what was slow, how slow, for whom, how often, and whether
/// that is unusual. It knows the events of Valkey, Redis and memcached; any other event works too if it has an
/// integer field named duration, latency or elapsed, optionally with the suffix _ns, _us, _ms or _s.
///
/// A TRACE is a folder: all traces in and below it are read, including rotated chunks and snapshots, and a packet
/// that two of them share counts once. Without a TRACE, the newest one under $LTTNG_HOME/lttng-traces or
/// ~/lttng-traces is read. The default command is `report`.
#[derive(Debug, Parser)]
#[command(
    name = "ltt-top",
    version = env!("VERSION_WITH_COMMIT"),
    override_usage = "ltt-top [COMMAND] [OPTIONS] [TRACE]...",
    disable_help_subcommand = true,
    disable_help_flag = true,
    disable_version_flag = true,
    max_term_width = 100,
    after_help = "Options: ltt-top COMMAND --help. Version: ltt-top -V. Examples, times and exit statuses: ltt-top --help.",
    after_long_help = EXAMPLES
)]
struct Cli {
    #[command(subcommand)]
    command: Command,

    /// Print help.
    #[arg(short, long, global = true, action = clap::ArgAction::Help, hide_short_help = true)]
    help: (),

    /// Print version.
    #[arg(short = 'V', long, action = clap::ArgAction::Version, hide_short_help = true)]
    version: (),
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show what held the program up, and statistics by group, on one screen (default).
    #[command(
        after_help = "The longest incidents, the main causes with what helps, and the heaviest groups, on one screen. With \
                            -n N it is the output of `incidents`, followed by that of `top`. As JSON it is the object \
                            of `top` with the additional key `incidents`; CSV has the groups only."
    )]
    Report(ReportOptions),
    /// Show what held the program up: when, for how long, why, who waited, and what helps.
    #[command(
        after_help = "An incident is a turn of the event loop that took long; without an event loop, an interval that \
                            took improbably long for its group; or a time in which a process recorded nothing although \
                            it should have. NO EVENT is the time that no event covers. WAITED: how many clients had \
                            asked before it ended, of those active, and the longest wait. NOT SERVED: how many more \
                            requests would have been answered at the rate around it."
    )]
    Incidents(IncidentOptions),
    /// Show statistics by group: count, total duration, percentiles.
    #[command(
        after_help = "A group is an event with the keys that its catalog names, e.g. each command by its name; --by \
                            chooses other keys. WALL is the total's share of the time from the first to the last event; \
                            nested and parallel events can add up to more than 100%."
    )]
    Top(TopCommandOptions),
    /// List the slowest events, with their time, process and fields.
    Slow(SlowOptions),
    /// Find what is unusual, with reasons: single events, slow modes, slow periods, drifts.
    #[command(
        after_help = "A single event is improbable for its group. A slow mode is a number of similar events far above the \
                            rest of their group, shown as one line. In a slow period whole groups were slower; if all \
                            were, by a similar factor, suspect the machine. In a drift \
                            a group became slower steadily. Shared values say what slow events have in common. A group with few durations is compared with \
                            all durations of its event, so that a slow command seen only once is found too. \
                            docs/verdicts.md describes the rules and their limits."
    )]
    Outliers(OutlierOptions),
    /// Show how durations are distributed; with --over-time, when they occurred.
    Hist(HistOptions),
    /// Show what the trace contains: hosts, processes, streams, events, losses and damage.
    Info(InfoOptions),
    /// List events in time order, as Babeltrace does, across all hosts.
    #[command(
        after_help = "Lines are written as Babeltrace writes them: [time] (+time since the previous line) host event: \
                            { packet }, { context }, { fields }. --format json writes one object per line."
    )]
    Events(EventsOptions),
    /// Compare two recordings: what became slower, what faster, and what cannot be told.
    #[command(
        override_usage = "ltt-top compare [OPTIONS] BEFORE AFTER",
        mut_arg("traces", |argument| argument.value_name("BEFORE AFTER").help("The two recordings, the earlier one first")),
        after_help = COMPARE_HELP
    )]
    Compare(CompareOptions),
    /// Write a report as one page for a browser, to look at and to share.
    #[command(
        mut_arg("format", |argument| argument.hide(true)),
        mut_arg("color", |argument| argument.hide(true)),
        mut_arg("limit", |argument| argument.hide(true)),
        after_help = HTML_HELP
    )]
    Html(HtmlOptions),
    /// Write a timeline for Perfetto, Speedscope or chrome://tracing, or Parquet tables.
    #[command(
        mut_arg("format", |argument| argument.hide(true)),
        mut_arg("color", |argument| argument.hide(true)),
        mut_arg("limit", |argument| argument.hide(true)),
        mut_arg("all", |argument| argument.hide(true)),
        after_help = EXPORT_HELP
    )]
    Export(ExportOptions),
    /// Show what is slow right now, while it is being recorded.
    #[command(
        mut_arg("traces", |argument| argument.value_name("URL").help(LIVE_URL).long_help(None)),
        mut_arg("threads", |argument| argument.hide(true)),
        after_help = "On a terminal it fills the screen; ? lists the keys. Otherwise, and with --plain, it writes a table \
                            every interval, or with --format json one object per line. It ends when the session is \
                            destroyed. A filter or a grouping that is changed on the screen applies from then on."
    )]
    Live(LiveOptions),
    /// Record with one command, then show what held the program up.
    #[command(after_help = RECORD_HELP)]
    Record(RecordOptions),
    /// List the processes that offer events, and what the catalogs say about these.
    List(ListOptions),
    /// Write a completion script for a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Write man pages into a folder, one for each command.
    #[command(after_help = "Example:\n  ltt-top man ~/.local/share/man/man1")]
    Man {
        /// The folder; it is created if it does not exist.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
}

/// Reads the command line. `ltt-top TRACE` is `ltt-top report TRACE`.
pub fn parse() -> Result<Command, Refusal> {
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    let is_general =
        |first: &OsString| ["-h", "--help", "-V", "--version"].iter().any(|known| first == known);
    let is_command =
        |first: &OsString| Cli::command().get_subcommands().any(|known| first == known.get_name());
    match arguments.get(1) {
        Some(first) if is_general(first) || is_command(first) => {}
        first => {
            if let Some(meant) = first.and_then(mistyped_command) {
                return Err(Refusal::Wrong(meant));
            }
            arguments.insert(1, "report".into());
        }
    }
    Ok(Cli::try_parse_from(arguments)?.command)
}

/// What to say if the first argument looks like a mistyped command.
fn mistyped_command(first: &OsString) -> Option<String> {
    let name = first.to_str().filter(|name| !name.starts_with('-') && !name.contains('/'))?;
    if Path::new(name).exists() {
        return None;
    }
    let cli = Cli::command();
    let meant = nearest(name, cli.get_subcommands().map(clap::Command::get_name))?;
    Some(format!(
        "`{name}` is neither a command nor a folder{} (see ltt-top --help)",
        suggestion(Some(meant))
    ))
}

/// Writes a completion script.
pub fn completions(shell: Shell, out: &mut dyn std::io::Write) {
    clap_complete::generate(shell, &mut Cli::command(), "ltt-top", out);
}

/// Writes the man pages.
pub fn man(folder: &Path) -> std::io::Result<()> {
    man::write(Cli::command(), folder)
}
