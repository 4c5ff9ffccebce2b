//! `ltt-top live` and `ltt-top events --follow`: events while they are recorded.

mod follow;
mod plain;
mod screen;
mod signals;
mod targets;

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::time::Duration;

use ctf_reader::Window;
use ltt_top::filter::Moment;
use lttng_live::{Live, Options, Seek};

use crate::cli::{Command, Common, Format, LiveOptions};
use crate::job::{Invocation, Outcome, Trouble};
use crate::record::LiveRecording;
use targets::{SessionChoice, targets};

pub use follow::run as follow;
pub use signals::Ending;

/// Shows what is slow right now.
pub fn run(command: &Command, options: &LiveOptions) -> Result<Outcome, Trouble> {
    let job = Invocation::live(&options.top.common);
    let ending = if options.enable.is_empty() { Ending::listen()? } else { Ending::listen_patiently()? };
    // It lasts until all is said, and whatever it created goes with it.
    let recording = match &options.enable[..] {
        [] => None,
        events => Some(LiveRecording::start(events)?),
    };
    let Some(live) = attach(&job, options, recording.as_ref())? else { return Ok(Outcome::Complete) };
    let is_screen =
        io::stdout().is_terminal() && !options.plain && options.top.common.format == Format::Table;
    match is_screen {
        true => screen::run(command, options, &job, live, &ending),
        false => plain::run(command, options, &job, live, &ending),
    }
}

/// Begins to receive the sessions that are asked for. If it is not clear which, says which ones there are.
fn attach(
    job: &Invocation<'_>,
    options: &LiveOptions,
    recording: Option<&LiveRecording>,
) -> Result<Option<Live>, Trouble> {
    let seek = if options.from_now { Seek::Now } else { Seek::Beginning };
    let url = recording.map(|recording| PathBuf::from(recording.url.to_string()));
    if url.is_some() && !job.options.traces.is_empty() {
        return Err(Trouble::Usage("--enable records on this machine: leave the URL out".into()));
    }
    let urls: Vec<PathBuf> = url.into_iter().chain(job.options.traces.iter().cloned()).collect();
    receive(&urls, &Options { seek, ..Options::default() })
}

fn receive(urls: &[PathBuf], options: &Options) -> Result<Option<Live>, Trouble> {
    match targets(urls, options)? {
        SessionChoice::Chosen(urls) => Ok(Some(Live::start(urls, options))),
        SessionChoice::Several(list) => {
            println!("{list}");
            Ok(None)
        }
    }
}

/// The window that is asked for. A trace that is being recorded has no end yet, and its beginning may come late.
fn window(options: &Common, job: &Invocation<'_>) -> Result<Window, Trouble> {
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
