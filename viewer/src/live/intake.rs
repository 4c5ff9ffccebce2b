//! From live sessions to events, in time order as far as the sessions were asked for it.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ctf_reader::{EventClass, InOrder, Pause, Report, Window};
use lttng_live::{Live, State};

use ltt_analysis::live::{Audience, SessionFinding};

/// How long events are passed on before the caller gets a turn.
const TURN: Duration = Duration::from_millis(50);

/// The number of events between two looks at the clock.
const EVENTS: usize = 1024;

/// Why a session was interrupted.
const INTERRUPTED: &str = "it was not stopped, so its last events are missing: its session daemon died, or the relay's disk is full";

/// The result of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// There may be more.
    Open,
    /// There are no more events, or the audience wants no more.
    Over,
}

/// Live sessions, merged and passed to an audience.
pub struct Intake<'a, A> {
    live: Live,
    merge: InOrder<'a>,
    audience: Rc<RefCell<A>>,
    /// The host of each trace.
    hosts: Rc<RefCell<Vec<Option<String>>>>,
    /// Whether a session has buffers for each process.
    has_process_buffers: bool,
    /// Whether there may be events that can be merged already.
    has_more: bool,
}

impl<'a, A: Audience + 'a> Intake<'a, A> {
    /// Passes the events of sessions to an audience.
    pub fn new(live: Live, window: Window, audience: A) -> Self {
        let (audience, hosts) = (Rc::new(RefCell::new(audience)), Rc::new(RefCell::new(Vec::new())));
        let (asked, host_of_trace) = (Rc::clone(&audience), Rc::clone(&hosts));
        let want = move |class: &Arc<EventClass>| {
            let hosts: std::cell::Ref<'_, Vec<Option<String>>> = host_of_trace.borrow();
            let host = hosts.get(class.trace).and_then(Option::as_deref);
            asked.borrow_mut().class(class, host)
        };
        let mut merge = live.merge(window, want);
        if let Some(digester) = audience.borrow().digester() {
            merge = merge.with_digester(digester);
        }
        Intake { live, merge, audience, hosts, has_process_buffers: false, has_more: false }
    }

    /// Waits for events, at most this long, and passes them on.
    pub fn turn(&mut self, patience: Duration) -> Turn {
        let patience = if self.has_more { Duration::ZERO } else { patience };
        let hosts = &self.hosts;
        let has_process_buffers = &mut self.has_process_buffers;
        self.live.feed(&mut self.merge, patience, |name, url| {
            hosts.borrow_mut().push(url.hostname.clone());
            // Where a relay keeps them: `…/ust/pid/NAME-PID-TIME/64-bit`.
            *has_process_buffers |= name.components().any(|part| part.as_os_str() == "pid");
        });
        for gap in self.merge.new_gaps() {
            self.audience.borrow_mut().gap(gap);
        }
        let begin = Instant::now();
        self.has_more = true;
        while begin.elapsed() < TURN {
            let mut is_enough = false;
            let pause = self.merge.next_digests(EVENTS, |event| {
                let wish = self.audience.borrow_mut().event(event);
                is_enough |= wish.is_break();
                wish
            });
            match pause {
                Pause::Enough if is_enough => return Turn::Over,
                Pause::Enough => {}
                Pause::Wait => {
                    self.has_more = false;
                    return Turn::Open;
                }
                Pause::End => return Turn::Over,
            }
        }
        Turn::Open
    }

    /// Accesses the audience.
    pub fn with_audience<T>(&self, look: impl FnOnce(&mut A) -> T) -> T {
        look(&mut self.audience.borrow_mut())
    }

    /// What has been read so far.
    pub fn report(&self) -> Report {
        self.merge.report()
    }

    /// The watermark, before which no more events will arrive: nanoseconds since 1970. If hosts do not wait for each
    /// other, that of the one that is furthest ahead.
    pub fn watermark(&self) -> Option<i64> {
        self.live.watermarks(&self.merge).into_iter().flatten().max()
    }

    /// Whether a session has buffers for each process. A relay does not show what it has of a process that ends before a
    /// viewer has asked for its streams, and does not say so, either.
    pub fn has_process_buffers(&self) -> bool {
        self.has_process_buffers
    }

    /// How the sessions are doing.
    pub fn sessions(&self) -> Vec<SessionFinding> {
        let statuses = self.live.statuses().into_iter().zip(self.live.watermarks(&self.merge));
        let session = statuses.map(|(status, time_ns)| {
            let (state, reason) = match status.state {
                State::Connecting => ("connecting", None),
                State::Attached => ("attached", None),
                State::Lost(reason) => ("lost", Some(reason)),
                State::Ended => ("ended", None),
                State::Interrupted => ("interrupted", Some(INTERRUPTED.to_owned())),
                State::Failed(reason) => ("failed", Some(reason)),
                other => ("unknown", Some(format!("{other:?}"))),
            };
            let (url, unseen_streams) = (status.url.to_string(), status.unseen_streams);
            SessionFinding { url, host: status.url.hostname, state, reason, time_ns, unseen_streams }
        });
        session.collect()
    }
}
