//! What each command asks of the traces, and how the answer is written: one pipeline for all of them.

use std::io::{self, BufWriter, Write};
use std::sync::Arc;

use ctf_reader::Progress;
use ltt_top::analysis::histogram::Quantile;
use ltt_top::analysis::{Finding, Question, Reading, Rule, Selection, Sort};
use ltt_top::source::AnySource;
use ltt_top::view::{csv, json, notes, progress, table};

use crate::cli::{self, Command, Common, Format, ReportOptions};
use crate::events;
use crate::job::{Job, Outcome, Trouble, warn};
use crate::live;
use crate::record;

/// Runs a command.
pub fn run(command: &Command) -> Result<Outcome, Trouble> {
    let (options, by) = match command {
        Command::Report(options) => (&options.top.common, &options.top.grouping.by),
        Command::Incidents(options) => (&options.common, &None),
        Command::Top(options) => (&options.common, &options.grouping.by),
        Command::Slow(options) => (&options.common, &None),
        Command::Outliers(options) => (&options.common, &options.by),
        Command::Hist(options) => (&options.common, &options.grouping.by),
        Command::Info(options) => (&options.common, &None),
        Command::Events(options) => return events::run(command, options),
        Command::Live(options) => return live::run(command, options),
        Command::Record(options) => {
            let folder = record::run(options)?;
            return run(&Command::Incidents(options.incidents(folder)));
        }
        Command::List(options) => return record::list(options),
        Command::Completions { shell } => {
            cli::completions(*shell, &mut io::stdout().lock());
            return Ok(Outcome::Complete);
        }
        Command::Man { folder } => {
            let unwritable =
                |error| Trouble::Failed(format!("{}: cannot write man pages: {error}", folder.display()));
            return cli::man(folder).map(|()| Outcome::Complete).map_err(unwritable);
        }
    };
    let job = Job::new(options)?;
    let finding = read(&job, &question(&job, command), job.selection(command, by.as_deref())?)?;
    write(&job, &finding)
}

fn question(job: &Job<'_>, command: &Command) -> Question {
    match command {
        Command::Report(ReportOptions { top, rule }) => {
            let sort = top.grouping.sort;
            let quantiles = quantiles(&top.percentiles, sort);
            let limit = job.limit(20, usize::MAX);
            Question::Report { threshold: rule.longer_than, sort, quantiles, limit }
        }
        Command::Incidents(options) => {
            Question::Incidents { threshold: options.rule.longer_than, limit: job.limit(20, 1000) }
        }
        Command::Top(options) => {
            let sort = options.grouping.sort;
            let quantiles = quantiles(&options.percentiles, sort);
            Question::Top { sort, quantiles, limit: job.limit(20, usize::MAX) }
        }
        Command::Slow(_) => Question::Slow { limit: job.limit(20, 20) },
        Command::Outliers(options) => {
            let rule = Rule { probability: options.sensitivity, least_excess_ns: options.min_excess };
            Question::Outliers { rule, slower_than_ns: options.slower_than, limit: job.limit(20, 1000) }
        }
        Command::Hist(options) if options.over_time => {
            let room = |width: usize| width.saturating_sub(table::HEAT_GUTTER);
            let columns = job.screen.width.map_or(100, room);
            Question::Heat { sort: options.grouping.sort, limit: job.limit(3, 3), columns }
        }
        Command::Hist(options) => {
            Question::Hist { sort: options.grouping.sort, limit: job.limit(5, usize::MAX) }
        }
        Command::Info(_)
        | Command::Events(_)
        | Command::Live(_)
        | Command::Record(_)
        | Command::List(_)
        | Command::Completions { .. }
        | Command::Man { .. } => Question::Info { limit: job.limit(20, usize::MAX) },
    }
}

/// Opens the traces and answers the question from what the filters let through.
fn read(job: &Job<'_>, question: &Question, selection: Selection) -> Result<Finding, Trouble> {
    let Common { source, threads, .. } = job.options;
    let mut source = AnySource::open(&job.traces, (*source).into(), threads.map(usize::from))?;
    let window = job.window(&mut source)?;
    let state = Progress::default();
    let mut reading = Reading { source: &mut source, window, progress: &state };
    Ok(progress::shown(&state, || question.answer(&mut reading, &Arc::new(selection)))?)
}

/// Writes the finding in the format that was asked for.
fn write(job: &Job<'_>, finding: &Finding) -> Result<Outcome, Trouble> {
    let mut out = BufWriter::new(io::stdout().lock());
    match job.options.format {
        Format::Table => table::write(finding, &job.screen, &mut out)?,
        Format::Json => json::write(finding, &mut out)?,
        Format::Csv => {
            csv::write(finding, &mut out)?;
            notes::losses(finding.trace()).iter().for_each(|loss| warn(loss));
            let empty = finding.notes().empty.iter();
            empty.for_each(|empty| warn(&notes::empty(empty, &job.screen)));
        }
    }
    out.flush()?;
    let is_damaged = !finding.trace().damage.is_empty();
    Ok(if is_damaged { Outcome::Damaged } else { Outcome::Complete })
}

/// The percentiles to show: those asked for, each once, and the one that groups are ranked by.
pub fn quantiles(asked_for: &[Quantile], sort: Sort) -> Vec<Quantile> {
    let mut quantiles: Vec<Quantile> = Vec::new();
    let ranking = match sort {
        Sort::Percentile(quantile) => Some(quantile),
        _ => None,
    };
    for &quantile in asked_for.iter().chain(&ranking) {
        if !quantiles.contains(&quantile) {
            quantiles.push(quantile);
        }
    }
    quantiles
}
