//! Sessions that are received at the same time.

use std::net::{Shutdown, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use ctf_reader::PacketSource;

use crate::connection::Connection;
use crate::inbox::Inbox;
use crate::protocol::Session;
use crate::receiver::Receiver;
use crate::source::LiveTrace;
use crate::{Error, Options, Status, Url};

/// Asks a relay which sessions it has.
pub fn sessions(relay: &Url, options: &Options) -> Result<Vec<Session>, Error> {
    Connection::open(relay, options.timeout)?.sessions()
}

/// A trace that has come.
pub struct NewTrace {
    /// Its name in messages.
    pub name: PathBuf,
    /// The session that it is part of.
    pub url: Url,
    /// Its packets, for [`InOrder::add_source`](ctf_reader::InOrder::add_source).
    pub source: Box<dyn PacketSource>,
}

/// Sessions that are received, each by a thread. Dropping it ends them.
///
/// ```no_run
/// use std::time::Duration;
///
/// use ctf_reader::{InOrder, Step, Window, all_fields};
/// use lttng_live::{Live, Options};
///
/// let mut live = Live::start(vec!["net://localhost/host/web-1/checkout".parse()?], &Options::default());
/// let mut events = InOrder::new(Vec::new(), Window::default(), all_fields);
/// while !live.is_over() {
///     live.wait(Duration::from_millis(100));
///     live.new_traces().into_iter().for_each(|trace| events.add_source(trace.name, trace.source));
///     events.look_for_more();
///     while let Step::Event(event) = events.step() {
///         println!("{} {}", event.timestamp(), event.class().name);
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
        for url in urls {
            let handle = Arc::default();
            let receiver = Receiver::new(live.inbox.clone(), url, options.clone(), Arc::clone(&handle));
            live.handles.push(handle);
            live.threads.push(std::thread::spawn(|| receiver.run()));
        }
        live
    }

    /// Waits until something has arrived since the last time, and not longer than this. Returns whether it has.
    pub fn wait(&self, time: Duration) -> bool {
        self.inbox.wait(time)
    }

    /// How each session is doing.
    pub fn statuses(&self) -> Vec<Status> {
        self.inbox.statuses()
    }

    /// Whether nothing more will arrive. What has arrived may not have been taken yet.
    pub fn is_over(&self) -> bool {
        self.inbox.statuses().iter().all(|status| status.state.is_over())
    }

    /// The traces that have come since the last call: for each process or user that is traced. A merge takes them.
    pub fn new_traces(&mut self) -> Vec<NewTrace> {
        let traces = self.inbox.traces_from(self.traces);
        let traces = traces.into_iter().map(|(name, url)| {
            let trace = LiveTrace { inbox: Arc::clone(&self.inbox), number: self.traces };
            self.traces += 1;
            NewTrace { name, url, source: Box::new(trace) }
        });
        traces.collect()
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
