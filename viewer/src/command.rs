//! What each command does: reads, and writes what it found.

use std::fmt;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::sync::Arc;

use ctf_reader::{Error, Progress, Report, Window};
use jiff::tz::TimeZone;
use ltt_top::analysis::group::Sort;
use ltt_top::analysis::heat::heat;
use ltt_top::analysis::info::info;
use ltt_top::analysis::outliers::outliers;
use ltt_top::analysis::slow::slow;
use ltt_top::analysis::top::{GROUP_CAP, top};
use ltt_top::analysis::{Failure, Misfit, Reading, Rule, Selection};
use ltt_top::filter::{Condition, Glob, Moment};
use ltt_top::meaning::Dictionary;
use ltt_top::source::{AnySource, Source};
use ltt_top::view::{Screen, csv, json, progress, text};
use lttng_catalog::Catalog;
use serde_json::Value;

use crate::cli::{self, Command, Common, Format, When};

/// How a command ended.
pub enum Outcome {
    /// The result is complete as far as the trace goes.
    Complete,
    /// Part of the trace is damaged and was left out.
    Damaged,
}

/// Why there is no result: one line that says what is wrong and what to do.
pub enum Trouble {
    /// Nothing could be read or written.
    Failed(String),
    /// The command line makes no sense, at least for this trace.
    Usage(String),
    /// Nobody reads the output any more, which is no one's mistake.
    NobodyListens,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Failed(message) | Trouble::Usage(message) => f.write_str(message),
            Trouble::NobodyListens => f.write_str("nobody reads the output"),
        }
    }
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Trouble::Failed(error.to_string())
    }
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Trouble::NobodyListens,
            _ => Trouble::Failed(format!("cannot write the result: {error}")),
        }
    }
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Source(error) => error.into(),
            Failure::Misfit(Misfit::Comparison(message)) => Trouble::Usage(message),
            Failure::Misfit(Misfit::Field { name, .. }) if name == "vpid" => Trouble::Usage(
                "the trace does not say which process its events are from: record with \
                 `lttng add-context -u -t vpid`"
                    .into(),
            ),
            Failure::Misfit(Misfit::Field { name, known }) => {
                let near =
                    |known: &&String| strsim::damerau_levenshtein(&name, known) <= 2.max(name.len() / 3);
                let distance = |known: &&String| strsim::damerau_levenshtein(&name, known);
                Trouble::Usage(match known.iter().filter(near).min_by_key(distance) {
                    Some(near) => format!("no event has a field `{name}`; did you mean `{near}`?"),
                    None => format!("no event has a field `{name}`"),
                })
            }
        }
    }
}

/// Runs a command.
pub fn run(command: &Command) -> Result<Outcome, Trouble> {
    match command {
        Command::Top(options) => {
            let sort = options.grouping.sort.into();
            let job = Job::new(&options.common, options.grouping.by.as_deref())?;
            let limit = job.limit(20, usize::MAX);
            let found = job.read(|reading, selection| top(reading, selection, sort, GROUP_CAP))?;
            let to_json = || json::top(&found, limit);
            job.write(&found.report, "groups", to_json, |screen, out| {
                text::top(&found, sort, limit, screen, out)
            })
        }
        Command::Slow(options) => {
            let job = Job::new(&options.common, None)?;
            let limit = job.limit(20, 20);
            let found = job.read(|reading, selection| slow(reading, selection, limit))?;
            job.write(
                &found.report,
                "events",
                || json::slow(&found),
                |screen, out| text::slow(&found, screen, out),
            )
        }
        Command::Outliers(options) => {
            let rule = Rule { probability: options.sensitivity, least_excess_ns: options.min_excess };
            let job = Job::new(&options.common, options.by.as_deref())?;
            let limit = job.limit(20, 1000);
            let found =
                job.read(|reading, selection| outliers(reading, selection, &rule, limit, GROUP_CAP))?;
            let to_json = || json::outliers(&found, &rule);
            job.write(&found.report, "events", to_json, |screen, out| {
                text::outliers(&found, &rule, screen, out)
            })
        }
        Command::Hist(options) if options.over_time => {
            let sort = options.grouping.sort.into();
            let job = Job::new(&options.common, options.grouping.by.as_deref())?;
            let limit = job.limit(3, 3);
            let columns = job.screen.width.map_or(100, |width| width.saturating_sub(text::HEAT_BESIDES));
            let found = job.read(|reading, selection| heat(reading, selection, sort, limit, columns))?;
            let report = &found.top.report;
            job.write(report, "groups", || json::heat(&found), |screen, out| text::heat(&found, screen, out))
        }
        Command::Hist(options) => {
            let sort: Sort = options.grouping.sort.into();
            let job = Job::new(&options.common, options.grouping.by.as_deref())?;
            let limit = job.limit(5, usize::MAX);
            let found = job.read(|reading, selection| top(reading, selection, sort, GROUP_CAP))?;
            let to_json = || json::hist(&found, limit);
            job.write(&found.report, "groups", to_json, |screen, out| text::hist(&found, limit, screen, out))
        }
        Command::Info(options) => {
            let mut job = Job::new(&options.common, None)?;
            job.selection.with_repeats = true;
            let limit = job.limit(20, usize::MAX);
            let found = job.read(info)?;
            let to_json = || json::info(&found);
            job.write(&found.report, "", to_json, |screen, out| text::info(&found, limit, screen, out))
        }
        Command::Completions { shell } => {
            cli::completions(*shell, &mut io::stdout().lock());
            Ok(Outcome::Complete)
        }
    }
}

