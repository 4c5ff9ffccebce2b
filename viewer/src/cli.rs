//! The command line.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use ltt_top::analysis::Sort;
use ltt_top::analysis::histogram::Quantile;
use ltt_top::analysis::live::Window;
use ltt_top::filter::{Condition, Moment};
use ltt_top::source::Choice;
use ltt_top::text::nearest;
use ltt_top::unit::{TimeUnit, parse_duration};

use crate::man;

/// Finds slow commands and duration outliers in CTF traces.
///
/// ltt-top reads traces that LTTng recorded and says what was slow, how slow, for whom, how often, and
/// whether that is unusual. It knows Valkey's events; any other event with an integer field called
/// duration, latency or elapsed (also with _ns, _us, _ms or _s after it) works too.
///
/// A TRACE is a folder: every trace in and below it is read, rotated chunks and snapshots included, and a
/// packet that two of them share counts once. Without a TRACE the newest one under $LTTNG_HOME/lttng-traces or
/// ~/lttng-traces is read. Without a command, ltt-top does `report`.
#[derive(Debug, Parser)]
#[command(
    name = "ltt-top",
    version = env!("VERSION_WITH_COMMIT"),
    override_usage = "ltt-top [COMMAND] [OPTIONS] [TRACE]...",
    disable_help_subcommand = true,
    max_term_width = 100,
    after_help = "Options: ltt-top COMMAND --help. Examples, times and exit statuses: ltt-top --help.",
    after_long_help = EXAMPLES
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Each command has its own options: ltt-top COMMAND --help.

Examples:
  ltt-top ~/lttng-traces/valkey-20260131-235959
      What held the server up, and which commands and which housekeeping took the most time?
  ltt-top incidents TRACE --longer-than 10ms
      Every stall of ten milliseconds or more: why, who waited, and what helps?
  ltt-top TRACE --by addr --event command_call --sort p99
      Which clients have the slowest commands?
  ltt-top slow TRACE --where name=keys --since +10s --until +20s
      The slowest KEYS within ten seconds of the trace.
  ltt-top outliers TRACE --sensitivity high
      What is not as usual, and why is that said?
  ltt-top hist TRACE --event eventloop --over-time
      When was the event loop slow?
  ltt-top top TRACE --where 'duration>1ms' --format json
      Figures of all calls longer than a millisecond, for a program.
  ltt-top events TRACE --where name=flushall --context 20
      What happened just before and after each FLUSHALL?
  ltt-top live -e 'valkey_*'
      What is slow on this machine right now?
  ltt-top record -e 'valkey_*' --name valkey-server --for 30s
      Record half a minute of a server, and say what held it up.

Times, for --since, --until and --around:
  2026-01-31T23:59:59Z   with a zone; without Z in the local one
  23:59:59.5             on the day of the trace
  1769903999000000000    nanoseconds since 1970
  +2s                    after the trace's first event
  -500ms                 before the trace's last event

Exit status:
  0  the result is complete as far as the trace goes
  1  nothing could be read, or the result could not be written
  2  the command line is wrong, or asks for a field or an event that the trace does not have
  3  a result was given, but part of the trace is damaged and left out

A filter that is valid but matches no event is not an error: the output says which one it is.

