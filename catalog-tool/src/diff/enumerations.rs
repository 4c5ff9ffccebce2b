//! Enums that changed.

use lttng_catalog::{Enumeration, Label};

use super::changes::{Changes, Notices};

/// Reports what differs between two versions of an enum.
pub(super) fn compare(place: &str, old: &Enumeration, new: &Enumeration, changes: &mut Changes) {
    changes.documentation(place, &old.doc, &new.doc);
    // The trace says the width, so readers do not notice.
    changes.changed(place, "type", &old.container.to_string(), &new.container.to_string(), Notices::Caller);
    for label in &old.labels {
        let place = format!("{place} → {}", label.name);
        match new.labels.iter().find(|newer| newer.name == label.name) {
            Some(newer) => {
                changes.changed(&place, "value", &values(label), &values(newer), Notices::Reader);
                changes.documentation(&place, &label.doc, &newer.doc);
            }
            None => changes.add(&place, "the label is gone", Notices::Both),
        }
    }
    for label in new.labels.iter().filter(|label| !old.labels.iter().any(|known| known.name == label.name)) {
        let place = format!("{place} → {}", label.name);
        // A value that readers showed with another label, or as a number, may now have this one.
        changes.add(&place, format!("new label for {}", values(label)), Notices::Nobody);
    }
}

fn values(label: &Label) -> String {
    let (first, last) = (label.values.start(), label.values.end());
    if first == last { first.to_string() } else { format!("{first} to {last}") }
}
