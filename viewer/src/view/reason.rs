//! Why an event is an outlier, in words.

use super::amount::{duration_in_words, grouped, times};
use super::escape;
use crate::analysis::Basis;
use crate::analysis::histogram::Quantile;
use crate::analysis::outliers::Outlier;

/// Why an event is an outlier, e.g. `106 ms; keys seen once; 99.9 % of all command_call take 5 µs or less`.
pub fn reason(outlier: &Outlier) -> String {
    let Outlier { record, judged } = outlier;
    let took = duration_in_words(record.duration_ns as f64);
    let event =
        escape::text(record.kind.event.split_once(':').map_or(&record.kind.event, |(_, event)| event));
    let key = record.key().iter().map(escape::datum).collect::<Vec<_>>().join(" ");
    let usual = duration_in_words(record.kind.ns(judged.at_quantile) as f64);
    let part = match judged.quantile {
        Quantile::P999 => "99.9 %",
        Quantile::P99 => "99 %",
        Quantile::P90 => "90 %",
        _ => "half",
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

/// The name of the rule that an outlier was found by.
pub fn rule(basis: Basis) -> &'static str {
    match basis {
        Basis::Own => "own",
        Basis::Pooled => "pooled",
        Basis::Median => "median",
    }
}
