//! Lengths and variants to the fields that they refer to.
//!
//! TSDL's paths are looked up among the members that stand before them, first in their own structure, then in
//! those around it, then in the scopes that are decoded earlier, innermost first. A path may also name the scope:
//!
//! ```text
//! trace.packet.header → stream.packet.context → stream.event.header → stream.event.context → event.context
//!                                                                     → event.fields
//! ```
//!
//! CTF 2's locations say [where to begin](super::locate).
//!
//! A field that is referred to gets a [`Slot`], which decoding fills and what refers to it reads. Where a variant
//! stands in between, a reference may mean one field or another; these share a slot, as only one of them is there.

use std::collections::HashMap;
use std::sync::Arc;

use super::draft::{Draft, DraftLength, DraftMember, Kind, Location, Origin, Path, Tag};
use super::locate::locate;
use super::model::{Array, EnvironmentValue, Length, Member, Optional, Slot, Struct, Type, Variant};
use crate::Enumeration;

/// How many parts all types together may have.
const MAX_NODES: usize = 1 << 19;

/// A scope that stands before the one that is being linked.
pub type Outer<'a> = (Origin, &'a Type);

/// Links types, and hands out slots.
pub struct Linker {
    pub environment: Vec<(String, EnvironmentValue)>,
    nodes: usize,
    /// All integers are numbered. While types are linked, their slots and those of references are these numbers.
    /// For each number this has another one of the same slot, nearer to the first.
    same: Vec<Slot>,
    /// The numbers of integers that something refers to.
    referred: Vec<Slot>,
}

/// A field that a reference leads to.
pub struct Target {
    pub number: Slot,
    pub signed: bool,
    pub labels: Option<Arc<Enumeration>>,
}

/// Where in the types linking is.
pub struct Place<'a> {
    pub origin: Origin,
    /// Innermost last.
    pub outer: &'a [Outer<'a>],
    /// The structures around the place, innermost last.
    pub around: Vec<Around>,
}

/// A structure that is being linked.
pub struct Around {
    /// The members so far.
    pub members: Vec<Member>,
    /// The name of the member that is being linked.
    pub current: Arc<str>,
}

impl Linker {
    /// A linker for a trace with this environment, whose numbers may be lengths.
    pub fn new(environment: Vec<(String, EnvironmentValue)>) -> Linker {
        Linker { environment, nodes: 0, same: Vec::new(), referred: Vec::new() }
    }

