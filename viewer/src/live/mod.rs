//! `ltt-top live` and `ltt-top events --follow`: events while they are recorded.

mod follow;
mod http;
mod intake;
mod metrics;
mod plain;
mod screen;
mod sessions;
mod targets;

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::view::FORMATS;
use ltt_analysis::samples::SampleQueue;
use lttng_live::{Live, Options, Order, Seek, Url};

use crate::cli::LiveOptions;
use crate::invocation::Invocation;
use crate::outcome::{Outcome, Trouble, warn};
use crate::record::{LiveRecording, LocalDaemon};
use crate::signals::StopSignal;

use metrics::MetricsServer;

pub use follow::run as follow;

/// How long output that is blocked may keep us from ending after a signal to stop.
const GRACE: Duration = Duration::from_secs(3);

/// A recording that is watched, until it is ended.
type Kept = Arc<Mutex<Option<LiveRecording>>>;

/// Shows what is slow right now.
pub fn run(options: &LiveOptions) -> Result<Outcome, Trouble> {
    let invocation = Invocation::live(&options.top.common);
    if !options.enable.is_empty() && !invocation.options.traces.is_empty() {
        return Err(Trouble::Usage("--enable records on this machine: leave the URL out".into()));
    }
    // Before anything is started that would have to be stopped.
    let awaited = match (&options.enable[..], &invocation.options.traces[..]) {
        ([], []) => vec![PathBuf::from(Url::local().to_string())],
        (_, urls) => urls.to_vec(),
    };
    let metrics = options.metrics.map(|address| MetricsServer::start(address, &awaited)).transpose()?;
    let stop =
        if options.enable.is_empty() { StopSignal::listen()? } else { StopSignal::listen_patiently()? };
    let recording = match &options.enable[..] {
        [] => None,
        events => {
            let pid = invocation.options.pid.and_then(|pid| u32::try_from(pid).ok());
            Some(LiveRecording::start(events, pid, options.clean, !options.no_samples, &stop)?)
        }
    };
    let url = recording.as_ref().map(|recording| PathBuf::from(recording.url.to_string()));
    let samples = recording.as_ref().map_or_else(SampleQueue::default, LiveRecording::samples);
    let kept: Kept = Arc::new(Mutex::new(recording));
    let is_done = guard(&stop, &kept);
    let mut daemon = None;
    let outcome = attach(&invocation, options, url, &stop).and_then(|live| {
        let Some(live) = live else { return Ok(Outcome::Complete) };
        daemon = LocalDaemon::of(live.statuses().into_iter().filter_map(|status| status.url.hostname));
        match is_screen(options) {
            true => screen::run(options, &invocation, live, samples, &stop, metrics.as_ref()),
            false => plain::run(options, &invocation, live, samples, &stop, metrics.as_ref()),
        }
    });
    is_done.store(true, Ordering::Relaxed);
    // Whatever it created goes with it.
    let recording = lock(&kept).take();
    let failure = recording.as_ref().and_then(LiveRecording::failure);
    drop(recording);
    let failure = failure.or_else(|| daemon.filter(|_| options.enable.is_empty())?.failure());
    match (outcome, failure) {
        (Ok(_), Some(reason)) => {
            warn(&format!("the recording ended early: {reason}"));
            Ok(Outcome::Damaged)
        }
        (outcome, _) => outcome,
    }
}

/// Whether to fill the screen.
fn is_screen(options: &LiveOptions) -> bool {
    let has_screen = std::env::var("TERM").is_ok_and(|terminal| !terminal.is_empty() && terminal != "dumb");
    io::stdout().is_terminal()
        && has_screen
        && !options.plain
        && options.top.common.format.0.name == FORMATS[0].name
}

/// Ends the recording and the process after a signal, if blocked output keeps the process from ending by itself.
fn guard(stop: &StopSignal, kept: &Kept) -> Arc<AtomicBool> {
    let is_done = Arc::new(AtomicBool::new(false));
    let (stop, kept, is_ended) = (stop.clone(), Arc::clone(kept), Arc::clone(&is_done));
    thread::spawn(move || {
        while !stop.is_set() {
            thread::sleep(Duration::from_millis(50));
        }
        thread::sleep(GRACE);
        if is_ended.load(Ordering::Relaxed) {
            return;
        }
        // The terminal's mode can be reset even if nothing can be written to it.
        _ = ratatui::crossterm::terminal::disable_raw_mode();
        drop(lock(&kept).take());
        std::process::exit(0);
    });
    is_done
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Begins to receive the sessions that are asked for.
fn attach(
    invocation: &Invocation<'_>,
    options: &LiveOptions,
    url: Option<PathBuf>,
    stop: &StopSignal,
) -> Result<Option<Live>, Trouble> {
    let seek = if options.from_now { Seek::Now } else { Seek::Beginning };
    let urls: Vec<PathBuf> = url.into_iter().chain(invocation.options.traces.iter().cloned()).collect();
    let waits = || options.wait && !stop.is_set();
    // Figures need no order, and incidents only that of their host.
    let how = Options::default().with_seek(seek).with_order(Order::Host);
    match sessions::receive(&urls, &how, &waits) {
        // A signal ends the wait, as it ends watching.
        Err(Trouble::Failed(_)) if options.wait && stop.is_set() => Ok(None),
        received => received,
    }
}
