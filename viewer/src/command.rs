//! What each command asks of the traces, and how the answer is written: one pipeline for all of them.

use std::io::{self, BufWriter, Write};
use std::sync::Arc;

use ctf_reader::Progress;
use ltt_top::analysis::{Finding, Question, Rule, Selection, SourceWindow};
use ltt_top::source::AnySource;
use ltt_top::view::{csv, json, notes, progress, table};

use crate::cli::{
    self, Command, Common, Format, HistOptions, IncidentOptions, InfoOptions, OutlierOptions, ReportOptions,
    SlowOptions, TopOptions,
};
use crate::events;
use crate::invocation::Invocation;
use crate::live;
use crate::outcome::{Outcome, Trouble, warn};
use crate::record;

/// Runs a command.
pub fn run(command: &Command) -> Result<Outcome, Trouble> {
    match command {
        Command::Report(options) => answer(options),
        Command::Incidents(options) => answer(options),
        Command::Top(options) => answer(options),
        Command::Slow(options) => answer(options),
        Command::Outliers(options) => answer(options),
        Command::Hist(options) => answer(options),
        Command::Info(options) => answer(options),
        Command::Events(options) => events::run(options),
        Command::Live(options) => live::run(options),
        Command::Record(options) => answer(&options.incidents(record::run(options)?)),
        Command::List(options) => record::list(options),
        Command::Completions { shell } => {
            cli::completions(*shell, &mut io::stdout().lock());
            Ok(Outcome::Complete)
        }
        Command::Man { folder } => {
            let unwritable =
                |error| Trouble::Failed(format!("{}: cannot write man pages: {error}", folder.display()));
            cli::man(folder).map(|()| Outcome::Complete).map_err(unwritable)
        }
    }
}

/// Options that ask a question.
trait Ask {
    /// The options that all commands have.
    fn common(&self) -> &Common;

    /// The fields to group by, if not those of the catalog.
    fn by(&self) -> Option<&[String]> {
        None
    }

    /// Whether events count that only repeat the duration of another.
    fn with_repeats(&self) -> bool {
        self.common().all
    }

    /// The question.
    fn question(&self, invocation: &Invocation<'_>) -> Question;
}

impl Ask for ReportOptions {
    fn common(&self) -> &Common {
        &self.top.common
    }

    fn by(&self) -> Option<&[String]> {
        self.top.grouping.by.as_deref()
    }

    fn question(&self, invocation: &Invocation<'_>) -> Question {
        Question::Report {
            rule: self.choice.rule(&self.rule),
            sort: self.top.grouping.sort,
            quantiles: self.top.quantiles(),
            limit: invocation.limit(20, usize::MAX),
        }
    }
}

impl Ask for IncidentOptions {
    fn common(&self) -> &Common {
        &self.common
    }

    fn question(&self, invocation: &Invocation<'_>) -> Question {
        Question::Incidents { rule: self.choice.rule(&self.rule), limit: invocation.limit(20, 1000) }
    }
}

impl Ask for TopOptions {
    fn common(&self) -> &Common {
        &self.common
    }

    fn by(&self) -> Option<&[String]> {
        self.grouping.by.as_deref()
    }

    fn question(&self, invocation: &Invocation<'_>) -> Question {
        let limit = invocation.limit(20, usize::MAX);
        Question::Top { sort: self.grouping.sort, quantiles: self.quantiles(), limit }
    }
}

impl Ask for SlowOptions {
    fn common(&self) -> &Common {
        &self.common
    }

    fn question(&self, invocation: &Invocation<'_>) -> Question {
        Question::Slow { limit: invocation.limit(20, 20) }
    }
}

impl Ask for OutlierOptions {
    fn common(&self) -> &Common {
        &self.common
    }

    fn by(&self) -> Option<&[String]> {
        self.by.as_deref()
    }

    fn question(&self, invocation: &Invocation<'_>) -> Question {
        let rule = Rule { probability: self.sensitivity, least_excess_ns: self.min_excess_ns };
        Question::Outliers { rule, slower_than_ns: self.slower_than_ns, limit: invocation.limit(20, 1000) }
    }
}

impl Ask for HistOptions {
    fn common(&self) -> &Common {
        &self.common
    }

    fn by(&self) -> Option<&[String]> {
        self.grouping.by.as_deref()
    }

    fn question(&self, invocation: &Invocation<'_>) -> Question {
        let sort = self.grouping.sort;
        if !self.over_time {
            return Question::Hist { sort, limit: invocation.limit(5, usize::MAX) };
        }
        let room = |width: usize| width.saturating_sub(table::HEAT_GUTTER);
        Question::Heat {
            sort,
            limit: invocation.limit(3, 3),
            columns: invocation.screen.width.map_or(100, room),
        }
    }
}

impl Ask for InfoOptions {
    fn common(&self) -> &Common {
        &self.common
    }

    fn with_repeats(&self) -> bool {
        true
    }

    fn question(&self, invocation: &Invocation<'_>) -> Question {
        Question::Info { limit: invocation.limit(20, usize::MAX) }
    }
}

/// Answers a question from traces.
fn answer(options: &impl Ask) -> Result<Outcome, Trouble> {
    let invocation = Invocation::new(options.common())?;
    let selection = invocation.selection(options.by(), options.with_repeats())?;
    let finding = read(&invocation, &options.question(&invocation), selection)?;
    write(&invocation, &finding)
}

/// Opens the traces and answers the question from what the filters let through.
fn read(invocation: &Invocation<'_>, question: &Question, selection: Selection) -> Result<Finding, Trouble> {
    let Common { source, threads, .. } = invocation.options;
    let mut source = AnySource::open(&invocation.traces, (*source).into(), threads.map(usize::from))?;
    let window = invocation.window(&mut source)?;
    let state = Progress::default();
    let mut input = SourceWindow { source: &mut source, window, progress: &state };
    Ok(progress::shown(&state, || question.answer(&mut input, &Arc::new(selection)))?)
}

/// Writes the finding in the format that was asked for.
fn write(invocation: &Invocation<'_>, finding: &Finding) -> Result<Outcome, Trouble> {
    let mut out = BufWriter::new(io::stdout().lock());
    match invocation.options.format {
        Format::Table => table::write(finding, &invocation.screen, &mut out)?,
        Format::Json => json::write(finding, &mut out)?,
        Format::Csv => {
            csv::write(finding, &mut out)?;
            notes::losses(finding.trace()).iter().for_each(|loss| warn(loss));
            let empty = finding.notes().empty.iter();
            empty.for_each(|empty| warn(&notes::empty(empty, &invocation.screen)));
        }
    }
    out.flush()?;
    let is_damaged = !finding.trace().damage.is_empty();
    Ok(if is_damaged { Outcome::Damaged } else { Outcome::Complete })
}
