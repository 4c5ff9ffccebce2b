//! What all commands that read have in common: which traces, which events, and where the result goes.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::PathBuf;

use crate::view::{Output, Screen};
use ctf_reader::Window;
use jiff::tz::TimeZone;
use ltt_analysis::catalogs::{self, Catalogs};
use ltt_analysis::filter::{Condition, Glob, Moment};
use ltt_analysis::meaning::Dictionary;
use ltt_analysis::source::Source;
use ltt_analysis::text::escape;
use ltt_analysis::{EventGlob, Finding, Processes, Selection};

use crate::cli::{ColorChoice, Common, SourceChoice};
use crate::newest::{newest, recordings};
use crate::outcome::{Outcome, Trouble, tell, warn};

/// A command that reads, with what all of them need.
pub struct Invocation<'a> {
    pub options: &'a Common,
    pub traces: Vec<PathBuf>,
    pub screen: Screen,
}

impl<'a> Invocation<'a> {
    pub fn new(options: &'a Common) -> Result<Self, Trouble> {
        // A component may need no files, e.g. one that reads from a network.
        let traces = match options.source {
            SourceChoice::Babeltrace2(Some(_)) => options.traces.clone(),
            _ => traces(&options.traces)?,
        };
        Ok(Invocation { traces, ..Invocation::live(options) })
    }

    /// For events that are not in a file yet.
    pub fn live(options: &'a Common) -> Self {
        let colour = match options.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => {
                let is_refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
                io::stdout().is_terminal() && !is_refused
            }
        };
        let screen = Screen { width: width(), colour, zone: TimeZone::system() };
        Invocation { options, traces: Vec::new(), screen }
    }

    /// Which events count. `with_repeats` says whether those do that only repeat the duration of another.
    pub fn selection(&self, by: Option<&[String]>, with_repeats: bool) -> Result<Selection, Trouble> {
        let options = self.options;
        let Catalogs { catalogs, ignored } =
            catalogs::read(&options.catalog, &self.traces).map_err(Trouble::Failed)?;
        ignored
            .iter()
            .for_each(|reason| warn(&format!("a catalog in the folder of the trace is ignored: {reason}")));
        let pid = options.pid.map(|pid| Condition::equals("--pid", "vpid", pid));
        let cpu = options.cpu.map(|cpu| Condition::equals("--cpu", "cpu_id", cpu));
        Ok(Selection {
            dictionary: Dictionary {
                catalogs,
                duration: options.duration.clone().map(|field| (field, options.unit)),
            },
            events: options.event.iter().map(|glob| EventGlob(Glob::new(glob))).collect(),
            conditions: options.conditions.iter().cloned().chain(pid).chain(cpu).collect(),
            by: by.map(|by| by.iter().filter(|name| *name != "event").cloned().collect()),
            with_repeats,
            processes: Processes::Together,
        })
    }

    /// The limit that was given, or the default for people or for programs.
    pub fn limit(&self, for_people: usize, for_programs: usize) -> usize {
        match self.options.limit {
            Some(0) => usize::MAX,
            Some(limit) => limit,
            None if self.options.format.0.is_for_people => for_people,
            None => for_programs,
        }
    }

    /// Writes a finding in the format that was asked for, and to standard error what that has no place for.
    pub fn write(&self, finding: &Finding) -> Result<Outcome, Trouble> {
        let mut out = BufWriter::new(io::stdout().lock());
        let notes = self.output().write(finding, &mut out)?;
        out.flush()?;
        notes.iter().for_each(|note| warn(note));
        Ok(if finding.is_damaged() { Outcome::Damaged } else { Outcome::Complete })
    }

    /// What renders findings.
    pub fn output(&self) -> Box<dyn Output> {
        self.options.format.0.output(&self.screen)
    }

    pub fn window(&self, source: &mut impl Source) -> Result<Window, Trouble> {
        let Common { since, until, .. } = self.options;
        let [since, until] = self.moments([*since, *until], source)?;
        let window = Window { since, until };
        match (window.since, window.until) {
            (Some(since), Some(until)) if since > until => {
                Err(Trouble::Usage("--since is later than --until".into()))
            }
            _ => Ok(window),
        }
    }

    /// Moments in nanoseconds since 1970; those that are relative to the trace ask for its span.
    pub fn moments<const N: usize>(
        &self,
        moments: [Option<Moment>; N],
        source: &mut impl Source,
    ) -> Result<[Option<i64>; N], Trouble> {
        let needs_span = moments.iter().flatten().any(|moment| moment.needs_span());
        let span = if needs_span { source.span()? } else { None };
        let span = span.unwrap_or(0..=0);
        Ok(moments.map(|moment| moment.map(|moment| moment.resolve(&span, &self.screen.zone))))
    }
}

/// The traces that were given, or else the newest one that LTTng recorded.
fn traces(given: &[PathBuf]) -> Result<Vec<PathBuf>, Trouble> {
    if !given.is_empty() {
        return Ok(given.to_vec());
    }
    let recordings = recordings().unwrap_or_else(|| "lttng-traces".into());
    let Some(newest) = newest(&recordings) else {
        return Err(Trouble::Usage(format!(
            "no trace found in {}: name a folder that contains one (see ltt-top --help)",
            recordings.display()
        )));
    };
    tell(&format!("reading {}", escape::text(&newest.to_string_lossy())));
    Ok(vec![newest])
}

/// The maximum width of lines: from the environment, or that of the terminal.
fn width() -> Option<usize> {
    let given = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let terminal = || terminal_size::terminal_size_of(io::stdout());
    given.filter(|&columns| columns > 0).or_else(|| terminal().map(|(width, _)| width.0.into()))
}
