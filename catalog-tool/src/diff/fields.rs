//! Fields that changed, came, went or moved.

use lttng_catalog::{Content, Extent, Field, FieldType, NumberKind, Shape, Unit};

use super::changes::{Changes, Notices};

/// Reports what differs between the fields of two versions of an event.
pub(super) fn compare(place: &str, old: &[Field], new: &[Field], changes: &mut Changes) {
    let mut kept = Vec::new();
    for field in old {
        let place = format!("{place} → {}", field.name);
        match successor(field, new) {
            Some((index, newer)) => {
                kept.push(index);
                compare_two(&place, field, newer, changes);
            }
            None if field.kind == FieldType::Stack => {
                changes.add(&place, "the field is gone", Notices::Reader)
            }
            None if field.recorded => changes.add(&place, "the field is gone", Notices::Both),
            None => changes.add(&place, "the field, which was for filters only, is gone", Notices::Caller),
        }
    }
    if !kept.is_sorted() {
        changes.add(place, "the arguments are in another order", Notices::Caller);
    }
    for (index, field) in new.iter().enumerate() {
        if !kept.contains(&index) {
            let is_passed = field.kind != FieldType::Stack;
            let notices = if is_passed { Notices::Caller } else { Notices::Nobody };
            changes.add(
                &format!("{place} → {}", field.name),
                format!("new field, `{}`", field.kind),
                notices,
            );
        }
    }
}

/// The field of the same name, or the one that had it.
fn successor<'n>(field: &Field, new: &'n [Field]) -> Option<(usize, &'n Field)> {
    let fields = || new.iter().enumerate();
    let same = fields().find(|(_, newer)| newer.name == field.name);
    same.or_else(|| fields().find(|(_, newer)| newer.formerly.contains(&field.name)))
}

fn compare_two(place: &str, old: &Field, new: &Field, changes: &mut Changes) {
    changes.documentation(place, &old.doc, &new.doc);
    if old.name != new.name {
        // Readers know it from `formerly`; callers name arguments.
        changes.changed(place, "name", &old.name, &new.name, Notices::Nobody);
    }
    changes.changed(place, "argument", &old.argument, &new.argument, Notices::Caller);
    compare_types(place, &old.kind, &new.kind, changes);
    if old.signed_length != new.signed_length {
        changes.add(place, "USDT probes show the length with another sign", Notices::Caller);
    }
    let unit = |unit: Option<Unit>| unit.map_or("", Unit::name);
    let notices = match (old.unit, new.unit) {
        // The unit was only not declared before.
        (None, _) => Notices::Nobody,
        (_, None) => Notices::Reader,
        _ => Notices::Both,
    };
    changes.changed(place, "unit", unit(old.unit), unit(new.unit), notices);
    match (old.recorded, new.recorded) {
        (true, false) => changes.add(place, "no longer recorded", Notices::Reader),
        (false, true) => changes.add(place, "recorded now", Notices::Nobody),
        _ => {}
    }
}

fn compare_types(place: &str, old: &FieldType, new: &FieldType, changes: &mut Changes) {
    if old == new {
        return;
    }
    let notices = match (reads_as(old) == reads_as(new), is_passed_as(old) == is_passed_as(new)) {
        (true, true) => Notices::Nobody,
        (true, false) => Notices::Caller,
        (false, true) => Notices::Reader,
        (false, false) => Notices::Both,
    };
    if old.to_string() == new.to_string() {
        changes.add(place, "the length is recorded in another integer", notices);
    } else {
        changes.changed(place, "type", &old.to_string(), &new.to_string(), notices);
    }
}

/// The type as a reader sees it: the trace itself says the width and the byte order.
fn reads_as(kind: &FieldType) -> String {
    let Shape { content, element, extent } = kind.shape(&[]);
    match (content, extent) {
        (Content::Enumeration, _) => kind.to_string(),
        (Content::Text, _) => "text".to_owned(),
        (_, Extent::One) if element.kind == NumberKind::Float => "float".to_owned(),
        (_, Extent::One) => format!("integer {:?}", element.base),
        _ => format!("list {:?}", element.base),
    }
}

/// The type as a caller passes it, without the base, the byte order and where its length is recorded.
fn is_passed_as(kind: &FieldType) -> String {
    let Shape { content, element, extent } = kind.shape(&[]);
    match (content, extent) {
        (Content::Stack, _) => "nothing".to_owned(),
        (Content::Enumeration | Content::Text, _) => kind.to_string(),
        (Content::Number, Extent::One) => element.rust_type(),
        (Content::Number, Extent::Fixed(count)) => format!("[{}; {count}]", element.rust_type()),
        (Content::Number, _) => format!("[{}]", element.rust_type()),
    }
}
