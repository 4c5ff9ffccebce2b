//! The position of the linker in the types, and the fields that are visible from there.

use std::collections::HashMap;
use std::sync::Arc;

use super::draft::{FieldPath, Origin};
use super::model::{Member, Slot, StructType, Type, VariantType};
use crate::Enumeration;

/// The most members that are searched one by one; a structure with more has an index of their names.
const SEARCHED_MEMBERS: usize = 16;

/// A scope that is decoded before the one that is being linked.
pub type Outer<'a> = (Origin, &'a Type);

/// A field that a length or a variant refers to.
pub struct Target {
    pub number: Slot,
    pub signed: bool,
    pub labels: Option<Arc<Enumeration>>,
}

/// The position of the linker in the types.
pub struct Surroundings<'a> {
    pub origin: Origin,
    /// Innermost last.
    pub outer: &'a [Outer<'a>],
    /// The structures around the position, innermost last.
    pub around: Vec<PartialStruct>,
}

/// A structure that is being linked.
pub struct PartialStruct {
    pub members: Vec<Member>,
    /// The positions of the members by their names, if there are many.
    index: Option<HashMap<Arc<str>, usize>>,
    /// The name of the member that is being linked.
    pub current: Arc<str>,
}

impl PartialStruct {
    /// A structure that will have this number of members.
    pub fn new(count: usize) -> PartialStruct {
        let index = (count > SEARCHED_MEMBERS).then(HashMap::new);
        PartialStruct { members: Vec::with_capacity(count), index, current: Arc::from("") }
    }

    pub fn push(&mut self, member: Member) {
        if let Some(index) = &mut self.index {
            index.entry(member.name.clone()).or_insert(self.members.len());
        }
        self.members.push(member);
    }

    /// The first member with this name.
    pub fn member(&self, name: &str) -> Option<&Member> {
        match &self.index {
            Some(index) => index.get(name).map(|&position| &self.members[position]),
            None => member(&self.members, name),
        }
    }
}

impl Surroundings<'_> {
    /// The field that a path of TSDL's leads to.
    pub fn find(&self, path: &FieldPath) -> Result<Target, String> {
        let full = path.join(".");
        let rest_of = |origin: Origin| {
            let mut rest = path.as_slice();
            for part in origin.in_tsdl().split('.') {
                rest = rest.split_first().filter(|(first, _)| *first == part)?.1;
            }
            (!rest.is_empty()).then_some(rest)
        };
        let found = if let Some(rest) = rest_of(self.origin) {
            self.around.first().and_then(|structure| find(|name| structure.member(name), rest))
        } else if let Some((outer, rest)) =
            self.outer.iter().find_map(|(origin, outer)| Some((outer, rest_of(*origin)?)))
        {
            find(|name| member(outer.members(), name), rest)
        } else {
            let mut around = self.around.iter().rev();
            let mut outer = self.outer.iter().rev();
            around
                .find_map(|structure| find(|name| structure.member(name), path))
                .or_else(|| outer.find_map(|(_, outer)| find(|name| member(outer.members(), name), path)))
        };
        found.ok_or_else(|| format!("no earlier integer is called `{full}`"))
    }
}

/// The first member with this name.
pub fn member<'m>(members: &'m [Member], name: &str) -> Option<&'m Member> {
    members.iter().find(|member| *member.name == *name)
}

/// Follows a path, whose first part `lookup` finds.
fn find<'m>(lookup: impl Fn(&str) -> Option<&'m Member>, path: &[String]) -> Option<Target> {
    let (first, rest) = path.split_first()?;
    let mut kind = &lookup(first)?.kind;
    for name in rest {
        kind = match kind {
            Type::Struct(StructType { members, .. }) | Type::Variant(VariantType { members, .. }) => {
                &member(members, name)?.kind
            }
            _ => return None,
        };
    }
    Target::of(kind)
}

impl Target {
    /// An integer, while it is being linked.
    pub fn of(kind: &Type) -> Option<Target> {
        let Type::Integer(integer) = kind else { return None };
        Some(Target { number: integer.slot?, signed: integer.signed, labels: integer.labels.clone() })
    }
}
