//! Rules for enumerations and their labels.

use std::collections::HashMap;

use super::names::{LONGEST, check_name};
use crate::error::Report;
use crate::model::{Enumeration, Integer, Label, Provider};
use crate::place::{Place, Step};

pub(super) fn check(provider: &Provider, enumeration: &Enumeration, place: &Place, report: &mut Report) {
    check_name(&enumeration.name, place, report);
    let length = provider.name.len() + 1 + enumeration.name.len();
    if length > LONGEST {
        report.add(
            place.clone(),
            format!(
                "LTTng calls this `provider_enum`, which is {length} bytes long, and cuts it off at {LONGEST}"
            ),
        );
    }
    let container = enumeration.container;
    let plain = Integer::new(container.width, container.signed);
    if container != plain {
        report.add(
            place.value("type"),
            format!("LTTng-UST records an enum in decimal and in the machine's byte order; write `{plain}`"),
        );
    }
    check_labels(enumeration, plain, place, report);
}

fn check_labels(enumeration: &Enumeration, plain: Integer, place: &Place, report: &mut Report) {
    let mut by_rust_name: HashMap<String, &Label> = HashMap::new();
    for (index, label) in enumeration.labels.iter().enumerate() {
        let place = place.then(Step::Label(index, label.name.clone()));
        check_values(label, plain, &place, report);
        let others = &enumeration.labels[..index];
        if let Some(other) = others.iter().find(|other| overlap(other, label)) {
            report.add(
                place.clone(),
                format!(
                    "`{}` has {} too; a value has one label, or readers cannot tell which is meant",
                    other.name,
                    common(other, label)
                ),
            );
        }
        let wrong = wrong_label(label).or_else(|| {
            let other = by_rust_name.insert(label.rust_name(), label)?;
            Some(clash(other, label))
        });
        if let Some(wrong) = wrong {
            report.add(place.value("name"), wrong);
        }
    }
}

/// Why a label cannot be called so. An empty name is refused where it is read.
fn wrong_label(label: &Label) -> Option<String> {
    let name = &label.name;
    let is_part = |letter: &char| letter.is_ascii_alphanumeric() || " _-.".contains(*letter);
    if let Some(wrong) = name.chars().find(|letter| !is_part(letter)) {
        let wrong = wrong.escape_debug();
        return Some(format!("a label has letters, digits, spaces, `_`, `-` and `.`, not `{wrong}`"));
    }
    if name.starts_with(|first: char| !first.is_ascii_alphabetic()) {
        return Some("a label begins with a letter, because it names a Rust variant".to_owned());
    }
    match label.rust_name().as_str() {
        "Self" => return Some("Rust keeps `Self` for itself; choose another name".to_owned()),
        Label::UNLABELLED => {
            return Some(
                "in Rust this variant is for values without a label; choose another name".to_owned(),
            );
        }
        _ => {}
    }
    let length = name.len();
    (length > LONGEST)
        .then(|| format!("the label is {length} bytes long, and LTTng cuts it off at {LONGEST}"))
}

/// Says how two labels are the same.
fn clash(other: &Label, label: &Label) -> String {
    if other.name == label.name {
        return "there is a label of this name already; for several values give it a range, \
                `values = \"3..=7\"`"
            .to_owned();
    }
    let rust_name = label.rust_name();
    format!("in Rust this is `{rust_name}`, and so is `{}`; rename one of the two", other.name)
}

fn check_values(label: &Label, container: Integer, place: &Place, report: &mut Report) {
    let (start, end) = (*label.values.start(), *label.values.end());
    let fits = container.range();
    let key = if start == end { "value" } else { "values" };
    if start > end {
        report.add(
            place.value("values"),
            format!("the range starts after its end; did you mean `{end}..={start}`?"),
        );
    } else if let Some(value) = [start, end].into_iter().find(|value| !fits.contains(value)) {
        report.add(
            place.value(key),
            format!(
                "{value} does not fit into `{container}`, which goes from {} to {}",
                fits.start(),
                fits.end()
            ),
        );
    }
}

fn overlap(left: &Label, right: &Label) -> bool {
    left.values.start() <= right.values.end() && right.values.start() <= left.values.end()
}

/// The values that two overlapping labels have in common, in words.
fn common(left: &Label, right: &Label) -> String {
    let start = left.values.start().max(right.values.start());
    let end = left.values.end().min(right.values.end());
    if start == end { format!("the value {start}") } else { format!("the values {start} to {end}") }
}
