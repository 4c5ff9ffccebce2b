//! `ltt-top live` and `ltt-top events --follow`: events while they are recorded.

mod follow;
mod plain;
mod screen;
mod sessions;
mod targets;

use std::io::{self, IsTerminal};
use std::path::PathBuf;

use lttng_live::{Live, Options, Seek};

use crate::cli::{Format, LiveOptions};
use crate::invocation::Invocation;
use crate::outcome::{Outcome, Trouble};
use crate::record::LiveRecording;
use crate::signals::StopSignal;

pub use follow::run as follow;

/// Shows what is slow right now.
pub fn run(options: &LiveOptions) -> Result<Outcome, Trouble> {
    let invocation = Invocation::live(&options.top.common);
    let stop =
        if options.enable.is_empty() { StopSignal::listen()? } else { StopSignal::listen_patiently()? };
    // It is dropped last, and whatever it created goes with it.
    let recording = match &options.enable[..] {
        [] => None,
        events => Some(LiveRecording::start(events, &stop)?),
    };
    let Some(live) = attach(&invocation, options, recording.as_ref())? else { return Ok(Outcome::Complete) };
    let is_screen =
        io::stdout().is_terminal() && !options.plain && options.top.common.format == Format::Table;
    match is_screen {
        true => screen::run(options, &invocation, live, &stop),
        false => plain::run(options, &invocation, live, &stop),
    }
}

/// Begins to receive the sessions that are asked for.
fn attach(
    invocation: &Invocation<'_>,
    options: &LiveOptions,
    recording: Option<&LiveRecording>,
) -> Result<Option<Live>, Trouble> {
    let seek = if options.from_now { Seek::Now } else { Seek::Beginning };
    let url = recording.map(|recording| PathBuf::from(recording.url.to_string()));
    if url.is_some() && !invocation.options.traces.is_empty() {
        return Err(Trouble::Usage("--enable records on this machine: leave the URL out".into()));
    }
    let urls: Vec<PathBuf> = url.into_iter().chain(invocation.options.traces.iter().cloned()).collect();
    sessions::receive(&urls, &Options { seek, ..Options::default() })
}
