//! Exact durations.

use serde::{Serialize, Serializer};

use crate::text::amount::{duration, duration_in_words};

/// A duration in nanoseconds. It is serialised in microseconds, whole where it is whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ns(pub u128);

impl Ns {
    /// For a table: `12.9ms`.
    pub fn short(self) -> String {
        duration(self.0 as f64)
    }

    /// For a sentence: `12.9 ms`.
    pub fn in_words(self) -> String {
        duration_in_words(self.0 as f64)
    }
}

impl From<u64> for Ns {
    fn from(nanoseconds: u64) -> Ns {
        Ns(nanoseconds.into())
    }
}

impl Serialize for Ns {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match u64::try_from(self.0 / 1000) {
            Ok(whole) if self.0.is_multiple_of(1000) => serializer.serialize_u64(whole),
            _ => serializer.serialize_f64(self.0 as f64 / 1000.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn microseconds_are_whole_where_they_can_be() {
        let text = |ns| serde_json::to_string(&Ns(ns)).unwrap();
        assert_eq!(text(164_374_000), "164374");
        assert_eq!(text(1_500), "1.5");
        assert_eq!(text(u128::from(u64::MAX) * 1_000_000), "1.8446744073709552e+22");
    }
}
