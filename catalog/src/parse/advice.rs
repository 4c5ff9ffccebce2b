//! Advice for operators, which a catalog has or a file beside it: those who build a program have no use for it.

use std::path::Path;

use super::table::Table;
use crate::check::check_rules;
use crate::error::{Errors, Report};
use crate::model::Catalog;
use crate::place::{Place, Step};

impl Catalog {
    /// Reads the catalog in a file, and the advice in the file beside it, if there is one: `shop.advice.toml` beside
    /// `shop.toml`.
    pub fn read_with_advice(path: impl AsRef<Path>) -> Result<Catalog, Errors> {
        let path = path.as_ref();
        let mut catalog = Catalog::read(path)?;
        let beside = path.with_extension("advice.toml");
        if let Ok(text) = std::fs::read_to_string(&beside) {
            catalog.add_advice(&beside.display().to_string(), &text)?;
        }
        Ok(catalog)
    }

    /// Adds advice for events: tables `[provider.NAME.event.NAME]` with the keys `advice` and `advice-for`, as a catalog
    /// can have them. After an error, part of it may have been added.
    ///
    /// ```
    /// let mut catalog = lttng_catalog::valkey();
    /// let advice = "[provider.valkey_rdb.event.fork]\nadvice = \"Leave memory free.\"";
    /// catalog.add_advice("valkey.advice.toml", advice)?;
    /// let fork = catalog.event("valkey_rdb", "fork").unwrap();
    /// assert_eq!(fork.meaning.advice(None), Some("Leave memory free."));
    /// # Ok::<(), lttng_catalog::Errors>(())
    /// ```
    pub fn add_advice(&mut self, file: &str, text: &str) -> Result<(), Errors> {
        super::read(file, text, |mut root| {
            let mut report = Report::default();
            let found = root.children("provider", Step::Provider, |provider, mut table| {
                let events = table.children("event", Step::Event, |event, mut table| {
                    let advice = (event, general(&mut table), for_groups(&mut table));
                    table.finish();
                    advice
                });
                table.finish();
                (provider, events)
            });
            root.finish();
            for (provider, events) in found {
                let place = Place::top().then(Step::Provider(provider.clone()));
                for (name, advice, advice_for) in events {
                    let mut events =
                        self.providers.iter_mut().filter(|p| p.name == provider).flat_map(|p| &mut p.events);
                    match events.find(|event| event.name == name) {
                        Some(event) => {
                            event.meaning.advice = advice.or(event.meaning.advice.take());
                            event.meaning.advice_for.extend(advice_for);
                        }
                        None => {
                            let message = format!("the catalog has no event `{provider}:{name}`");
                            report.model(place.then(Step::Event(name)), message);
                        }
                    }
                }
            }
            report.errors.extend(check_rules(self));
            ((), report.errors)
        })
    }
}

/// The advice for an event; a terminal wraps it to its width.
pub(super) fn general(table: &mut Table<'_>) -> Option<String> {
    table.name("advice").map(|advice| one_line(&advice))
}

/// The advice for single groups.
pub(super) fn for_groups(table: &mut Table<'_>) -> Vec<(String, String)> {
    table.texts("advice-for").into_iter().map(|(key, text)| (key, one_line(&text))).collect()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
