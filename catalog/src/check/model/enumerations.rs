//! Rules for enumerations and their labels.

use crate::error::Report;
use crate::field_type::Integer;
use crate::model::{Enumeration, Label};
use crate::place::{Place, Step};

pub(super) fn check(enumeration: &Enumeration, place: &Place, report: &mut Report) {
    let container = Integer::new(enumeration.container.width, enumeration.container.signed);
    for (index, label) in enumeration.labels.iter().enumerate() {
        let place = place.then(Step::Label(index, label.name.clone()));
        check_values(label, container, &place, report);
        let others = &enumeration.labels[..index];
        if let Some(other) = others.iter().find(|other| overlap(other, label)) {
            let message = format!(
                "`{}` already has {}; a value has one label, or readers could not tell which is meant",
                other.name,
                common(other, label)
            );
            report.model(place.clone(), message);
        }
        if let Some(wrong) = wrong_letter(&label.name) {
            let wrong = wrong.escape_debug();
            let message =
                format!("invalid label: it has letters, digits, spaces, `_`, `-` and `.`, not `{wrong}`");
            report.model(place.value("name"), message);
        } else if others.iter().any(|other| other.name == label.name) {
            let message = "duplicate label; for several values give it a range, `values = \"3..=7\"`";
            report.model(place.value("name"), message);
        }
    }
}

/// Whether a label is made of what labels may have. An empty one is refused where it is read.
pub(in crate::check) fn is_label(name: &str) -> bool {
    wrong_letter(name).is_none()
}

fn wrong_letter(name: &str) -> Option<char> {
    name.chars().find(|letter| !letter.is_ascii_alphanumeric() && !" _-.".contains(*letter))
}

fn check_values(label: &Label, container: Integer, place: &Place, report: &mut Report) {
    let (start, end) = (*label.values.start(), *label.values.end());
    let fits = container.range();
    let key = if start == end { "value" } else { "values" };
    if start > end {
        report.model(
            place.value("values"),
            format!("the range starts after its end; did you mean `{end}..={start}`?"),
        );
    } else if let Some(value) = [start, end].into_iter().find(|value| !fits.contains(value)) {
        report.model(
            place.value(key),
            format!(
                "{value} does not fit into `{container}`, which holds {} to {}",
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
