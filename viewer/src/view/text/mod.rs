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

use std::collections::BTreeMap;

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

/// How events are called: without their provider where the screen is narrow and no two would be the same.
struct Names(BTreeMap<String, usize>);

impl Names {
    fn new<'a>(events: impl Iterator<Item = &'a str>, is_narrow: bool) -> Self {
        let mut seen: BTreeMap<String, BTreeMap<String, ()>> = BTreeMap::new();
        if is_narrow {
            for event in events {
                seen.entry(short(event).to_owned()).or_default().insert(event.to_owned(), ());
            }
        }
        Names(seen.into_iter().map(|(name, full)| (name, full.len())).collect())
    }

    fn of(&self, event: &str) -> String {
        let is_unique = self.0.get(short(event)) == Some(&1);
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
