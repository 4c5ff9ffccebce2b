//! Rules for what an event or a class says about its own fields.

use crate::error::Report;
use crate::field_type::FieldType;
use crate::model::{Class, Event, Field};
use crate::place::{Place, Step};
use crate::suggest::did_you_mean_one_of;
use crate::vocabulary::{Clock, Measure};

/// Checks an event; what it takes over from its class has been checked there.
pub(super) fn check_event(event: &Event, class: Option<&Class>, place: &Place, report: &mut Report) {
    let meaning = &event.meaning;
    let mut roles = Roles {
        fields: &event.fields,
        duration: meaning.duration.as_deref(),
        group_by: &meaning.group_by,
        client: meaning.client.as_deref(),
    };
    if let Some(class) = class {
        roles.duration = roles.duration.filter(|duration| class.duration.as_deref() != Some(duration));
        roles.client = roles.client.filter(|client| class.client.as_deref() != Some(client));
        if roles.group_by == class.group_by {
            roles.group_by = &[];
        }
    }
    roles.check(place, report);
    if !meaning.advice_for.is_empty() && meaning.group_by.is_empty() {
        report.model(
            place.value("advice-for"),
            "advice for single groups needs `group-by`: its keys are values of the first of those fields",
        );
    }
    if meaning.duration.is_none() {
        let said = [
            (meaning.measure != Measure::default(), "measure"),
            (meaning.clock != Clock::default(), "clock"),
            (event.entry, "entry"),
        ];
        for (_, key) in said.into_iter().filter(|(is_said, _)| *is_said) {
            report.model(
                place.value(key),
                format!(
                    "`{key}` is about the duration, and the event has none; name its field with `duration`"
                ),
            );
        }
    }
}

/// Checks what a class says for all of its events.
pub(super) fn check_class(class: &Class, place: &Place, report: &mut Report) {
    let roles = Roles {
        fields: &class.fields,
        duration: class.duration.as_deref(),
        group_by: &class.group_by,
        client: class.client.as_deref(),
    };
    roles.check(place, report);
}

/// Fields, and the names of those that play a part.
struct Roles<'a> {
    fields: &'a [Field],
    duration: Option<&'a str>,
    group_by: &'a [String],
    client: Option<&'a str>,
}

impl<'a> Roles<'a> {
    fn check(&self, place: &Place, report: &mut Report) {
        if let Some(name) = self.duration {
            let place = place.value("duration");
            if let Some(field) = self.recorded_field(name, &place, report) {
                check_duration(field, &place, report);
            }
        }
        for (index, name) in self.group_by.iter().enumerate() {
            let place = place.value("group-by").then(Step::Element(index));
            if self.group_by[..index].contains(name) {
                report.model(place, format!("duplicate field `{name}`"));
            } else {
                self.recorded_field(name, &place, report);
            }
        }
        if let Some(name) = self.client {
            self.recorded_field(name, &place.value("client"), report);
        }
    }

    /// The field of this name; its absence, or that no trace has it, is reported.
    fn recorded_field(&self, name: &str, place: &Place, report: &mut Report) -> Option<&'a Field> {
        let Some(field) = self.fields.iter().find(|field| field.name == name) else {
            let known = self.fields.iter().map(|field| field.name.as_str());
            let suggestion = did_you_mean_one_of(name, known);
            report.model(place.clone(), format!("unknown field `{name}`{suggestion}"));
            return None;
        };
        if !field.recorded {
            let message = format!("`{name}` is not recorded (`record = false`), so no reader sees it");
            report.model(place.clone(), message);
            return None;
        }
        Some(field)
    }
}

fn check_duration(field: &Field, place: &Place, report: &mut Report) {
    let name = &field.name;
    if !matches!(field.kind, FieldType::Integer(_)) {
        report.model(
            place.clone(),
            format!("a duration is an integer such as `u64`, but `{name}` is `{}`", field.kind),
        );
    } else if field.unit.is_none_or(|unit| unit.nanoseconds().is_none()) {
        report.model(
            place.clone(),
            format!("a duration has a unit of time; give `{name}` one, such as `unit = \"us\"`"),
        );
    }
}
