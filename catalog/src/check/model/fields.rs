//! Rules for the fields of an event or a class.

use std::collections::HashMap;

use super::unknown::unknown;
use crate::check::parts::{self, Part};
use crate::error::Report;
use crate::field_type::{Extent, FieldType};
use crate::model::{Field, Provider};
use crate::place::{Place, Step};

pub(super) fn check(list: &Part<'_, [Field]>, report: &mut Report) {
    for (index, (place, field)) in parts::fields(list).enumerate() {
        check_type(list.provider, field, &place, report);
        check_unit(field, &place, report);
        let is_twice = list.part[..index].iter().any(|other| other.name == field.name);
        if is_twice && !field.name.is_empty() {
            report.model(place.value("name"), "duplicate field");
        }
    }
    check_former_names(list, report);
}

fn check_type(provider: &Provider, field: &Field, place: &Place, report: &mut Report) {
    match &field.kind {
        FieldType::Enum(name) if provider.enumeration(name).is_none() => {
            let known = provider.enums.iter().map(|known| known.name.as_str());
            report.model(place.value("type"), unknown("enum", name, provider, known));
        }
        kind if kind.extent() == Extent::Fixed(0) => {
            report.model(place.value("type"), "an array has at least one element");
        }
        kind if !field.recorded && !kind.shape(&[]).is_passed() => {
            let message = "a stack is of use only in a trace; remove `record`";
            report.model(place.value("record"), message);
        }
        _ => {}
    }
}

fn check_unit(field: &Field, place: &Place, report: &mut Report) {
    let is_number = field.kind.integer().is_some() || field.kind.shape(&[]).is_float();
    if let Some(unit) = field.unit.filter(|_| !is_number) {
        let message = format!("`{}` is not a number, so it cannot be in `{unit}`", field.kind);
        report.model(place.value("unit"), message);
    }
}

fn check_former_names(list: &Part<'_, [Field]>, report: &mut Report) {
    let mut owners: HashMap<&str, &str> = HashMap::new();
    for (place, field) in parts::fields(list) {
        for (index, former) in field.formerly.iter().enumerate() {
            let place = place.value("formerly").then(Step::Element(index));
            let message = if list.part.iter().any(|other| other.name == *former) {
                format!("`{former}` is the name of a field today; a former name is no longer in use")
            } else if let Some(owner) = owners.insert(former, &field.name) {
                format!(
                    "`{former}` is already a former name of `{owner}`; a reader could not tell which is meant"
                )
            } else {
                continue;
            };
            report.model(place, message);
        }
    }
}