    /// Links the type of a scope.
    pub fn link(&mut self, origin: Origin, draft: &Draft, outer: &[Outer<'_>]) -> Result<Type, String> {
        self.grow(draft.nodes)?;
        self.resolve(draft, &mut Place { origin, outer, around: Vec::new() })
    }

    /// Counts parts that are about to be made.
    fn grow(&mut self, nodes: usize) -> Result<(), String> {
        self.nodes = self.nodes.saturating_add(nodes);
        if self.nodes > MAX_NODES {
            return Err("all types together have too many parts".into());
        }
        Ok(())
    }

    fn resolve(&mut self, draft: &Draft, place: &mut Place<'_>) -> Result<Type, String> {
        Ok(match &draft.kind {
            Kind::Integer(integer) => {
                let mut integer = integer.clone();
                integer.slot = Some(self.number());
                Type::Integer(integer)
            }
            Kind::Enum(integer, labels) => {
                let mut integer = integer.clone();
                integer.slot = Some(self.number());
                Type::Enum(integer, labels.clone())
            }
            Kind::Variable(integer) => {
                let mut integer = integer.clone();
                integer.slot = Some(self.number());
                Type::Variable(integer)
            }
            Kind::Float(float) => Type::Float(float.clone()),
            Kind::Text => Type::Text,
            Kind::Struct { align, members } => {
                let (count, current) = (members.len(), Arc::from(""));
                place.around.push(Around { members: Vec::with_capacity(count), current });
                for DraftMember { name, label, draft } in members {
                    if let Some(structure) = place.around.last_mut() {
                        structure.current = name.clone();
                    }
                    let kind = self.resolve(draft, place).map_err(|reason| format!("`{name}`: {reason}"))?;
                    if let Some(structure) = place.around.last_mut() {
                        structure.members.push(Member { name: name.clone(), label: label.clone(), kind });
                    }
                }
                let members = place.around.pop().map_or(Vec::new(), |structure| structure.members);
                Type::Struct(Struct { align: *align, members })
            }
            Kind::Variant { tag, members } => self.variant(tag, members, place)?,
            Kind::Optional { selector, values, content } => Type::Optional(Optional {
                selector: self.at(selector, place, |_| Ok(()))?,
                values: values.clone(),
                content: Box::new(self.resolve(content, place)?),
            }),
            Kind::Array { align, is_uuid, length, element } => Type::Array(Array {
                align: *align,
                is_uuid: *is_uuid,
                length: self.length(length, place)?,
                element: Box::new(self.resolve(element, place)?),
            }),
        })
    }

    fn number(&mut self) -> Slot {
        self.same.push(self.same.len());
        self.same.len() - 1
    }

    fn length(&mut self, length: &DraftLength, place: &Place<'_>) -> Result<Length, String> {
        let path = match length {
            DraftLength::Fixed(length) => return Ok(Length::Fixed(*length)),
            DraftLength::Path(path) => path,
            DraftLength::At(location) => {
                let unsigned = |target: &Target| match target.signed {
                    true => Err("a length must be unsigned".to_owned()),
                    false => Ok(()),
                };
                return Ok(Length::Slot(self.at(location, place, unsigned)?));
            }
        };
        if let [environment, name] = path.as_slice()
            && environment == "env"
        {
            let found = self.environment.iter().find(|(key, _)| key == name).map(|(_, value)| value);
            return match found {
                Some(EnvironmentValue::Integer(length)) if (0..=i128::from(u64::MAX)).contains(length) => {
                    Ok(Length::Fixed(*length as u64))
                }
                _ => Err(format!("`env.{name}` is no length")),
            };
        }
        let target = place.find(path)?;
        Ok(Length::Slot(self.refer(&[target])))
    }

    fn variant(&mut self, tag: &Tag, members: &[DraftMember], place: &mut Place<'_>) -> Result<Type, String> {
        let (tag, choices) = match tag {
            Tag::Missing => return Err("a variant has no tag".into()),
            Tag::Number(selector, choices) => (self.at(selector, place, |_| Ok(()))?, choices.clone()),
            Tag::Label(path) => {
                let target = place.find(path)?;
                let labels = target.labels.as_ref();
                let labels = labels.ok_or_else(|| format!("`{}` is no enumeration", path.join(".")))?;
                self.grow(labels.labels.len())?;
                let positions = members.iter().enumerate().rev();
                let positions: HashMap<&str, usize> =
                    positions.map(|(position, member)| (&*member.name, position)).collect();
                let choices = labels
                    .labels
                    .iter()
                    .filter_map(|(label, values)| Some((values.clone(), *positions.get(label.as_str())?)));
                let choices = choices.collect();
                (self.refer(&[target]), choices)
            }
        };
        let members = members.iter().map(|DraftMember { name, label, draft }| {
            let kind = self.resolve(draft, place).map_err(|reason| format!("`{name}`: {reason}"))?;
            Ok(Member { name: name.clone(), label: label.clone(), kind })
        });
        let members = members.collect::<Result<_, String>>()?;
        Ok(Type::Variant(Variant { tag, choices, members }))
    }

    /// The number that stands for all fields that may be at a location.
    fn at(
        &mut self,
        location: &Location,
        place: &Place<'_>,
        check: impl Fn(&Target) -> Result<(), String>,
    ) -> Result<Slot, String> {
        let targets = locate(location, place)?;
        self.grow(targets.len())?;
        targets.iter().try_for_each(check)?;
        Ok(self.refer(&targets))
    }

    /// Notes that something refers to these fields, of which one is there.
    fn refer(&mut self, targets: &[Target]) -> Slot {
        let first = targets.iter().map(|target| self.first(target.number)).min().unwrap_or(0);
        for target in targets {
            let other = self.first(target.number);
            self.same[other] = first;
        }
        self.referred.push(first);
        first
    }

    /// The first number of the same slot.
    fn first(&mut self, number: Slot) -> Slot {
        let mut first = number;
        while self.same[first] != first {
            self.same[first] = self.same[self.same[first]];
            first = self.same[first];
        }
        first
    }

    /// Gives the integers that are referred to and what refers to them their slots, and other integers none.
    /// Returns how many slots there are. Run when all is linked.
    pub fn settle<'t>(&mut self, types: impl Iterator<Item = &'t mut Type>) -> usize {
        let mut slots = HashMap::new();
        for number in std::mem::take(&mut self.referred) {
            let next = slots.len();
            slots.entry(self.first(number)).or_insert(next);
        }
        types.for_each(|kind| self.settle_one(kind, &slots));
        slots.len()
    }

