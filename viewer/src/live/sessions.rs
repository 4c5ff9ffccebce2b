//! The sessions that are watched: which, from when on, and how they ended.

use std::io::{self, Write};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use ctf_reader::Window;
use ltt_analysis::filter::Moment;
use ltt_analysis::live::SessionFinding;
use ltt_analysis::text::amount::counted;
use lttng_live::{Live, Options};

use super::targets::{SessionChoice, choose};
use crate::cli::Common;
use crate::invocation::Invocation;
use crate::outcome::{Outcome, Trouble, tell, warn};

/// The time from one look for a session to the next.
const PAUSE: Duration = Duration::from_millis(200);

/// Begins to receive the sessions at these URLs. Where it is not clear which are meant, lists those that there are.
///
/// `waits` says whether to go on waiting for a session that does not exist yet.
pub fn receive(
    urls: &[PathBuf],
    options: &Options,
    waits: &dyn Fn() -> bool,
) -> Result<Option<Live>, Trouble> {
    let mut is_told = false;
    let chosen = loop {
        match choose(urls, options) {
            Err(Trouble::Failed(reason)) if waits() => {
                if !std::mem::replace(&mut is_told, true) {
                    tell(&format!("waiting: {reason}"));
                }
                thread::sleep(PAUSE);
            }
            chosen => break chosen?,
        }
    };
    match chosen {
        SessionChoice::Chosen(urls) => Ok(Some(Live::start(urls, options))),
        SessionChoice::Several(list) => {
            writeln!(io::stdout(), "{list}")?;
            Ok(None)
        }
    }
}

/// The window that is asked for. A trace that is being recorded has no end yet, and its beginning may come late.
pub fn window(options: &Common, invocation: &Invocation<'_>) -> Result<Window, Trouble> {
    let moment = |name: &str, moment: Option<Moment>| match moment {
        Some(moment) if moment.needs_span() => Err(Trouble::Usage(format!(
            "{name}: a live session has no beginning or end to count from: write a date and a time"
        ))),
        moment => Ok(moment.map(|moment| moment.resolve(&(0..=0), &invocation.screen.zone))),
    };
    Ok(Window { since: moment("--since", options.since)?, until: moment("--until", options.until)? })
}

/// How the sessions ended: fails if one could not be received, and warns of what is missing.
pub fn ending(sessions: &[SessionFinding]) -> Result<Outcome, Trouble> {
    let mut outcome = Outcome::Complete;
    for SessionFinding { url, state, reason, unseen_streams, .. } in sessions {
        let reason = reason.as_deref().unwrap_or_default();
        match *state {
            "failed" => return Err(Trouble::Failed(format!("{url}: {reason}"))),
            "lost" => warn(&format!("{url} was lost: {reason}")),
            "interrupted" => {
                warn(&format!("{url} was interrupted: {reason}"));
                outcome = Outcome::Damaged;
            }
            _ => {}
        }
        if *unseen_streams > 0 {
            warn(&format!(
                "{url}: the relay closed {} of processes that ended before they could be read, and their events are \
                 missing: create the channel with --buffers-uid",
                counted(*unseen_streams, "stream")
            ));
            outcome = Outcome::Damaged;
        }
    }
    Ok(outcome)
}