Environment:
  LTT_TOP_CATALOG  catalogs to read, separated by colons; they come after those of --catalog
  LTTNG_HOME       where lttng-traces is, if not in the home folder
  NO_COLOR         no colours, if set and not empty
  COLUMNS          how wide lines may be; by default as wide as the terminal,
                   and unlimited where there is none
  TZ               the local time zone";

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show what held the program up, then sum events up by group (the default command).
    #[command(
        after_help = "This is what `incidents` shows, and after it what `top` shows. As JSON it is the object of \
                            `top` with another one, `incidents`, in it; CSV has the groups alone."
    )]
    Report(ReportOptions),
    /// Say what held the program up: when, for how long, why, who waited, and what helps.
    #[command(
        after_help = "An incident is a turn of the event loop that took long, or where there is no event loop an \
                            interval that took improbably long for its group, or a time in which a process said \
                            nothing although it should have. UNEXPL. is the part that no event covers. WAITED: how many \
                            of the clients that were active before were served only after it, and how long that took \
                            at most. NOT SERVED: how many requests the rate before would have served meanwhile."
    )]
    Incidents(IncidentOptions),
    /// Sum events up by group: how many, how long in total, percentiles.
    #[command(
        after_help = "A group is an event with the keys that its catalog says, e.g. each command by its \
                            name. --by chooses other keys. WALL is the total's share of the time from the \
                            first to the last event; nested and parallel events can add up to more than 100%."
    )]
    Top(TopOptions),
    /// List the slowest single events, with their time, process and fields.
    Slow(SlowOptions),
    /// Find what is not as usual, each with its reason: single events, slow modes, slow periods.
    #[command(
        after_help = "A single event is improbable for its group. A slow mode is many events that are alike and \
                            far above the rest of their group: one line, however many. In a slow period whole groups \
                            were slower; if all were, alike, suspect the machine. A group with few durations is \
                            compared with all of its event, so that a slow command that was seen only once is found \
                            too. docs/verdicts.md has the rules and what they can tell."
    )]
    Outliers(OutlierOptions),
    /// Show how durations are distributed, or with --over-time when which durations occurred.
    Hist(HistOptions),
    /// Show what the trace holds: hosts, processes, streams, events, losses and damage.
    Info(InfoOptions),
    /// List single events in the order of time, as Babeltrace does, across all hosts.
    #[command(
        after_help = "Each line is as Babeltrace writes it: [time] (+time since the line before) host event: \
                            { packet }, { context }, { fields }. --format json writes one object a line."
    )]
    Events(EventsOptions),
    /// Show what is slow right now, while it is recorded.
    #[command(
        mut_arg("traces", |argument| argument.value_name("URL").help(LIVE_URL).long_help(None)),
        mut_arg("threads", |argument| argument.hide(true)),
        mut_arg("source", |argument| argument.hide(true)),
        after_help = "On a terminal it fills the screen; ? lists the keys. Elsewhere, and with --plain, it writes a table \
                            every interval, with --format json an object a line. It ends when the session is destroyed. \
                            A filter or a grouping that is changed on the screen holds from then on."
    )]
    Live(LiveOptions),
    /// Record in one command, and say what held the program up.
    #[command(after_help = RECORD_HELP)]
    Record(RecordOptions),
    /// List the processes that offer events, and what the catalogs say of these.
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

/// What all commands that read have.
#[derive(Args, Debug, Default)]
pub struct Common {
    /// Folders with traces in or below them; by default the newest trace in lttng-traces.
    #[arg(value_name = "TRACE")]
    pub traces: Vec<PathBuf>,

    /// How to write the result.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT", help_heading = "Output")]
    pub format: Format,

    /// When to use colours.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN", help_heading = "Output")]
    pub color: When,

    /// Show at most N entries; 0 shows all.
    ///
    /// By default 20 (hist: 5, hist --over-time: 3, events: all). JSON and CSV have all groups, and 1,000 outliers.
    #[arg(short = 'n', long, value_name = "N", help_heading = "Output")]
    pub limit: Option<usize>,

    /// Only events whose name fits, e.g. 'valkey_aof:*' or command_call; may be repeated.
    #[arg(long, value_name = "GLOB", help_heading = "Filters")]
    pub event: Vec<String>,

    /// Only events whose field fulfils a condition: = != > >= < <= ~ (glob) !~; may be repeated.
    ///
    /// Fields go by the name in the trace or in the catalog; duration, client, pid, tid, cpu and host work
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

    /// Include events that only repeat the duration of another one.
    #[arg(long, alias = "repeats", help_heading = "Filters")]
    pub all: bool,

    /// Read the meaning of events from a catalog; may be repeated. Valkey's is built in.
    ///
    /// Catalogs are also read from $LTT_TOP_CATALOG, and from catalog.toml and *.catalog.toml in a TRACE.
    #[arg(long, value_name = "FILE", help_heading = "Meaning")]
    pub catalog: Vec<PathBuf>,

    /// The field that is the duration, in events that have it.
    #[arg(long, value_name = "FIELD", help_heading = "Meaning")]
    pub duration: Option<String>,

    /// The unit of --duration: ns, us, ms or s. By default the one in its name, or else ns.
    #[arg(long, value_name = "UNIT", requires = "duration", help_heading = "Meaning")]
    pub unit: Option<TimeUnit>,

    /// What reads the trace: the native reader, or Babeltrace 2 where it is built in.
    #[arg(long, value_enum, default_value_t, value_name = "SOURCE", help_heading = "Reading")]
    pub source: SourceChoice,

    /// How many threads the native reader decodes with; by default one for each core.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = "Reading")]
    pub threads: Option<u16>,
}

/// How groups are made and ranked.
#[derive(Args, Debug)]
pub struct Grouping {
    /// Group by these fields instead of the catalog's keys, e.g. addr or name,addr; event alone for none.
    #[arg(long, value_name = "FIELD", value_delimiter = ',', help_heading = "Grouping")]
    pub by: Option<Vec<String>>,

