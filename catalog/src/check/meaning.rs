//! Rules for what an event says about its own fields.

use crate::error::Report;
use crate::model::{Class, Clock, Event, Field, FieldType, Measure};
use crate::place::{Place, Step};
use crate::suggest::did_you_mean_one_of;

/// Checks an event; what it takes over from its class has been checked there.
pub(super) fn check(event: &Event, class: Option<&Class>, place: &Place, report: &mut Report) {
    let meaning = &event.meaning;
    let own = |role: &Option<String>, of_class: fn(&Class) -> &Option<String>| {
        role.clone().filter(|_| class.is_none_or(|class| of_class(class) != role))
    };
    let group_by: &[String] = match class {
        Some(class) if class.group_by == meaning.group_by => &[],
        _ => &meaning.group_by,
    };
    check_roles(
        &event.fields,
        own(&meaning.duration, |class| &class.duration).as_deref(),
        group_by,
        own(&meaning.client, |class| &class.client).as_deref(),
        place,
        report,
    );
    if meaning.duration.is_none() {
        let said = [
            (meaning.measure != Measure::default(), "measure"),
            (meaning.clock != Clock::default(), "clock"),
        ];
        for (_, key) in said.into_iter().filter(|(is_said, _)| *is_said) {
            report.add(
                place.value(key),
                format!("`{key}` is about the duration, and there is none; name its field with `duration`"),
            );
        }
    }
}

/// Checks the fields that an event or a class gives a role.
pub(super) fn check_roles(
    fields: &[Field],
    duration: Option<&str>,
    group_by: &[String],
    client: Option<&str>,
    place: &Place,
    report: &mut Report,
) {
    let roles = Roles { fields };
    if let Some(name) = duration {
        let place = place.value("duration");
        if let Some(field) = roles.recorded_field(name, &place, report) {
            check_duration(field, &place, report);
        }
    }
    for (index, name) in group_by.iter().enumerate() {
        let place = place.value("group-by").then(Step::Element(index));
        if group_by[..index].contains(name) {
            report.add(place, format!("`{name}` stands here twice"));
        } else {
            roles.recorded_field(name, &place, report);
        }
    }
    if let Some(name) = client {
        roles.recorded_field(name, &place.value("client"), report);
    }
}

fn check_duration(field: &Field, place: &Place, report: &mut Report) {
    let name = &field.name;
    if !matches!(field.kind, FieldType::Integer(_)) {
        report.add(
            place.clone(),
            format!("a duration is an integer such as `u64`, and `{name}` is `{}`", field.kind),
        );
    } else if field.unit.is_none_or(|unit| unit.nanoseconds().is_none()) {
        report.add(
            place.clone(),
            format!("a duration has a unit of time; give `{name}` one, such as `unit = \"us\"`"),
        );
    }
}

struct Roles<'f> {
    fields: &'f [Field],
}

impl<'f> Roles<'f> {
    /// The field of this name; its absence, or that no trace has it, is reported.
    fn recorded_field(&self, name: &str, place: &Place, report: &mut Report) -> Option<&'f Field> {
        let Some(field) = self.fields.iter().find(|field| field.name == name) else {
            let known = self.fields.iter().map(|field| field.name.as_str());
            report.add(
                place.clone(),
                format!("there is no field `{name}`{}", did_you_mean_one_of(name, known)),
            );
            return None;
        };
        if !field.recorded {
            report.add(
                place.clone(),
                format!("`{name}` is not recorded (`record = false`), so no reader sees it"),
            );
            return None;
        }
        Some(field)
    }
}
