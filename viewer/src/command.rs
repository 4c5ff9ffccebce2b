//! What each command asks of the traces, and how the answer is written: one pipeline for all of them.

use std::io;
use std::sync::Arc;

use crate::view::{HEAT_GUTTER, progress};
use ctf_reader::Progress;
use ltt_analysis::outliers::Rule;
use ltt_analysis::text::escape;
use ltt_analysis::{Question, SourceWindow};

use crate::cli::{self, Command, Common, TopOptions};
use crate::compare;
use crate::events;
use crate::export;
use crate::html;
use crate::invocation::Invocation;
use crate::live;
use crate::opening;
use crate::outcome::{Outcome, Trouble, warn};
use crate::record::{self, Recorded};

/// Runs a command.
pub fn run(command: &Command) -> Result<Outcome, Trouble> {
    match command {
        Command::Events(options) => events::run(options),
        Command::Compare(options) => compare::run(options),
        Command::Export(options) => export::run(options),
        Command::Html(options) => html::run(options),
        Command::Live(options) => live::run(options),
        Command::Record(options) => {
            let Recorded { folder, failure } = record::run(options)?;
            let report = run(&Command::Incidents(options.incidents(folder)));
            match (report, failure) {
                (Ok(_), Some(_)) => Ok(Outcome::Damaged),
                (Err(Trouble::Failed(reason)), Some(_)) => {
                    warn(&format!("nothing of the recording can be read: {}", escape::text(&reason)));
                    Ok(Outcome::Damaged)
                }
                (report, _) => report,
            }
        }
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
        Command::Report(options) => {
            answer(&options.top.common, options.top.grouping.by(), |invocation| Question::Report {
                rule: options.choice.rule(&options.rule),
                sort: options.top.grouping.sort,
                quantiles: options.top.quantiles(),
                limit: invocation.limit(20, usize::MAX),
                is_brief: invocation.options.limit.is_none(),
            })
        }
        Command::Incidents(options) => answer(&options.common, None, |invocation| Question::Incidents {
            rule: options.choice.rule(&options.rule),
            limit: invocation.limit(20, 1000),
        }),
        Command::Top(options) => {
            let TopOptions { common, grouping, .. } = &options.top;
            answer(common, grouping.by(), |invocation| Question::Top {
                sort: grouping.sort,
                quantiles: options.top.quantiles(),
                every_ns: options.every.map(|every| every.as_nanos() as u64),
                limit: invocation.limit(if options.every.is_some() { 5 } else { 20 }, usize::MAX),
            })
        }
        Command::Slow(options) => {
            answer(&options.common, None, |invocation| Question::Slow { limit: invocation.limit(20, 20) })
        }
        Command::Outliers(options) => answer(&options.common, options.by.as_deref(), |invocation| {
            let rule = Rule { probability: options.sensitivity, least_excess_ns: options.min_excess_ns };
            let limit = invocation.limit(20, 1000);
            Question::Outliers {
                rule,
                slower_than_ns: options.slower_than_ns,
                in_isolation: options.in_isolation,
                explains: options.explain,
                limit,
            }
        }),
        Command::Hist(options) => answer(&options.common, options.grouping.by(), |invocation| {
            let (sort, width) = (options.grouping.sort, invocation.screen.width);
            match options.over_time {
                false => Question::Hist { sort, limit: invocation.limit(5, usize::MAX) },
                true => Question::Heat {
                    sort,
                    limit: invocation.limit(3, 3),
                    columns: width.map_or(100, |width| width.saturating_sub(HEAT_GUTTER)),
                },
            }
        }),
        Command::Info(options) => answer(&options.common, None, |invocation| Question::Info {
            limit: invocation.limit(20, usize::MAX),
        }),
    }
}

/// Reads the traces, and answers a question from the events that the filters let through.
fn answer(
    options: &Common,
    by: Option<&[String]>,
    question: impl FnOnce(&Invocation<'_>) -> Question<'static>,
) -> Result<Outcome, Trouble> {
    let invocation = Invocation::new(options)?;
    let question = question(&invocation);
    // What a trace contains, it contains however often.
    let with_repeats = options.all || matches!(question, Question::Info { .. });
    let selection = Arc::new(invocation.selection(by, with_repeats)?);
    let mut source = opening::open(options, &invocation.traces)?;
    let window = invocation.window(&mut source)?;
    let state = Progress::default();
    let mut input = SourceWindow { source: &mut source, window, progress: &state };
    let finding = progress::shown(&state, || question.answer(&mut input, &selection))?;
    invocation.write(&finding)
}
