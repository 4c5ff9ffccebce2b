//! What the model demands: that a catalog is complete and does not contradict itself.

mod enumerations;
mod fields;
mod meaning;
mod references;
mod unknown;

use super::parts::{self, Part};
use crate::error::Report;
use crate::model::{Catalog, Class, Event};
use crate::place::{Place, Step};
use unknown::unknown;

pub(super) use enumerations::is_label;

pub(super) fn check(catalog: &Catalog, report: &mut Report) {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
    if !catalog.name.chars().all(is_part)
        || catalog.name.starts_with(|first: char| !first.is_ascii_alphabetic())
    {
        report.model(
            Place::top().value("catalog").then(Step::Value("name".to_owned())),
            "invalid name: the name of a catalog begins with an ASCII letter and has only letters, digits, `_` and `-`",
        );
    }
    if catalog.providers.is_empty() {
        let message = "the catalog has no provider; add a table `[provider.NAME]`";
        report.model(Place::top(), message);
    }
    for (place, provider) in parts::providers(catalog) {
        if provider.events.is_empty() {
            let message =
                format!("the provider has no events; add a table `[provider.{}.event.NAME]`", provider.name);
            report.model(place, message);
        }
    }
    for enumeration in parts::enumerations(catalog) {
        enumerations::check(enumeration.part, &enumeration.place, report);
    }
    for class in parts::classes(catalog) {
        check_class(&class, report);
    }
    for event in parts::events(catalog) {
        check_event(&event, report);
    }
    for list in parts::field_lists(catalog) {
        fields::check(&list, report);
    }
    references::check(catalog, report);
}

fn check_class(class: &Part<'_, Class>, report: &mut Report) {
    let Part { place, provider, part: class } = class;
    let name = &class.name;
    meaning::check_class(class, place, report);
    if !provider.events.iter().any(|event| event.class.as_ref() == Some(name)) {
        let message = format!("no event has this class; remove it, or add `class = \"{name}\"` to an event");
        report.model(place.clone(), message);
    }
}

fn check_event(event: &Part<'_, Event>, report: &mut Report) {
    let Part { place, provider, part: event } = event;
    let Some(name) = &event.class else {
        return meaning::check_event(event, None, place, report);
    };
    match provider.class(name) {
        Some(class) => meaning::check_event(event, Some(class), place, report),
        None => {
            let known = provider.classes.iter().map(|class| class.name.as_str());
            let message = unknown("class", name, provider, known);
            report.model(place.value("class"), message);
        }
    }
}
