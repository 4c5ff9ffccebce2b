//! A value of a span or an event, kept until it is recorded.

use std::fmt;

use lttng_provider::Text;
use smallvec::SmallVec;

/// Short text needs no memory besides the value.
pub(crate) type Buffer = SmallVec<[u8; 32]>;

/// A captured value.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Value {
    /// None yet.
    #[default]
    Missing,
    Integer(i128),
    Float(f64),
    Bool(bool),
    Text(Buffer),
}

/// Text that ends where LTTng would cut it, and its formatting with it.
pub(crate) struct LimitedText(pub(crate) Buffer);

impl fmt::Write for LimitedText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = Text::MAX - self.0.len();
        self.0.extend_from_slice(&text.as_bytes()[..text.len().min(room)]);
        if text.len() > room { Err(fmt::Error) } else { Ok(()) }
    }
}
