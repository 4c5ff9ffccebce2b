//! `ltt-top live` and `ltt-top events --follow`: events while they are recorded.

mod follow;
mod plain;
mod screen;
mod signals;
mod targets;

use std::io::{self, IsTerminal};
use std::time::Duration;

use ctf_reader::Window;
use ltt_top::filter::Moment;
use lttng_live::{Live, Options, Seek};

use crate::cli::{Command, Common, Format, LiveOptions};
use crate::job::{Job, Outcome, Trouble};
use targets::{Targets, targets};

pub use follow::run as follow;

/// Shows what is slow right now.
pub fn run(command: &Command, options: &LiveOptions) -> Result<Outcome, Trouble> {
    let job = Job::live(&options.common);
    let Some(live) = attach(&job, options.from_now)? else { return Ok(Outcome::Complete) };
    let is_screen =
        io::stdout().is_terminal() && !options.plain && options.common.format == Format::Table;
    if is_screen { screen::run(command, options, &job, live) } else { plain::run(command, options, &job, live) }
}

/// Begins to receive the sessions that are asked for. If it is not clear which, says which ones there are.
fn attach(job: &Job<'_>, from_now: bool) -> Result<Option<Live>, Trouble> {
    let seek = if from_now { Seek::Now } else { Seek::Beginning };
    let options = Options { seek, ..Options::default() };
    match targets(&job.options.traces, &options)? {
        Targets::Chosen(urls) => Ok(Some(Live::start(urls, &options))),
        Targets::Several(list) => {
            println!("{list}");
            Ok(None)
        }
    }
}

/// The window that is asked for. A trace that is being recorded has no end yet, and its beginning may come late.
fn window(options: &Common, job: &Job<'_>) -> Result<Window, Trouble> {
    let moment = |name: &str, moment: Option<Moment>| match moment {
        Some(moment) if moment.needs_span() => {
            Err(Trouble::Usage(format!("{name}: what is live has no span: write a date and a time")))
        }
        moment => Ok(moment.map(|moment| moment.resolve(&(0..=0), &job.screen.zone))),
    };
    Ok(Window { since: moment("--since", options.since)?, until: moment("--until", options.until)? })
}

/// A length of time that was given on the command line.
fn length(nanoseconds: u64) -> Duration {
    Duration::from_nanos(nanoseconds)
}
