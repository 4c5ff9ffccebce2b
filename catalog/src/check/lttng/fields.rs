//! Fields as LTTng-UST's macros take and record them.

use std::collections::HashMap;

use super::names::LONGEST;
use crate::check::parts::{self, Part};
use crate::error::{Authority, Report};
use crate::field_type::{Extent, FieldType, Integer};
use crate::model::{Catalog, Field};
use crate::place::Place;

/// The most arguments that LTTng-UST's macros can take.
const MOST_ARGUMENTS: usize = 10;

/// The size of a sub-buffer unless `lttng enable-channel --subbuf-size` says otherwise.
const SUB_BUFFER: u64 = 512 * 1024;

/// Checks all fields.
pub(super) fn check(catalog: &Catalog, report: &mut Report) {
    for list in parts::field_lists(catalog) {
        for (place, field) in parts::fields(&list) {
            check_length_of_name(field, &place, report);
            check_unrecorded(field, &place, report);
        }
        check_names_of_lengths(&list, report);
        check_number_of_arguments(&list, report);
        check_size(&list, report);
    }
}

fn check_length_of_name(field: &Field, place: &Place, report: &mut Report) {
    let length = field.length_name().map_or(field.name.len(), |name| name.len());
    if length > LONGEST {
        let message =
            format!("the name is {length} bytes long as it is recorded, and LTTng cuts it off at {LONGEST}");
        report.add(Authority::Lttng, place.value("name"), message);
    }
}

/// LTTng-UST has macros for plain numbers only, where a value is not recorded.
fn check_unrecorded(field: &Field, place: &Place, report: &mut Report) {
    let Some(integer) = field.kind.integer().filter(|_| !field.recorded) else {
        return;
    };
    let is_bytes = matches!(field.kind, FieldType::Sequence { element, .. } if element == Integer::BYTE);
    if integer != Integer::new(integer.width, integer.signed) && !is_bytes {
        report.add(
            Authority::Lttng,
            place.value("type"),
            "in LTTng-UST a value that is not recorded has neither a base nor a byte order; leave `hex` and \
             `network` out",
        );
    }
}

/// No field is recorded under the name of another's length.
fn check_names_of_lengths(list: &Part<'_, [Field]>, report: &mut Report) {
    let lengths = list.part.iter().filter_map(|field| Some((field.length_name()?, field.name.as_str())));
    let owners: HashMap<String, &str> = lengths.collect();
    for (place, field) in parts::fields(list) {
        if let Some(owner) = owners.get(&field.name) {
            let message =
                format!("LTTng records the length of `{owner}` under this name; choose another name");
            report.add(Authority::Lttng, place.value("name"), message);
        }
    }
}

fn check_number_of_arguments(list: &Part<'_, [Field]>, report: &mut Report) {
    let arguments =
        list.part.iter().flat_map(|field| [Some(field.argument.clone()), field.length_argument()]);
    let count = arguments.flatten().filter(|argument| !argument.is_empty()).count();
    if count > MOST_ARGUMENTS {
        report.add(
            Authority::Lttng,
            list.place.value("fields"),
            format!(
                "LTTng-UST takes at most {MOST_ARGUMENTS} arguments, and these are {count}; text, \
                 bytes and sequences count twice, for their length"
            ),
        );
    }
}

/// The arrays of an event fit into a sub-buffer.
fn check_size(list: &Part<'_, [Field]>, report: &mut Report) {
    let size = |field: &Field| match field.kind.shape(&list.provider.enums) {
        shape if matches!(shape.extent, Extent::Fixed(_)) => shape.fixed_size(),
        _ => 0,
    };
    let bytes: u64 = list.part.iter().filter(|field| field.recorded).map(size).sum();
    if bytes > SUB_BUFFER {
        report.add(
            Authority::Lttng,
            list.place.value("fields"),
            format!(
                "the arrays take {bytes} bytes, and LTTng discards an event that does not fit into \
                 a sub-buffer of {SUB_BUFFER} bytes; record a sequence of what matters"
            ),
        );
    }
}
