//! How to receive.

use std::time::Duration;

/// How to receive.
///
/// ```
/// use std::time::Duration;
///
/// use lttng_live::Options;
///
/// let impatient = Options::default().with_timeout(Duration::from_millis(100));
/// assert!(impatient.timeout < Options::default().timeout);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Where to begin.
    pub seek: Seek,
    /// How long to wait for a reply; a long one has a second more for each MiB.
    pub timeout: Duration,
    /// How long others wait for a stream or a relay that says nothing, at least. It is four times the session's live
    /// timer if that is longer.
    pub patience: Duration,
    /// Among which events there is an order.
    pub order: Order,
}

impl Default for Options {
    fn default() -> Options {
        let (timeout, patience) = (Duration::from_secs(5), Duration::from_secs(3));
        Options { seek: Seek::Beginning, timeout, patience, order: Order::Total }
    }
}

impl Options {
    /// With another beginning.
    pub fn with_seek(self, seek: Seek) -> Options {
        Options { seek, ..self }
    }

    /// With another time to wait for a reply.
    pub fn with_timeout(self, timeout: Duration) -> Options {
        Options { timeout, ..self }
    }

    /// With another time for which others wait.
    pub fn with_patience(self, patience: Duration) -> Options {
        Options { patience, ..self }
    }

    /// With another order.
    pub fn with_order(self, order: Order) -> Options {
        Options { order, ..self }
    }
}

/// Among which events there is an order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// Among all: events wait until those of all hosts up to their time have arrived.
    #[default]
    Total,
    /// Among those of each host: a host whose relay hangs holds up no other.
    Host,
}

/// Where to begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Seek {
    /// With all that the relay has of the session.
    #[default]
    Beginning,
    /// With what is recorded from now on.
    Now,
}
