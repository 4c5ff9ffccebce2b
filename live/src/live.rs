//! Sessions that are received at the same time.

use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use ctf_reader::{EventClass, InOrder, Wanted, Window};

use crate::connection::Connection;
use crate::inbox::Inbox;
use crate::protocol::Session;
use crate::receiver::Receiver;
use crate::source::LiveTrace;
use crate::{Error, Options, Order, Status, Url};

/// Asks a relay which sessions it has.
pub fn sessions(relay: &Url, options: &Options) -> Result<Vec<Session>, Error> {
    Connection::open(relay, options.timeout)?.sessions()
}

/// Sessions that are received, each by a thread. Dropping it ends them.
///
/// A merge hands out their events, and ends when all sessions have ended and all that they sent was handed out:
///
/// ```no_run
/// use std::time::Duration;
///
/// use ctf_reader::{Step, Window, all_fields};
/// use lttng_live::{Live, Options};
///
/// let mut live = Live::start(vec!["net://localhost/host/web-1/checkout".parse()?], &Options::default());
/// let mut events = live.merge(Window::default(), all_fields);
/// loop {
///     match events.next_event() {
///         Step::Event(event) => println!("{} {}", event.timestamp(), event.class().name),
///         Step::Wait => live.feed(&mut events, Duration::from_millis(100), |_, _| {}),
///         Step::End => break,
///     }
/// }
/// # Ok::<(), lttng_live::Error>(())
/// ```
#[derive(Debug)]
pub struct Live {
    inbox: Arc<Inbox>,
    threads: Vec<JoinHandle<()>>,
    /// The connections that are open.
    handles: Vec<Arc<Mutex<Option<TcpStream>>>>,
    /// The number of traces that have been handed out.
    traces: usize,
}

impl Live {
    /// Begins to receive sessions. Each address should name one session; where several fit, the newest is taken.
    pub fn start(urls: Vec<Url>, options: &Options) -> Live {
        let inbox = Arc::new(Inbox::default());
        let mut live = Live { inbox, threads: Vec::new(), handles: Vec::new(), traces: 0 };
        let mut hosts: Vec<Option<String>> = Vec::new();
        for url in urls {
            let handle = Arc::default();
            let lane = match options.order {
                Order::Total => 0,
                Order::Host => {
                    let known = hosts.iter().position(|host| host.is_some() && *host == url.hostname);
                    known.unwrap_or_else(|| {
                        hosts.push(url.hostname.clone());
                        hosts.len() - 1
                    })
                }
            };
            let inbox = Arc::clone(&live.inbox);
            let receiver = Receiver::new(inbox, lane, url, options.clone(), Arc::clone(&handle));
            live.handles.push(handle);
            live.threads.push(std::thread::spawn(|| receiver.run()));
        }
        live
    }

    /// Waits until something has arrived since the last time, and not longer than this. Returns whether it has.
    pub fn wait(&self, time: Duration) -> bool {
        self.inbox.wait(time)
    }

    /// For each session, in the order of [`statuses`](Live::statuses), the time before which nothing more is to come from its
    /// host, or from any if there is an order among all.
    pub fn watermarks(&self, merge: &InOrder<'_>) -> Vec<Option<i64>> {
        self.inbox.lanes().into_iter().map(|lane| merge.watermark_of(lane)).collect()
    }

    /// How each session is doing.
    pub fn statuses(&self) -> Vec<Status> {
        self.inbox.statuses()
    }

    /// A merge of the sessions, which is empty until it is [fed](Live::feed). `want` says for each event class which fields to
    /// decode.
    pub fn merge<'m>(
        &self,
        window: Window,
        want: impl FnMut(&Arc<EventClass>) -> Option<Wanted> + 'm,
    ) -> InOrder<'m> {
        let mut merge = InOrder::new(Vec::new(), window, want);
        merge.expect_sources(true);
        merge
    }

    /// Lets a merge have what has arrived. If nothing has since the last time, waits for that, and not longer than this.
    ///
    /// A session may have several traces: one for each process or user that is traced. `new_trace` is called with the
    /// name that the relay has for each that has come, and its session, before the merge gets it. Call this after [`Step::Wait`](ctf_reader::Step::Wait),
    /// and from time to time while events never end.
    pub fn feed(&mut self, merge: &mut InOrder<'_>, time: Duration, mut new_trace: impl FnMut(&Path, &Url)) {
        // Asked before anything is taken: if nothing more was to arrive then, the merge gets all there is.
        let is_over = self.inbox.statuses().iter().all(|status| status.state.is_over());
        self.inbox.wait(if is_over { Duration::ZERO } else { time });
        for (name, url, lane) in self.inbox.traces_from(self.traces) {
            new_trace(&name, &url);
            let trace = LiveTrace { inbox: Arc::clone(&self.inbox), number: self.traces };
            self.traces += 1;
            merge.add_source_to(lane, name, Box::new(trace));
        }
        merge.look_for_more();
        merge.expect_sources(!is_over);
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.inbox.close();
        for handle in &self.handles {
            // Ends the wait of a thread for a reply.
            if let Some(stream) = &*handle.lock().unwrap_or_else(PoisonError::into_inner) {
                _ = stream.shutdown(Shutdown::Both);
            }
        }
        for thread in self.threads.drain(..) {
            _ = thread.join();
        }
    }
}
