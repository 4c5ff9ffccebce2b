//! Labels of events and groups in tables.

use std::collections::{BTreeMap, BTreeSet};

use ltt_analysis::datum::{Datum, Pairs};
use ltt_analysis::finding::{EventFinding, GroupName, LinkFinding, Ns};
use ltt_analysis::text::amount::grouped;
use ltt_analysis::text::escape;
use ltt_analysis::text::short_name;

/// The keys of a group: a single one as its value alone, several with their names.
pub fn keys(Pairs(pairs): &Pairs) -> String {
    match &pairs[..] {
        [(_, value)] => escape::datum(value),
        _ => {
            let pairs =
                pairs.iter().map(|(name, value)| format!("{}={}", escape::text(name), escape::datum(value)));
            pairs.collect::<Vec<_>>().join(" ")
        }
    }
}

/// Labels of events: the full name, or on a narrow screen the name without its provider, unless that is ambiguous.
#[derive(Default)]
pub struct Names {
    /// The number of events for each name without its provider.
    short: BTreeMap<String, usize>,
}

impl Names {
    pub fn new<'a>(events: impl Iterator<Item = &'a str>, is_narrow: bool) -> Self {
        let mut names = Names::default();
        for event in events.filter(|_| is_narrow).collect::<BTreeSet<_>>() {
            *names.short.entry(short_name(event).to_owned()).or_default() += 1;
        }
        names
    }

    /// The label of an event.
    pub fn of(&self, event: &str) -> String {
        let is_unique = self.short.get(short_name(event)) == Some(&1);
        escape::text(if is_unique { short_name(event) } else { event })
    }

    /// The label of a group.
    pub fn group(&self, name: &GroupName) -> String {
        self.label(&name.event, name.is_sum, &name.key)
    }

    /// The label of a single event: that of its group.
    pub fn event(&self, event: &EventFinding) -> String {
        self.label(&event.event, event.is_sum, &event.key)
    }

    fn label(&self, event: &str, is_sum: bool, key: &Pairs) -> String {
        let sum = if is_sum { " (sum)" } else { "" };
        let key = if key.0.is_empty() { String::new() } else { format!(" {}", keys(key)) };
        format!("{}{sum}{key}", self.of(event))
    }
}

/// A figure, marked if its unit is a guess.
pub fn marked(figure: String, unit_is_guess: bool) -> String {
    if unit_is_guess { figure + "?" } else { figure }
}

/// A duration, marked if its unit is a guess; `-` for none.
pub fn figure(duration_ns: Option<Ns>, unit_is_guess: bool) -> String {
    duration_ns.map_or("-".into(), |duration| marked(duration.short(), unit_is_guess))
}

/// An event with the time it took, and its number.
pub fn link(link: &LinkFinding) -> String {
    let count = if link.count > 1 { format!("{} × ", grouped(link.count.into())) } else { String::new() };
    format!("{count}{} {}", name(&link.event, &link.key), figure(Some(link.spent), false))
}

/// An event by its keys, or by its name if it has none.
pub fn name(event: &str, key: &Pairs) -> String {
    if key.0.is_empty() { escape::text(short_name(event)) } else { keys(key) }
}

/// A value; `-` for none.
pub fn value(value: &Option<Datum>) -> String {
    value.as_ref().map_or("-".into(), escape::datum)
}

/// The payload fields, without empty ones and those in other columns.
pub fn details(event: &EventFinding) -> String {
    let EventFinding { fields, key, stacks, .. } = event;
    // Of what is enumerated, -1 without a label stands for none: Valkey has it for calls without a connection.
    let is_empty = |is_enum: bool, value: &Datum| match value {
        Datum::Text(text) => text.is_empty(),
        value => is_enum && *value == Datum::Integer(-1),
    };
    let is_key = |name: &str, value: &Datum| key.0.iter().any(|(known, of)| known == name && of == value);
    let shown = fields.iter().filter(|(field, value)| {
        field.is_detail && !field.is_client && !is_empty(field.is_enum, value) && !is_key(&field.name, value)
    });
    let text = |name: &str, value: &Datum| match stacks.get(name) {
        Some(frames) => frames.iter().map(ToString::to_string).collect::<Vec<_>>().join(" < "),
        None => escape::datum(value),
    };
    let shown =
        shown.map(|(field, value)| format!("{}={}", escape::text(&field.name), text(&field.name, &value)));
    shown.collect::<Vec<_>>().join(" ")
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
