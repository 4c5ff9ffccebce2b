//! Refuses what LTTng-UST 2.13 or a compiler would refuse or silently change, and what would
//! mislead a reader of traces.
//!
//! The rules hold for the model, wherever it came from; [`Catalog::parse`] applies them itself.

mod enumerations;
mod fields;
mod meaning;
mod names;
mod references;
mod rust_names;
mod symbols;

use crate::error::{Error, Report};
use crate::model::{Catalog, Class, Event, Provider};
use crate::place::{Place, Step};
use crate::suggest::did_you_mean;
use names::check_name;

/// Everything that is wrong with a catalog; the errors have places, but no positions.
pub fn check(catalog: &Catalog) -> Vec<Error> {
    let mut report = Report::default();
    if catalog.name.contains(|letter: char| !letter.is_ascii_alphanumeric() && !"_-".contains(letter)) {
        report.add(
            Place::top().value("catalog").then(Step::Value("name".to_owned())),
            "the name of a catalog has only letters, digits, `_` and `-`",
        );
    }
    if catalog.providers.is_empty() {
        report.add(Place::top(), "there is no provider; a catalog has at least one `[provider.NAME]`");
    }
    for provider in &catalog.providers {
        check_provider(provider, &mut report);
    }
    symbols::check(catalog, &mut report);
    references::check(catalog, &mut report);
    report.errors
}

fn check_provider(provider: &Provider, report: &mut Report) {
    let place = Place::top().then(Step::Provider(provider.name.clone()));
    check_name(&provider.name, &place, report);
    if provider.events.is_empty() {
        report.add(
            place.clone(),
            format!("the provider has no events; give it a `[provider.{}.event.NAME]`", provider.name),
        );
    }
    for enumeration in &provider.enums {
        let place = place.then(Step::Enum(enumeration.name.clone()));
        enumerations::check(provider, enumeration, &place, report);
    }
    for class in &provider.classes {
        let place = place.then(Step::Class(class.name.clone()));
        check_class(provider, class, &place, report);
    }
    for event in &provider.events {
        let place = place.then(Step::Event(event.name.clone()));
        check_event(provider, event, &place, report);
    }
    rust_names::check(provider, &place, report);
}

fn check_class(provider: &Provider, class: &Class, place: &Place, report: &mut Report) {
    let name = &class.name;
    check_name(name, place, report);
    fields::check(provider, &class.fields, place, report);
    meaning::check_class(class, place, report);
    if !provider.events.iter().any(|event| event.class.as_ref() == Some(name)) {
        let message = format!("no event has this class; leave it out, or give one `class = \"{name}\"`");
        report.add(place.clone(), message);
    }
    if provider.event(name).is_some() {
        report.add(
            place.clone(),
            "an event of this provider has the same name, and each event makes a class of its own name; \
             rename one, for example the class to end in `_class`",
        );
    }
}

fn check_event(provider: &Provider, event: &Event, place: &Place, report: &mut Report) {
    check_name(&event.name, place, report);
    let length = provider.name.len() + 1 + event.name.len();
    if length > names::LONGEST {
        report.add(
            place.clone(),
            format!("`provider:event` is {length} bytes long, and LTTng allows {}", names::LONGEST),
        );
    }
    if let Some(uri) = &event.model_uri
        && (uri.is_empty() || uri.contains(|c: char| c.is_control() || " \"\\".contains(c)))
    {
        report.add(
            place.value("model-uri"),
            "a model URI is neither empty nor contains spaces, quotes or backslashes, because \
             LTTng writes it as it is",
        );
    }
    match &event.class {
        None => {
            fields::check(provider, &event.fields, place, report);
            meaning::check_event(event, None, place, report);
        }
        Some(name) => match provider.class(name) {
            Some(class) => meaning::check_event(event, Some(class), place, report),
            None => {
                let known = provider.classes.iter().map(|class| class.name.as_str());
                report.add(place.value("class"), unknown("class", name, provider, known));
            }
        },
    }
}

/// Says that a provider has no such class or enum.
fn unknown<'a>(what: &str, name: &str, provider: &Provider, known: impl Iterator<Item = &'a str>) -> String {
    let near = did_you_mean(name, known);
    let provider = &provider.name;
    if near.is_empty() {
        format!("`{provider}` has no {what} `{name}`; declare it as `[provider.{provider}.{what}.{name}]`")
    } else {
        format!("`{provider}` has no {what} `{name}`{near}")
    }
}
