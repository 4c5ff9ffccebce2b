//! Why a single event is shown, in words.

use crate::finding::{Ns, group_in_words};
use crate::groups::quantile::Quantile;
use crate::outliers::verdict::{Basis, Limit};
use crate::slow::longest::SlowEvent;
use crate::text::amount::{grouped, times};
use crate::text::{escape, short_name};

/// Why an event is shown, e.g. `106 ms; keys seen once; 99.9 % of usual command_call take 5 µs or less, and more than
/// 190 µs is improbable`.
pub(crate) fn reason(record: &SlowEvent, limit: &Limit) -> String {
    let took = Ns(record.duration_ns).in_words();
    let event = escape::text(short_name(&record.kind.event));
    let values = record.key();
    let key = if values.is_empty() {
        String::new()
    } else {
        group_in_words(&record.kind.event, record.kind.keys.iter().zip(&values))
    };
    let usual = Ns(record.kind.ns(limit.at_quantile)).in_words();
    let above = Ns(record.kind.ns(limit.above)).in_words();
    let part = match limit.quantile {
        Quantile::P50 => "half".to_owned(),
        quantile => format!("{quantile} %"),
    };
    let count = grouped(limit.compared_with.into());
    let of_group = if key.is_empty() { &event } else { &key };
    let compared = match limit.basis {
        Basis::Own => format!("{part} of {count} usual {of_group} take {usual} or less"),
        _ if key.is_empty() => format!("{part} of usual {event} take {usual} or less"),
        _ => {
            let seen = limit.seen.map_or("rarely".into(), times);
            format!("{key} seen {seen}; {part} of usual {event} take {usual} or less")
        }
    };
    format!("{took}; {compared}, and more than {above} is improbable")
}
