//! How sessions are doing.

use std::time::Duration;

use crate::Url;

/// How a session is doing.
///
/// ```
/// use lttng_live::{Live, Options, State};
///
/// // Nothing listens on this port.
/// let live = Live::start(vec!["net://127.0.0.1:1/demo".parse()?], &Options::default());
/// while !matches!(live.statuses()[0].state, State::Lost(_)) {
///     live.wait(std::time::Duration::from_secs(1));
/// }
/// # Ok::<(), lttng_live::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    /// The session.
    pub url: Url,
    /// What is known of it.
    pub state: State,
    /// How often its tracer closes packets, once that is known.
    pub live_timer: Option<Duration>,
    /// The number of streams that the relay has not shown, as far as that is known: those of processes that ended before
    /// they were asked for. Their events are missing.
    pub unseen_streams: u64,
}

/// What is known of a session.
///
/// ```
/// use lttng_live::State;
///
/// let states = [State::Connecting, State::Attached, State::Lost("no answer in time".into()), State::Ended];
/// assert_eq!(states.iter().filter(|state| state.is_over()).count(), 1);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum State {
    /// The relay has not answered yet.
    Connecting,
    /// It is being received.
    Attached,
    /// The relay went away, for this reason, and is tried again.
    Lost(String),
    /// It was destroyed, and all of it has been received.
    Ended,
    /// It ended without being stopped or destroyed, so its last events are missing: its session daemon has died, or the
    /// relay could not write. A session whose streams all recorded up to that moment cannot be told from one that
    /// [ended](State::Ended).
    Interrupted,
    /// It cannot be received, for this reason.
    Failed(String),
}

impl State {
    /// Whether nothing more will come.
    pub fn is_over(&self) -> bool {
        matches!(self, State::Ended | State::Interrupted | State::Failed(_))
    }
}

impl Status {
    pub(crate) fn new(url: &Url, state: State) -> Status {
        Status { url: url.clone(), state, live_timer: None, unseen_streams: 0 }
    }
}
