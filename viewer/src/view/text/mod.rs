//! Findings as text for a terminal.

mod heat;
mod hist;
mod info;
mod outliers;
mod slow;
mod top;

pub use super::notes::losses;
pub use heat::{BESIDES as HEAT_BESIDES, heat};
pub use hist::hist;
pub use info::info;
pub use outliers::outliers;
pub use slow::slow;
pub use top::top;

use std::collections::{BTreeMap, BTreeSet};

use super::escape;
use crate::analysis::Kind;
use crate::analysis::key::Datum;

/// The keys of a group: a single one as its value alone, several with their names.
fn keys(kind: &Kind, values: &[Datum]) -> String {
    match values {
        [value] => escape::datum(value),
        _ => {
            let pairs = kind.keys.iter().zip(values);
            let pairs = pairs.map(|(name, value)| format!("{}={}", escape::text(name), escape::datum(value)));
            pairs.collect::<Vec<_>>().join(" ")
        }
    }
}

/// How events are called: in full, or where the screen is narrow without their provider, unless two would
/// then be called the same.
#[derive(Default)]
struct Names {
    /// How many events have a name after their provider's.
    short: BTreeMap<String, usize>,
}

impl Names {
    fn new<'a>(events: impl Iterator<Item = &'a str>, is_narrow: bool) -> Self {
        let mut names = Names::default();
        for event in events.filter(|_| is_narrow).collect::<BTreeSet<_>>() {
            *names.short.entry(short(event).to_owned()).or_default() += 1;
        }
        names
    }

    fn of(&self, event: &str) -> String {
        let is_unique = self.short.get(short(event)) == Some(&1);
        escape::text(if is_unique { short(event) } else { event })
    }
}

fn short(event: &str) -> &str {
    event.split_once(':').map_or(event, |(_, name)| name)
}

/// How an event with its group's keys is called.
fn label(names: &Names, kind: &Kind, values: &[Datum]) -> String {
    let event = names.of(&kind.event);
    let sum = if kind.is_sum { " (sum)" } else { "" };
    match values {
        [] => format!("{event}{sum}"),
        _ => format!("{event}{sum} {}", keys(kind, values)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shortened_where_there_is_little_room_and_no_doubt() {
        let events = ["valkey_rdb:fork", "valkey_aof:fork", "valkey_db:expire_del", "valkey_db:expire_del"];
        let narrow = Names::new(events.into_iter(), true);
        assert_eq!(narrow.of("valkey_db:expire_del"), "expire_del");
        assert_eq!(narrow.of("valkey_rdb:fork"), "valkey_rdb:fork");
        assert_eq!(Names::new(events.into_iter(), false).of("valkey_db:expire_del"), "valkey_db:expire_del");
    }
}
