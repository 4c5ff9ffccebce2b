//! The thread that receives one session: it connects, attaches, asks for what there is, and connects again.
//!
//! The protocol has no call that waits, so streams are asked [in turns](crate::attachment), and after a turn that brought
//! nothing there is a pause of a fraction of the session's live timer. New streams are asked for in every turn, whether the
//! relay says that there are any or not: packets wait for that (see [`inbox`](crate::inbox)).

use std::collections::HashSet;
use std::net::TcpStream;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::attachment::{Attachment, Ending};
use crate::connection::Connection;
use crate::inbox::Inbox;
use crate::protocol::{AttachReply, Session};
use crate::received::Received;
use crate::{Error, Options, Seek, State, Status, Url};

/// The pause before connecting again, the first time and at most.
const RETRY: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(2)];

/// Receives one session into the inbox.
pub struct Receiver {
    received: Received,
    options: Options,
    /// The connection that is open, to be shut down from outside.
    handle: Arc<Mutex<Option<TcpStream>>>,
}

impl Receiver {
    pub fn new(
        inbox: Arc<Inbox>,
        lane: usize,
        url: Url,
        options: Options,
        handle: Arc<Mutex<Option<TcpStream>>>,
    ) -> Receiver {
        let session = inbox.add_session(lane, Status::new(&url, State::Connecting));
        Receiver { received: Received::new(inbox, session, url), options, handle }
    }

    /// Receives until the session ends or the inbox is closed, and says so if it fails by a panic.
    pub fn run(mut self) {
        report_panic(
            &Arc::clone(&self.received.inbox),
            self.received.session,
            &self.received.url.clone(),
            || {
                self.receive_all();
            },
        );
    }

    fn receive_all(&mut self) {
        let mut retry = RETRY[0];
        let mut lost_at: Option<Instant> = None;
        loop {
            let error = match self.receive(&mut retry) {
                Ok(Ending::Session) => return self.end(State::Ended),
                Ok(Ending::Interruption) => return self.end(State::Interrupted),
                Ok(Ending::Closed) => return,
                Err(error) => error,
            };
            // A relay that is not understood before it has delivered anything will not be understood later.
            if matches!(error, Error::Protocol(_)) && self.received.is_empty() {
                return self.end(State::Failed(error.to_string()));
            }
            // A connection that brought nothing is the same loss as before.
            if retry == RETRY[0] {
                lost_at = None;
            }
            let since = *lost_at.get_or_insert_with(Instant::now);
            let Received { inbox, session, url, .. } = &self.received;
            inbox.set_status(*session, Status::new(url, State::Lost(error.to_string())));
            if since.elapsed() >= self.options.patience {
                self.received.leave_all_but(&HashSet::new());
            }
            if self.received.inbox.pause(retry) {
                return;
            }
            retry = (retry * 2).min(RETRY[1]);
        }
    }

    fn end(&self, state: State) {
        let Received { inbox, session, url, .. } = &self.received;
        inbox.end_session(*session, Status::new(url, state));
    }

    /// Connects, attaches, and receives until the session or the connection ends.
    fn receive(&mut self, retry: &mut Duration) -> Result<Ending, Error> {
        let Received { inbox, session: number, url, .. } = &self.received;
        let mut connection = Connection::open(url, self.options.timeout)?;
        *self.handle.lock().unwrap_or_else(PoisonError::into_inner) = Some(connection.handle()?);
        if inbox.is_closing() {
            return Ok(Ending::Closed);
        }
        let sessions = connection.sessions()?;
        let session = newest(sessions, url).ok_or_else(|| Error::protocol("no such session"))?;
        // What was missed while the connection was lost comes again, and what was received is skipped.
        let streams = match connection.attach(session.id, self.options.seek)? {
            AttachReply::Streams(streams) => streams,
            AttachReply::Taken => {
                return Err(Error::protocol(
                    "another viewer is attached to the session, and a relay shows it to one at a time: end that one \
                 (perhaps a service, `ltt-top live --metrics`), or look at its metrics",
                ));
            }
            AttachReply::Unknown => return Err(Error::protocol("no such session")),
        };
        *retry = RETRY[0];
        let live_timer = session.live_timer;
        inbox.set_status(*number, Status { live_timer, ..Status::new(url, State::Attached) });
        let timer = live_timer.unwrap_or_default();
        let mut attachment = Attachment::new(connection, session.id, timer, self.options.patience);
        attachment.add_streams(streams, &self.received)?;
        if self.options.seek == Seek::Now || !self.received.is_empty() {
            attachment.ignore_earlier_streams();
        }
        attachment.receive(&mut self.received)
    }
}

/// Does the work of receiving a session. If that panics, the session has failed.
fn report_panic(inbox: &Inbox, session: usize, url: &Url, work: impl FnOnce()) {
    // What the work leaves behind is not looked at.
    if let Err(panic) = std::panic::catch_unwind(AssertUnwindSafe(work)) {
        let words = panic.downcast_ref::<String>().map(String::as_str);
        let words = words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it panicked");
        let reason = format!("the receiver failed, which is a bug in lttng-live: {words}");
        inbox.end_session(session, Status::new(url, State::Failed(reason)));
    }
}

/// The newest session that an address names.
fn newest(sessions: Vec<Session>, url: &Url) -> Option<Session> {
    let fits = |part: &Option<String>, name: &str| part.as_deref().is_none_or(|part| part == name);
    let named = sessions
        .into_iter()
        .filter(|session| fits(&url.hostname, &session.hostname) && fits(&url.session, &session.name));
    named.max_by_key(|session| session.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receiver_that_panics_has_failed_and_its_traces_are_complete() {
        let inbox = Inbox::default();
        let url: Url = "net://localhost/demo".parse().unwrap();
        let session = inbox.add_session(0, Status::new(&url, State::Attached));
        let trace = inbox.add_trace(session, "trace".into());
        report_panic(&inbox, session, &url, || panic!("{} went wrong", "something"));
        let reason = "the receiver failed, which is a bug in lttng-live: something went wrong";
        assert_eq!(inbox.statuses()[session].state, State::Failed(reason.into()));
        assert!(inbox.is_complete(trace));
    }
}