    /// Rank groups by total, count, mean, max or a percentile such as p99.9.
    #[arg(long, default_value_t, value_name = "FIGURE", help_heading = "Grouping")]
    pub sort: Sort,
}

#[derive(Args, Debug)]
pub struct TopOptions {
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub grouping: Grouping,

    /// The percentiles to show, e.g. 50,99,99.99; that of --sort is shown too.
    #[arg(
        long,
        value_name = "PERCENT",
        value_delimiter = ',',
        default_value = "50,90,99,99.9",
        help_heading = "Grouping"
    )]
    pub percentiles: Vec<Quantile>,
}

#[derive(Args, Debug)]
pub struct ReportOptions {
    #[command(flatten)]
    pub top: TopOptions,
    #[command(flatten)]
    pub rule: IncidentRule,
}

#[derive(Args, Debug)]
pub struct IncidentOptions {
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub rule: IncidentRule,
}

/// What makes an incident.
#[derive(Args, Debug)]
pub struct IncidentRule {
    /// What takes at least this long holds somebody up.
    #[arg(long, value_name = "DURATION", default_value = "1ms", value_parser = nanoseconds, help_heading = "Rule")]
    pub longer_than: u64,
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

    /// Group by these fields instead of the catalog's keys; event alone for none.
    #[arg(long, value_name = "FIELD", value_delimiter = ',', help_heading = "Grouping")]
    pub by: Option<Vec<String>>,

    /// How probable it is that a healthy trace gets any line: low (1e-6), normal (0.005), high (0.05), or a
    /// probability.
    #[arg(long, value_name = "LEVEL", default_value = "normal", value_parser = probability, help_heading = "Rule")]
    pub sensitivity: f64,

    /// How far what is slow is above what is usual for its group, at least.
    #[arg(long, value_name = "DURATION", default_value = "5us", value_parser = nanoseconds, help_heading = "Rule")]
    pub min_excess: u64,

    /// List and count all that took this long or longer instead, however common it is, as SLOWLOG does.
    #[arg(long, value_name = "DURATION", value_parser = nanoseconds, help_heading = "Rule")]
    pub slower_than: Option<u64>,
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

    /// Only the events nearest to a time: as many before it as after it; see Times.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = "Filters")]
    pub around: Option<Moment>,

    /// Show N events of any kind before and after each event that the filters choose; with --around, N chosen ones.
    #[arg(long, short = 'C', value_name = "N", help_heading = "Output")]
    pub context: Option<usize>,

    /// Write only these fields, in this order, e.g. name,addr,duration.
    #[arg(long, value_name = "FIELD", value_delimiter = ',', help_heading = "Output")]
    pub fields: Option<Vec<String>>,

    /// Write events as they are recorded: TRACE is the URL of a session, as of `live`.
    #[arg(long, short = 'f')]
    pub follow: bool,
}

const RECORD_HELP: &str = "\
Buffers are large, and what was lost all the same is said at the end. The contexts vpid, vtid and procname are recorded \
too. A session daemon is started if none runs. The session and the daemon are gone at the end; other sessions are left \
alone.

Examples:
  ltt-top record -e 'valkey_*' -o trace -- valkey-lite --port 7000
      Record while the server runs.
  ltt-top record -e 'valkey_*' --name valkey-lite --for 30s
      Record half a minute of a server that runs already.";

#[derive(Args, Debug)]
pub struct RecordOptions {
    #[command(flatten)]
    pub rule: IncidentRule,

    /// Record events whose name fits, e.g. 'valkey_*'; may be repeated.
    #[arg(short = 'e', long, value_name = "GLOB", required = true)]
    pub enable: Vec<String>,

    /// The folder to record into; by default a new one in lttng-traces.
    #[arg(short = 'o', long, value_name = "DIR")]
    pub output: Option<PathBuf>,

    /// End after this time.
    #[arg(long = "for", value_name = "DURATION", value_parser = nanoseconds)]
    pub for_length: Option<u64>,

    /// Record only this process.
    #[arg(long = "pid", value_name = "PID", conflicts_with = "command")]
    pub target_pid: Option<u32>,

    /// Record only processes of this name.
    #[arg(long, value_name = "NAME", conflicts_with = "command")]
    pub name: Option<String>,

    /// How to write the report.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub format: Format,

    /// A program to run, and its arguments: recording ends with it.
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

impl RecordOptions {
    /// What is asked of the folder that was recorded into.
    pub fn incidents(&self, folder: PathBuf) -> IncidentOptions {
        let rule = IncidentRule { longer_than: self.rule.longer_than };
        let common = Common { traces: vec![folder], format: self.format, ..Common::default() };
        IncidentOptions { common, rule }
    }
}

#[derive(Args, Debug)]
pub struct ListOptions {
    /// How to write the list.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub format: Format,

