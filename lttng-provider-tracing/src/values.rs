//! The values of one event, as its generated function takes them.

use lttng_provider::Text;
use smallvec::SmallVec;

use crate::convert::Argument;

/// The values of an event's arguments.
#[derive(Debug)]
pub struct Values<'v> {
    /// LTTng-UST takes no more than ten.
    arguments: SmallVec<[Argument<'v>; 10]>,
}

impl<'v> Values<'v> {
    pub(crate) fn new(arguments: impl Iterator<Item = Argument<'v>>) -> Values<'v> {
        Values { arguments: arguments.collect() }
    }

    /// An integer; 0 if the value is none.
    pub fn integer<T: TryFrom<i128> + Default>(&self, index: usize) -> T {
        match self.arguments.get(index) {
            Some(Argument::Integer(integer)) => T::try_from(*integer).unwrap_or_default(),
            _ => T::default(),
        }
    }

    /// A floating-point number; 0 if the value is none.
    pub fn float(&self, index: usize) -> f64 {
        match self.arguments.get(index) {
            Some(Argument::Float(float)) => *float,
            _ => 0.0,
        }
    }

    /// Whether it is true.
    pub fn boolean(&self, index: usize) -> bool {
        self.arguments.get(index) == Some(&Argument::Bool(true))
    }

    /// Text; empty if the value is none.
    pub fn text(&self, index: usize) -> Text<'_> {
        Text::Bytes(self.bytes(index))
    }

    /// Bytes; empty if the value is none.
    pub fn bytes(&self, index: usize) -> &[u8] {
        match self.arguments.get(index) {
            Some(Argument::Text(text)) => text,
            Some(Argument::Written(text)) => text,
            _ => &[],
        }
    }
}