/// What all commands that read have in common.
struct Job<'a> {
    options: &'a Common,
    selection: Selection,
    screen: Screen,
}

impl<'a> Job<'a> {
    fn new(options: &'a Common, by: Option<&[String]>) -> Result<Self, Trouble> {
        let catalogs = options.catalog.iter().map(Catalog::read);
        let mut catalogs: Vec<Catalog> = catalogs.collect::<Result<_, _>>().map_err(|errors| {
            let message = errors.to_string();
            Trouble::Failed(message.lines().next().unwrap_or(&message).to_owned())
        })?;
        catalogs.push(lttng_catalog::valkey());
        let pid = options.pid.map(|pid| Condition::equals("vpid", pid));
        let cpu = options.cpu.map(|cpu| Condition::equals("cpu_id", cpu));
        let selection = Selection {
            dictionary: Dictionary {
                catalogs,
                duration: options.duration.clone().map(|field| (field, options.unit)),
            },
            events: options.event.iter().map(|glob| Glob::new(glob)).collect(),
            conditions: options.conditions.iter().cloned().chain(pid).chain(cpu).collect(),
            by: by.map(|by| by.iter().filter(|name| *name != "event").cloned().collect()),
            with_repeats: options.all,
        };
        let colour = match options.color {
            When::Always => true,
            When::Never => false,
            When::Auto => {
                let is_refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
                io::stdout().is_terminal() && !is_refused
            }
        };
        let screen = Screen { width: width(), colour, zone: TimeZone::system() };
        Ok(Job { options, selection, screen })
    }

    /// The limit that was given, or the default for people or for programs.
    fn limit(&self, for_people: usize, for_programs: usize) -> usize {
        match (self.options.limit, self.options.format) {
            (Some(0), _) => usize::MAX,
            (Some(limit), _) => limit,
            (None, Format::Table) => for_people,
            (None, Format::Json | Format::Csv) => for_programs,
        }
    }

    /// Opens the traces and reads what the filters let through.
    fn read<T>(
        &self,
        analyse: impl FnOnce(&mut Reading<'_, AnySource>, &Arc<Selection>) -> Result<T, Failure>,
    ) -> Result<T, Trouble> {
        let Common { traces, source, threads, .. } = self.options;
        let mut source = AnySource::open(traces, (*source).into(), threads.map(usize::from))?;
        let window = self.window(&mut source)?;
        let state = Progress::default();
        let mut reading = Reading { source: &mut source, window, progress: &state };
        let selection = Arc::new(self.selection.clone());
        Ok(progress::shown(&state, || analyse(&mut reading, &selection))?)
    }

    fn window(&self, source: &mut AnySource) -> Result<Window, Trouble> {
        let Common { since, until, .. } = self.options;
        let needs_span = [since, until].into_iter().flatten().any(|moment| moment.needs_span());
        let span = if needs_span { source.span()? } else { None };
        let span = span.unwrap_or(0..=0);
        let resolve = |moment: &Option<Moment>| moment.map(|moment| moment.resolve(&span, &self.screen.zone));
        let window = Window { since: resolve(since), until: resolve(until) };
        match (window.since, window.until) {
            (Some(since), Some(until)) if since > until => {
                Err(Trouble::Usage("--since is later than --until".into()))
            }
            _ => Ok(window),
        }
    }

    /// Writes the result in the format that was asked for. CSV has the JSON's entries as rows.
    fn write(
        &self,
        report: &Report,
        entries: &str,
        to_json: impl FnOnce() -> Value,
        to_text: impl FnOnce(&Screen, &mut dyn Write) -> io::Result<()>,
    ) -> Result<Outcome, Trouble> {
        let mut out = BufWriter::new(io::stdout().lock());
        match self.options.format {
            Format::Table => to_text(&self.screen, &mut out)?,
            Format::Json => {
                serde_json::to_writer(&mut out, &to_json()).map_err(io::Error::from)?;
                writeln!(out)?;
            }
            Format::Csv => {
                csv::write(&to_json(), entries, &mut out)?;
                text::losses(report).iter().for_each(|loss| eprintln!("ltt-top: warning: {loss}"));
            }
        }
        out.flush()?;
        Ok(if report.damage.is_empty() { Outcome::Complete } else { Outcome::Damaged })
    }
}

/// How wide lines may be: as the environment says, or as the terminal is.
fn width() -> Option<usize> {
    let given = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let terminal = || terminal_size::terminal_size_of(io::stdout());
    given.filter(|&columns| columns > 0).or_else(|| terminal().map(|(width, _)| width.0.into()))
}
