//! Why a single event is shown, in words.

use super::longest::Record;
use super::quantile::Quantile;
use super::verdict::{Basis, Limit};
use crate::text::amount::{duration_in_words, grouped, times};
use crate::text::escape;

/// Why an event is shown, e.g. `106 ms; keys seen once; 99.9 % of usual command_call take 5 µs or less, and more than
/// 190 µs is improbable`.
pub(super) fn reason(record: &Record, limit: &Limit) -> String {
    let took = duration_in_words(record.duration_ns as f64);
    let event =
        escape::text(record.kind.event.split_once(':').map_or(&record.kind.event, |(_, event)| event));
    let key = record.key().iter().map(escape::datum).collect::<Vec<_>>().join(" ");
    let usual = duration_in_words(record.kind.ns(limit.at_quantile) as f64);
    let above = duration_in_words(record.kind.ns(limit.above) as f64);
    let part = match limit.quantile {
        Quantile::P50 => "half".to_owned(),
        quantile => format!("{quantile} %"),
    };
    let count = grouped(limit.compared_with.into());
    let group = if key.is_empty() { &event } else { &key };
    let compared = match limit.basis {
        Basis::Own => format!("{part} of {count} usual {group} take {usual} or less"),
        _ if key.is_empty() => format!("{part} of usual {event} take {usual} or less"),
        _ => {
            // A folded group's own count is not known.
            let seen = if limit.seen == 0 { "rarely".into() } else { times(limit.seen) };
            format!("{key} seen {seen}; {part} of usual {event} take {usual} or less")
        }
    };
    format!("{took}; {compared}, and more than {above} is improbable")
}