    /// Read the meaning of events from a catalog; may be repeated. Valkey's is built in.
    #[arg(long, value_name = "FILE")]
    pub catalog: Vec<PathBuf>,
}

/// What `live` takes in place of folders.
const LIVE_URL: &str =
    "Sessions: net://HOST[:PORT][/host/HOSTNAME]/SESSION; by default the only one on this machine";

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
    pub interval: u64,

    /// End after this time.
    #[arg(long = "for", value_name = "DURATION", value_parser = nanoseconds, help_heading = "Output")]
    pub for_length: Option<u64>,

    /// How far back figures go: 10s, 1m, 10m or all. By default all; on a screen 1m.
    #[arg(long, value_name = "WINDOW", help_heading = "Filters")]
    pub window: Option<Window>,

    /// Leave out what was recorded before.
    #[arg(long, help_heading = "Filters")]
    pub from_now: bool,

    /// Record events on this machine whose name fits, for as long as they are watched; may be repeated.
    ///
    /// A session daemon and a relay are started if none runs, and all is gone at the end.
    #[arg(short = 'e', long, value_name = "GLOB", help_heading = "Reading")]
    pub enable: Vec<String>,
}

#[derive(Args, Debug)]
pub struct InfoOptions {
    #[command(flatten)]
    pub common: Common,
}

/// How to write the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Table,
    /// For programs; the forms are stable.
    Json,
    /// For spreadsheets.
    Csv,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    Always,
    Never,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum SourceChoice {
    #[default]
    Native,
    #[cfg(feature = "babeltrace2")]
    Babeltrace2,
}

impl From<SourceChoice> for Choice {
    fn from(choice: SourceChoice) -> Self {
        match choice {
            SourceChoice::Native => Choice::Native,
            #[cfg(feature = "babeltrace2")]
            SourceChoice::Babeltrace2 => Choice::Babeltrace2,
        }
    }
}

fn probability(text: &str) -> Result<f64, String> {
    match text {
        "low" => Ok(1e-6),
        "normal" => Ok(5e-3),
        "high" => Ok(0.05),
        _ => text
            .parse()
            .ok()
            .filter(|probability| (1e-15..=0.1).contains(probability))
            .ok_or_else(|| "write low, normal, high or a probability from 1e-15 to 0.1".into()),
    }
}

fn nanoseconds(text: &str) -> Result<u64, String> {
    let parsed = parse_duration(text).and_then(|nanoseconds| u64::try_from(nanoseconds).ok());
    parsed.ok_or_else(|| "write a duration such as 50us or 1.5ms".into())
}

fn interval(text: &str) -> Result<u64, String> {
    let parsed = nanoseconds(text)?;
    if parsed < 10_000_000 { Err("write 10ms or longer".into()) } else { Ok(parsed) }
}

/// Why there is no command: its message is for the user as it is.
pub enum Refusal {
    /// Help or the version was asked for.
    Help(clap::Error),
    /// The command line is wrong; one line.
    Wrong(String),
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
    let cli = Cli::try_parse_from(arguments).map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Refusal::Help(error),
        _ => Refusal::Wrong(one_line(&error.to_string())),
    })?;
    Ok(cli.command)
}

/// What to say if the first argument is not a folder and looks like a command.
fn mistyped_command(first: &OsString) -> Option<String> {
    let name = first.to_str().filter(|name| !name.starts_with('-') && !name.contains('/'))?;
    if Path::new(name).exists() {
        return None;
    }
    let cli = Cli::command();
    let meant = nearest(name, cli.get_subcommands().map(clap::Command::get_name))?;
    Some(format!("`{name}` is neither a command nor a folder; did you mean `{meant}`? (see ltt-top --help)"))
}

/// Writes a completion script.
pub fn completions(shell: Shell, out: &mut dyn std::io::Write) {
    clap_complete::generate(shell, &mut Cli::command(), "ltt-top", out);
}

/// Writes the man pages.
pub fn man(folder: &Path) -> std::io::Result<()> {
    man::write(Cli::command(), folder)
}

/// The parser's message without its usage.
fn one_line(message: &str) -> String {
    let said = message.strip_prefix("error: ").unwrap_or(message);
    let said = said.split("\nUsage:").next().unwrap_or(said);
    let said = said.split("\nFor more information").next().unwrap_or(said);
    let words: Vec<&str> = said.split_whitespace().collect();
    words.join(" ").replace(" tip: ", "; ") + " (see ltt-top --help)"
}
