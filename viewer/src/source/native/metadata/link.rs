//! Lengths and variants to the fields that they refer to.
//!
//! A path is looked up among the members that stand before it, first in its own structure, then in those
//! around it, then in the scopes that are decoded earlier, innermost first. A path may also name the scope:
//!
//! ```text
//! trace.packet.header → stream.packet.context → stream.event.header → stream.event.context → event.context
//!                                                                     → event.fields
//! ```
//!
//! A field that is referred to gets a [`Slot`], which decoding fills and what refers to it reads.

use std::collections::HashMap;
use std::sync::Arc;

use super::ast;
use super::draft::{Draft, Kind, Members};
use super::model::{Array, EnvironmentValue, Integer, Length, Member, Slot, Struct, Type, Variant};
use crate::source::Enumeration;

/// How many parts all types together may have.
const MAX_NODES: usize = 1 << 19;

/// A scope that stands before the one that is being linked, with its name.
pub type Outer<'a> = (&'static str, &'a Type);

/// Links types, and hands out slots.
#[derive(Default)]
pub struct Linker {
    pub environment: Vec<(String, EnvironmentValue)>,
    nodes: usize,
    /// The next number for an integer; all are numbered, and those referred to keep a slot.
    next: Slot,
    /// From an integer's number to its slot.
    slots: HashMap<Slot, Slot>,
}

/// A field that a path leads to.
struct Target {
    slot: Slot,
    labels: Option<Arc<Enumeration>>,
}

struct Scope<'a> {
    name: &'static str,
    /// Innermost last.
    outer: &'a [Outer<'a>],
    /// The members so far of each structure around the place, innermost last.
    around: Vec<Vec<Member>>,
}

impl Linker {
    /// A linker for a trace with this environment, whose numbers may be lengths.
    pub fn new(environment: Vec<(String, EnvironmentValue)>) -> Linker {
        Linker { environment, ..Linker::default() }
    }

    /// Links the type of a scope.
    pub fn link(&mut self, name: &'static str, draft: &Draft, outer: &[Outer<'_>]) -> Result<Type, String> {
        self.nodes = self.nodes.saturating_add(draft.nodes);
        if self.nodes > MAX_NODES {
            return Err("all types together have too many parts".into());
        }
        self.resolve(draft, &mut Scope { name, outer, around: Vec::new() })
    }

    /// How many slots there are.
    pub fn slots(&self) -> usize {
        self.slots.len()
    }

    fn resolve(&mut self, draft: &Draft, scope: &mut Scope<'_>) -> Result<Type, String> {
        Ok(match &draft.kind {
            Kind::Integer(integer) => Type::Integer(self.numbered(integer)),
            Kind::Enum(integer, labels) => Type::Enum(self.numbered(integer), labels.clone()),
            Kind::Float(float) => Type::Float(float.clone()),
            Kind::Text => Type::Text,
            Kind::Struct { align, members } => {
                scope.around.push(Vec::with_capacity(members.len()));
                for (name, member) in members {
                    let kind = self.resolve(member, scope).map_err(|reason| format!("`{name}`: {reason}"))?;
                    if let Some(structure) = scope.around.last_mut() {
                        structure.push(Member { name: name.clone(), kind });
                    }
                }
                let members = scope.around.pop().unwrap_or_default();
                Type::Struct(Struct { align: *align, members })
            }
            Kind::Variant { tag, members } => {
                let tag = tag.as_ref().ok_or("a variant has no tag")?;
                self.variant(tag, members, scope)?
            }
            Kind::Array { length, element } => {
                let length = self.length(length, scope)?;
                Type::Array(Array { length, element: Box::new(self.resolve(element, scope)?) })
            }
        })
    }

    fn numbered(&mut self, integer: &Integer) -> Integer {
        self.next += 1;
        Integer { slot: Some(self.next), ..integer.clone() }
    }

    fn length(&mut self, length: &ast::Length, scope: &Scope<'_>) -> Result<Length, String> {
        let path = match length {
            ast::Length::Fixed(length) => return Ok(Length::Fixed(*length)),
            ast::Length::Path(path) => path,
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
        let target = scope.find(path)?;
        Ok(Length::Slot(self.slot(target.slot)))
    }

    fn variant(&mut self, tag: &[String], members: &Members, scope: &mut Scope<'_>) -> Result<Type, String> {
        let target = scope.find(tag)?;
        let labels = target.labels.ok_or_else(|| format!("`{}` is no enumeration", tag.join(".")))?;
        let choices = labels
            .labels
            .iter()
            .filter_map(|(label, values)| {
                let member = members.iter().position(|(name, _)| name == label)?;
                Some((values.clone(), member))
            })
            .collect();
        let tag = self.slot(target.slot);
        let members = members
            .iter()
            .map(|(name, member)| {
                let kind = self.resolve(member, scope).map_err(|reason| format!("`{name}`: {reason}"))?;
                Ok(Member { name: name.clone(), kind })
            })
            .collect::<Result<_, String>>()?;
        Ok(Type::Variant(Variant { tag, choices, members }))
    }

    fn slot(&mut self, number: Slot) -> Slot {
        let next = self.slots.len();
        *self.slots.entry(number).or_insert(next)
    }

    /// Gives the integers that are referred to their slots, and the others none. Run when all is linked.
    pub fn settle(&self, kind: &mut Type) {
        match kind {
            Type::Integer(integer) | Type::Enum(integer, _) => {
                integer.slot = integer.slot.and_then(|number| self.slots.get(&number).copied());
            }
            Type::Float(_) | Type::Text => {}
            Type::Struct(Struct { members, .. }) | Type::Variant(Variant { members, .. }) => {
                members.iter_mut().for_each(|member| self.settle(&mut member.kind));
            }
            Type::Array(array) => self.settle(&mut array.element),
        }
    }
}

impl Scope<'_> {
    fn find(&self, path: &[String]) -> Result<Target, String> {
        let full = path.join(".");
        let rest_of = |name: &str| {
            let parts = name.split('.').count();
            (full.starts_with(name) && path.len() > parts).then(|| &path[parts..])
        };
        let found = if let Some(rest) = rest_of(self.name) {
            self.around.first().and_then(|members| find(members, rest))
        } else if let Some((outer, rest)) =
            self.outer.iter().find_map(|(name, outer)| Some((outer, rest_of(name)?)))
        {
            find(outer.members(), rest)
        } else {
            let around = self.around.iter().rev().map(Vec::as_slice);
            let outer = self.outer.iter().rev().map(|(_, outer)| outer.members());
            around.chain(outer).find_map(|members| find(members, path))
        };
        found.ok_or_else(|| format!("`{full}` is no integer that stands before it"))
    }
}

fn find(members: &[Member], path: &[String]) -> Option<Target> {
    let (first, rest) = path.split_first()?;
    let member = members.iter().find(|member| member.name == *first)?;
    match &member.kind {
        Type::Integer(integer) if rest.is_empty() => Some(Target { slot: integer.slot?, labels: None }),
        Type::Enum(integer, labels) if rest.is_empty() => {
            Some(Target { slot: integer.slot?, labels: Some(labels.clone()) })
        }
        Type::Struct(Struct { members, .. }) | Type::Variant(Variant { members, .. }) => find(members, rest),
        _ => None,
    }
}
