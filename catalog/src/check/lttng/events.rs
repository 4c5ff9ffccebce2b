//! Events, classes and enums as LTTng-UST knows them.

use super::names::LONGEST;
use crate::check::parts::{self, Part};
use crate::error::{Authority, Report};
use crate::field_type::Integer;
use crate::model::{Catalog, Enumeration, Event};
use crate::place::Step;

/// Checks all but the fields.
pub(super) fn check(catalog: &Catalog, report: &mut Report) {
    for enumeration in parts::enumerations(catalog) {
        check_enumeration(&enumeration, report);
    }
    for class in parts::classes(catalog) {
        if class.provider.event(&class.part.name).is_some() {
            report.add(
                Authority::Lttng,
                class.place,
                "an event of this provider has the same name, and LTTng-UST makes a class of each event's name; \
                 rename one of the two, for example the class to end in `_class`",
            );
        }
    }
    for event in parts::events(catalog) {
        check_event(&event, report);
    }
}

fn check_event(event: &Part<'_, Event>, report: &mut Report) {
    let Part { place, provider, part: event } = event;
    let length = provider.name.len() + 1 + event.name.len();
    if length > LONGEST {
        let message = format!("`provider:event` is {length} bytes long, and LTTng allows {LONGEST}");
        report.add(Authority::Lttng, place.clone(), message);
    }
    let breaks_metadata = |uri: &String| {
        uri.is_empty() || uri.contains(|letter: char| letter.is_control() || " \"\\".contains(letter))
    };
    if event.model_uri.as_ref().is_some_and(breaks_metadata) {
        report.add(
            Authority::Lttng,
            place.value("model-uri"),
            "invalid model URI: LTTng writes it to the metadata as it is, so it cannot be empty or contain spaces, \
             quotes or backslashes",
        );
    }
}

fn check_enumeration(enumeration: &Part<'_, Enumeration>, report: &mut Report) {
    let Part { place, provider, part: enumeration } = enumeration;
    let length = provider.name.len() + 1 + enumeration.name.len();
    if length > LONGEST {
        let message = format!(
            "LTTng calls this `provider_enum`, which is {length} bytes long, and cuts it off at {LONGEST}"
        );
        report.add(Authority::Lttng, place.clone(), message);
    }
    let container = enumeration.container;
    let plain = Integer::new(container.width, container.signed);
    if container != plain {
        report.add(
            Authority::Lttng,
            place.value("type"),
            format!("LTTng-UST records an enum in decimal and in the machine's byte order; write `{plain}`"),
        );
    }
    for (index, label) in enumeration.labels.iter().enumerate() {
        let length = label.name.len();
        if length > LONGEST {
            let place = place.then(Step::Label(index, label.name.clone())).value("name");
            let message = format!("the label is {length} bytes long, and LTTng cuts it off at {LONGEST}");
            report.add(Authority::Lttng, place, message);
        }
    }
}
