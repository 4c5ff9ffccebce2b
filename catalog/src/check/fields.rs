//! Rules for the fields of an event or a class.

use std::collections::HashMap;

use super::names::{LONGEST, check_argument, check_name};
use super::unknown;
use crate::error::Report;
use crate::model::{Field, FieldType, Integer, Provider};
use crate::place::{Place, Step};

/// The most arguments that LTTng-UST's macros can take.
const MOST_ARGUMENTS: usize = 10;

/// The size of a sub-buffer unless `lttng enable-channel --subbuf-size` says otherwise.
const SUB_BUFFER: u64 = 512 * 1024;

pub(super) fn check(provider: &Provider, fields: &[Field], place: &Place, report: &mut Report) {
    for (index, field) in fields.iter().enumerate() {
        let place = place.then(Step::Field(index, field.name.clone()));
        check_field(provider, field, &place, report);
    }
    check_recorded_names(fields, place, report);
    check_arguments(fields, place, report);
    check_former_names(fields, place, report);
    check_size(fields, place, report);
}

fn check_field(provider: &Provider, field: &Field, place: &Place, report: &mut Report) {
    let good_name = check_name(&field.name, &place.value("name"), report);
    // An argument that is named after its field shares the field's mistakes.
    if good_name || field.argument != field.name {
        check_argument(&field.argument, &place.value("arg"), report);
    }
    let longest = field.length_name().map_or(field.name.len(), |name| name.len());
    if longest > LONGEST {
        report.add(
            place.value("name"),
            format!("the name is {longest} bytes long as it is recorded, and LTTng cuts it off at {LONGEST}"),
        );
    }
    match &field.kind {
        FieldType::Enum(name) if provider.enumeration(name).is_none() => {
            let known = provider.enums.iter().map(|known| known.name.as_str());
            report.add(place.value("type"), unknown("enum", name, provider, known));
        }
        FieldType::TextArray(0) | FieldType::Array { length: 0, .. } => {
            report.add(place.value("type"), "an array has at least one element");
        }
        _ => {}
    }
    if let Some(unit) = field.unit
        && element(&field.kind).is_none()
        && !matches!(field.kind, FieldType::Float | FieldType::Double)
    {
        report.add(place.value("unit"), format!("`{}` is no number, so it is not in `{unit}`", field.kind));
    }
    if !field.recorded && field.kind == FieldType::Stack {
        report.add(place.value("record"), "a stack is of use only in a trace; leave `record` out");
    }
    if !field.recorded
        && let Some(integer) = element(&field.kind)
        && integer != Integer::new(integer.width, integer.signed)
        && !is_bytes(&field.kind)
    {
        report.add(
            place.value("type"),
            "a value that is not recorded has neither a base nor a byte order; leave `hex` and \
             `network` out",
        );
    }
}

/// The integer that a type is, or is made of.
fn element(kind: &FieldType) -> Option<Integer> {
    match kind {
        FieldType::Integer(integer) => Some(*integer),
        FieldType::Array { element, .. } | FieldType::Sequence { element, .. } => Some(*element),
        _ => None,
    }
}

fn is_bytes(kind: &FieldType) -> bool {
    matches!(kind, FieldType::Sequence { element, .. } if *element == Integer::BYTE)
}

/// No two fields are recorded under one name; a length is recorded under a name of its own.
fn check_recorded_names(fields: &[Field], place: &Place, report: &mut Report) {
    let mut taken: HashMap<String, &str> = HashMap::new();
    let lengths = fields.iter().filter_map(|field| Some((field.length_name()?, field)));
    for (name, field) in lengths {
        taken.insert(name, &field.name);
    }
    for (index, field) in fields.iter().enumerate() {
        let place = place.then(Step::Field(index, field.name.clone())).value("name");
        if field.name.is_empty() {
            continue;
        }
        if fields[..index].iter().any(|other| other.name == field.name) {
            report.add(place, "there is a field of this name already");
        } else if let Some(sequence) = taken.get(&field.name) {
            report.add(
                place,
                format!("LTTng records the length of `{sequence}` under this name; choose another"),
            );
        }
    }
}

fn check_arguments(fields: &[Field], place: &Place, report: &mut Report) {
    let mut taken: HashMap<String, &str> = HashMap::new();
    let mut count = 0;
    for (index, field) in fields.iter().enumerate() {
        for argument in [Some(field.argument.clone()), field.length_argument()] {
            let Some(argument) = argument.filter(|argument| !argument.is_empty()) else {
                continue;
            };
            count += 1;
            let other = taken.insert(argument.clone(), &field.name);
            // Fields of one name have been refused for that.
            if let Some(other) = other.filter(|other| *other != field.name) {
                let place = place.then(Step::Field(index, field.name.clone()));
                report.add(
                    place.value("arg"),
                    format!(
                        "the argument `{argument}` is that of `{other}` already; give one of the \
                         two another name with `arg`"
                    ),
                );
            }
        }
    }
    if count > MOST_ARGUMENTS {
        report.add(
            place.value("fields"),
            format!(
                "LTTng-UST takes at most {MOST_ARGUMENTS} arguments, and these are {count}; text, \
                 bytes and sequences count twice, for their length"
            ),
        );
    }
}

fn check_former_names(fields: &[Field], place: &Place, report: &mut Report) {
    let mut owners: HashMap<&str, &str> = HashMap::new();
    for (index, field) in fields.iter().enumerate() {
        for (position, former) in field.formerly.iter().enumerate() {
            let place = place
                .then(Step::Field(index, field.name.clone()))
                .value("formerly")
                .then(Step::Element(position));
            if fields.iter().any(|other| other.name == *former) {
                report.add(
                    place,
                    format!("`{former}` is the name of a field today; a former name is no longer in use"),
                );
            } else if let Some(owner) = owners.insert(former, &field.name) {
                report.add(
                    place,
                    format!("`{former}` is a former name of `{owner}` already; a reader could not tell which is meant"),
                );
            }
        }
    }
}

/// The arrays of an event fit into a sub-buffer.
fn check_size(fields: &[Field], place: &Place, report: &mut Report) {
    let bytes: u64 = fields
        .iter()
        .filter(|field| field.recorded)
        .map(|field| match &field.kind {
            FieldType::TextArray(length) => u64::from(*length),
            FieldType::Array { element, length } => u64::from(*length) * u64::from(element.width.bits() / 8),
            _ => 0,
        })
        .sum();
    if bytes > SUB_BUFFER {
        report.add(
            place.value("fields"),
            format!(
                "the arrays take {bytes} bytes, and LTTng discards an event that does not fit into \
                 a sub-buffer of {SUB_BUFFER} bytes; record a sequence of what matters"
            ),
        );
    }
}
