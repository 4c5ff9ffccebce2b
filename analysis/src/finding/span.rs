//! A span of time.

use ctf_reader::Window;
use serde::Serialize;

/// A time from a beginning up to an end, both in nanoseconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Span {
    /// When it begins.
    pub begin_ns: i64,
    /// When it ends.
    pub end_ns: i64,
}

impl Span {
    /// How long it is in nanoseconds; as long as can be told if that is too much.
    pub fn length_ns(self) -> i64 {
        self.end_ns.saturating_sub(self.begin_ns)
    }

    /// Whether a time lies in it.
    pub fn contains(self, time_ns: i64) -> bool {
        (self.begin_ns..self.end_ns).contains(&time_ns)
    }

    /// Whether any of it lies in a window.
    pub fn is_in(self, window: Window) -> bool {
        window.since.is_none_or(|since| self.end_ns >= since)
            && window.until.is_none_or(|until| self.begin_ns <= until)
    }

    /// The part of it that lies in a window.
    pub fn within(self, window: Window) -> Span {
        Span {
            begin_ns: self.begin_ns.max(window.since.unwrap_or(i64::MIN)),
            end_ns: self.end_ns.min(window.until.unwrap_or(i64::MAX)),
        }
    }

    /// Spans in the order of time, those that overlap or touch as one.
    pub(crate) fn merged(mut spans: Vec<Span>) -> Vec<Span> {
        spans.sort_by_key(|span| span.begin_ns);
        spans.dedup_by(|later, earlier| {
            let overlaps = later.begin_ns <= earlier.end_ns;
            if overlaps {
                earlier.end_ns = earlier.end_ns.max(later.end_ns);
            }
            overlaps
        });
        spans
    }

    /// How much of another span lies in it, in nanoseconds.
    pub(crate) fn overlap_ns(self, other: Span) -> i64 {
        let (begin, end) = (self.begin_ns.max(other.begin_ns), self.end_ns.min(other.end_ns));
        end.saturating_sub(begin).max(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_overlap_where_both_are() {
        let span = |begin_ns, end_ns| Span { begin_ns, end_ns };
        assert_eq!(span(0, 10).overlap_ns(span(5, 20)), 5);
        assert_eq!(span(0, 10).overlap_ns(span(10, 20)), 0);
        assert_eq!(span(i64::MIN, i64::MAX).overlap_ns(span(-1, 1)), 2);
        assert_eq!(span(i64::MIN, i64::MAX).length_ns(), i64::MAX);
        assert!(span(0, 10).contains(0) && !span(0, 10).contains(10));
    }
}