    fn settle_one(&mut self, kind: &mut Type, slots: &HashMap<Slot, Slot>) {
        let mut slot = |number: Slot| slots.get(&self.first(number)).copied();
        match kind {
            Type::Integer(integer) | Type::Enum(integer, _) => integer.slot = integer.slot.and_then(slot),
            Type::Variable(integer) => integer.slot = integer.slot.and_then(slot),
            Type::Float(_) | Type::Text => {}
            Type::Struct(Struct { members, .. }) => {
                members.iter_mut().for_each(|member| self.settle_one(&mut member.kind, slots));
            }
            Type::Variant(Variant { tag, members, .. }) => {
                *tag = slot(*tag).unwrap_or_default();
                members.iter_mut().for_each(|member| self.settle_one(&mut member.kind, slots));
            }
            Type::Optional(Optional { selector, content, .. }) => {
                *selector = slot(*selector).unwrap_or_default();
                self.settle_one(content, slots);
            }
            Type::Array(Array { length, element, .. }) => {
                if let Length::Slot(number) = length {
                    *number = slot(*number).unwrap_or_default();
                }
                self.settle_one(element, slots);
            }
        }
    }
}

impl Place<'_> {
    /// The field that a path of TSDL's leads to.
    fn find(&self, path: &Path) -> Result<Target, String> {
        let full = path.join(".");
        let rest_of = |origin: Origin| {
            let name = origin.in_tsdl();
            let parts = name.split('.').count();
            (full.starts_with(name) && path.len() > parts).then(|| &path[parts..])
        };
        let found = if let Some(rest) = rest_of(self.origin) {
            self.around.first().and_then(|structure| find(&structure.members, rest))
        } else if let Some((outer, rest)) =
            self.outer.iter().find_map(|(origin, outer)| Some((outer, rest_of(*origin)?)))
        {
            find(outer.members(), rest)
        } else {
            let around = self.around.iter().rev().map(|structure| structure.members.as_slice());
            let outer = self.outer.iter().rev().map(|(_, outer)| outer.members());
            around.chain(outer).find_map(|members| find(members, path))
        };
        found.ok_or_else(|| format!("`{full}` is no integer that stands before it"))
    }
}

fn find(members: &[Member], path: &[String]) -> Option<Target> {
    let (first, rest) = path.split_first()?;
    let member = members.iter().find(|member| *member.name == **first)?;
    match &member.kind {
        Type::Struct(Struct { members, .. }) | Type::Variant(Variant { members, .. }) => find(members, rest),
        other if rest.is_empty() => Target::of(other),
        _ => None,
    }
}

impl Target {
    /// An integer, while it is being linked.
    pub fn of(kind: &Type) -> Option<Target> {
        let (number, signed, labels) = match kind {
            Type::Integer(integer) => (integer.slot, integer.signed, None),
            Type::Enum(integer, labels) => (integer.slot, integer.signed, Some(labels)),
            Type::Variable(integer) => (integer.slot, integer.signed, integer.labels.as_ref()),
            _ => return None,
        };
        Some(Target { number: number?, signed, labels: labels.cloned() })
    }
}
