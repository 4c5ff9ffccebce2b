//! Why an event is an outlier, in words.

use super::histogram::Quantile;
use super::longest::Record;
use super::tail::{Basis, Judged};
use crate::text::amount::{duration_in_words, grouped, times};
use crate::text::escape;

/// Why an event is an outlier, e.g. `106 ms; keys seen once; 99.9 % of all command_call take 5 µs or less`.
pub(super) fn reason(record: &Record, judged: &Judged) -> String {
    let took = duration_in_words(record.duration_ns as f64);
    let event =
        escape::text(record.kind.event.split_once(':').map_or(&record.kind.event, |(_, event)| event));
    let key = record.key().iter().map(escape::datum).collect::<Vec<_>>().join(" ");
    let usual = duration_in_words(record.kind.ns(judged.at_quantile) as f64);
    let part = match judged.quantile {
        Quantile::P50 => "half".to_owned(),
        quantile => format!("{quantile} %"),
    };
    let count = grouped(judged.compared_with.into());
    let group = if key.is_empty() { &event } else { &key };
    match judged.basis {
        Basis::Own => format!("{took}; {part} of {count} {group} take {usual} or less"),
        Basis::Pooled if key.is_empty() => format!("{took}; {part} of all {event} take {usual} or less"),
        Basis::Pooled => {
            // A folded group's own count is not known.
            let seen = if judged.seen == 0 { "rarely".into() } else { times(judged.seen) };
            format!("{took}; {key} seen {seen}; {part} of all {event} take {usual} or less")
        }
        Basis::Median => format!("{took}; {part} of the only {count} {event} take {usual} or less"),
    }
}
