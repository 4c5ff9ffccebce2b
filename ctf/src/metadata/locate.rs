//! CTF 2's field locations to the fields that they may mean.
//!
//! A location begins in a scope or in the structure around what refers, goes up to structures around that, and
//! follows members down. On its way it passes through all options of variants, through optional fields, and
//! through those arrays whose element it is in itself:
//!
//! ```text
//! payload  { count, pairs: [ { length, text } ] }     from `text`: [length]          → this element's
//!                                                     from `text`: [null, count]     → the payload's
//!                                                     payload, [pairs, length]       → from `text` this element's
//! ```

use super::draft::{FieldLocation, Origin};
use super::model::{Member, Type};
use super::surroundings::{Surroundings, Target, member};

/// The integers that a location may mean: several, if it passes through a variant.
pub fn locate(location: &FieldLocation, place: &Surroundings<'_>) -> Result<Vec<Target>, String> {
    let mut found = Vec::new();
    let path: Vec<&str> = location.down.iter().map(String::as_str).collect();
    let outer = place.outer.iter().find(|(outer, _)| location.origin == Some(*outer));
    if let Some((_, outer)) = outer {
        below(outer.members(), &path, &mut found);
    } else if location.origin == Some(place.origin) {
        within(place, 0, &path, &mut found);
    } else if location.origin.is_none() {
        if let Some(level) = place.around.len().checked_sub(location.up + 1) {
            within(place, level, &path, &mut found);
        }
    }
    if found.is_empty() {
        return Err(format!("no earlier integer is called `{}`", words(location)));
    }
    Ok(found)
}

/// Follows a path from a structure that is being linked.
fn within(place: &Surroundings<'_>, level: usize, path: &[&str], found: &mut Vec<Target>) {
    let (Some(structure), Some((first, rest))) = (place.around.get(level), path.split_first()) else {
        return;
    };
    if *structure.current == **first {
        within(place, level + 1, rest, found);
    } else if let Some(member) = structure.member(first) {
        inside(&member.kind, rest, found);
    }
}

/// Follows a path from members that are linked.
fn below(members: &[Member], path: &[&str], found: &mut Vec<Target>) {
    let Some((first, rest)) = path.split_first() else { return };
    if let Some(member) = member(members, first) {
        inside(&member.kind, rest, found);
    }
}

/// Follows the rest of a path in a field that is linked.
fn inside(kind: &Type, rest: &[&str], found: &mut Vec<Target>) {
    match kind {
        Type::Struct(structure) => below(&structure.members, rest, found),
        Type::Variant(variant) => {
            variant.members.iter().for_each(|member| inside(&member.kind, rest, found));
        }
        Type::Optional(optional) => inside(&optional.content, rest, found),
        other if rest.is_empty() => found.extend(Target::of(other)),
        _ => {}
    }
}

/// A location as it is named in messages.
fn words(location: &FieldLocation) -> String {
    let origin = location.origin.map(Origin::in_json);
    let up = std::iter::repeat_n("null", location.up);
    let parts = origin.into_iter().chain(up).chain(location.down.iter().map(String::as_str));
    parts.collect::<Vec<_>>().join("/")
}
