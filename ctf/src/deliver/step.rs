//! What a step of the merge gives.

use super::ordered_event::OrderedEvent;

/// What comes next.
pub enum Step<'a> {
    /// An event.
    Event(OrderedEvent<'a>),
    /// Nothing yet: a source must deliver more before it is known which event is next. Files never wait.
    Wait,
    /// Nothing more.
    End,
}

impl<'a> Step<'a> {
    /// The event, if that is what comes next.
    #[inline]
    pub fn event(self) -> Option<OrderedEvent<'a>> {
        match self {
            Step::Event(event) => Some(event),
            Step::Wait | Step::End => None,
        }
    }
}

/// Why [`InOrder::next_events`](crate::InOrder::next_events) handed out no more events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// There were enough.
    Enough,
    /// As [`Step::Wait`].
    Wait,
    /// As [`Step::End`].
    End,
}
