//! Lengths and variants to the fields that they refer to.
//!
//! TSDL's paths are looked up among the members before them, first in their own structure, then in those around it,
//! then in the scopes that are decoded earlier, innermost first. A path may also name the scope:
//!
//! ```text
//! trace.packet.header → stream.packet.context → stream.event.header → stream.event.context → event.context
//!                                                                     → event.fields
//! ```
//!
//! CTF 2's locations say [where to begin](super::locate).
//!
//! A field that is referred to gets a [`Slot`], which decoding fills and what refers to it reads. A reference into a
//! variant may mean one field or another; these share a slot, as only one of them is there. While types are linked, all
//! integers are numbered, and numbers that share a slot are joined in a union-find forest. Events reuse the slots of
//! other events, as decoding does not hold two at once.

use std::collections::HashMap;
use std::rc::Rc;

use super::draft::{Draft, DraftKind, DraftLength, DraftMember, FieldLocation, Language, Origin, Tag};
use super::locate::locate;
use super::model::{
    ArrayType, EventLayout, IntegerType, Length, Member, Metadata, OptionalType, Slot, StructType, Type,
    VariantType,
};
use super::surroundings::{Outer, PartialStruct, Surroundings, Target};

/// The number of parts that all types together may have, and [more](BYTES_PER_NODE) for a larger text: a named type is
/// copied out wherever it is used, so a short text can describe types of any size.
const MIN_NODES: usize = 1 << 18;

/// The size of the text, in bytes, that allows for one more part. The shortest member, `u8 x;`, has more.
const BYTES_PER_NODE: usize = 4;

/// Links types, and hands out slots.
pub struct Linker {
    language: Language,
    /// The numbers in the environment, which may be lengths.
    pub environment: HashMap<String, u64>,
    nodes: usize,
    max_nodes: usize,
    /// Union-find parents of the integers' numbers; the root of a tree is its smallest number.
    parents: Vec<Slot>,
    /// A number in each tree that something refers to.
    used: Vec<Slot>,
}

impl Linker {
    /// A linker for a text of this size in bytes.
    pub fn new(language: Language, text_size: usize) -> Linker {
        Linker {
            language,
            environment: HashMap::new(),
            nodes: 0,
            max_nodes: MIN_NODES + text_size / BYTES_PER_NODE,
            parents: Vec::new(),
            used: Vec::new(),
        }
    }

    /// Makes room for the types of this many more bytes of text.
    pub fn extend(&mut self, text_size: usize) {
        self.max_nodes = self.max_nodes.saturating_add(text_size / BYTES_PER_NODE);
    }

    /// Links the type of a scope, which must be a structure.
    pub fn scope(
        &mut self,
        origin: Origin,
        draft: &Option<Rc<Draft>>,
        outer: &[Outer<'_>],
    ) -> Result<Option<Type>, String> {
        let Some(draft) = draft else { return Ok(None) };
        let name = match self.language {
            Language::Tsdl => origin.in_tsdl(),
            Language::Json => origin.in_json(),
        };
        let linked = self.link(origin, draft, outer).map_err(|reason| format!("{name}: {reason}"))?;
        match linked {
            Type::Struct(_) => Ok(Some(linked)),
            _ => Err(format!("{name} is not a structure")),
        }
    }

    fn link(&mut self, origin: Origin, draft: &Draft, outer: &[Outer<'_>]) -> Result<Type, String> {
        self.grow(draft.nodes)?;
        self.resolve(draft, &mut Surroundings { origin, outer, around: Vec::new() })
    }

    /// Counts parts that are about to be made. Types that are refused do not count, so that others still fit.
    pub fn grow(&mut self, nodes: usize) -> Result<(), String> {
        let grown = self.nodes.saturating_add(nodes);
        if grown > self.max_nodes {
            return Err("its types have too many parts for metadata of this size".into());
        }
        self.nodes = grown;
        Ok(())
    }

    fn resolve(&mut self, draft: &Draft, place: &mut Surroundings<'_>) -> Result<Type, String> {
        Ok(match &draft.kind {
            DraftKind::Integer(integer) => {
                Type::Integer(IntegerType { slot: Some(self.number()), ..integer.clone() })
            }
            DraftKind::Float(float) => Type::Float(float.clone()),
            DraftKind::Text => Type::Text,
            DraftKind::Struct { align, members } => {
                place.around.push(PartialStruct::new(members.len()));
                for DraftMember { name, label, draft } in members {
                    if let Some(structure) = place.around.last_mut() {
                        structure.current = name.clone();
                    }
                    let kind = self.resolve(draft, place).map_err(|reason| format!("`{name}`: {reason}"))?;
                    if let Some(structure) = place.around.last_mut() {
                        structure.push(Member { name: name.clone(), label: label.clone(), kind });
                    }
                }
                let members = place.around.pop().map_or(Vec::new(), |structure| structure.members);
                Type::Struct(StructType { align: *align, members })
            }
            DraftKind::Variant { tag, members } => self.variant(tag, members, place)?,
            DraftKind::Optional { selector, values, content } => Type::Optional(OptionalType {
                selector: self.at(selector, place, |_| Ok(()))?,
                values: values.clone(),
                content: Box::new(self.resolve(content, place)?),
            }),
            DraftKind::Array { align, is_uuid, length, element } => Type::Array(ArrayType {
                align: *align,
                is_uuid: *is_uuid,
                length: self.length(length, place)?,
                element: Box::new(self.resolve(element, place)?),
            }),
        })
    }

    fn number(&mut self) -> Slot {
        self.parents.push(self.parents.len());
        self.parents.len() - 1
    }

    fn length(&mut self, length: &DraftLength, place: &Surroundings<'_>) -> Result<Length, String> {
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
        match path.as_slice() {
            [environment, name] if environment == "env" => {
                let length = self.environment.get(name);
                let length = length.ok_or_else(|| format!("`env.{name}` is not a length"))?;
                Ok(Length::Fixed(*length))
            }
            _ => {
                let target = place.find(path)?;
                Ok(Length::Slot(self.join(&[target])))
            }
        }
    }

    fn variant(
        &mut self,
        tag: &Tag,
        members: &[DraftMember],
        place: &mut Surroundings<'_>,
    ) -> Result<Type, String> {
        let (tag, choices) = match tag {
            Tag::Missing => return Err("a variant has no tag".into()),
            Tag::Number(selector, choices) => (self.at(selector, place, |_| Ok(()))?, choices.clone()),
            Tag::Label(path) => {
                let target = place.find(path)?;
                let labels = target.labels.as_ref();
                let labels = labels.ok_or_else(|| format!("`{}` is not an enumeration", path.join(".")))?;
                self.grow(labels.labels.len())?;
                let positions = members.iter().enumerate().rev();
                let positions: HashMap<&str, usize> =
                    positions.map(|(position, member)| (&*member.name, position)).collect();
                let choices = labels
                    .labels
                    .iter()
                    .filter_map(|(label, values)| Some((values.clone(), *positions.get(label.as_str())?)));
                let choices = choices.collect();
                (self.join(&[target]), choices)
            }
        };
        let members = members.iter().map(|DraftMember { name, label, draft }| {
            let kind = self.resolve(draft, place).map_err(|reason| format!("`{name}`: {reason}"))?;
            Ok(Member { name: name.clone(), label: label.clone(), kind })
        });
        let members = members.collect::<Result<_, String>>()?;
        Ok(Type::Variant(VariantType { tag, choices, members }))
    }

    /// The number of the slot that all fields which may be at a location share.
    fn at(
        &mut self,
        location: &FieldLocation,
        place: &Surroundings<'_>,
        check: impl Fn(&Target) -> Result<(), String>,
    ) -> Result<Slot, String> {
        let targets = locate(location, place)?;
        self.grow(targets.len())?;
        targets.iter().try_for_each(check)?;
        Ok(self.join(&targets))
    }

    /// Makes fields share a slot, of which one is there where something refers to them. Returns its number.
    fn join(&mut self, targets: &[Target]) -> Slot {
        let first = targets.iter().map(|target| self.root(target.number)).min().unwrap_or(0);
        for target in targets {
            let other = self.root(target.number);
            self.parents[other] = first;
        }
        self.used.push(first);
        first
    }

    /// The root of a number's tree. Halves the path on the way.
    fn root(&mut self, number: Slot) -> Slot {
        let mut root = number;
        while self.parents[root] != root {
            self.parents[root] = self.parents[self.parents[root]];
            root = self.parents[root];
        }
        root
    }

    /// Replaces the numbers of integers that something refers to, and of what refers to them, by slots. Run when all is
    /// linked.
    pub fn settle(&mut self, metadata: &mut Metadata) -> Slots {
        let mut settling = self.settling(0);
        let Metadata { packet_header, streams, .. } = metadata;
        let shared = streams.iter_mut().flat_map(|stream| {
            [&mut stream.packet_context, &mut stream.event_header, &mut stream.event_context]
        });
        for scope in std::iter::once(packet_header).chain(shared).flatten() {
            self.settle_one(scope, &mut settling);
        }
        let shared = settling.next;
        let mut all = shared;
        for event in streams.iter_mut().flat_map(|stream| &mut stream.events) {
            settling.next = shared;
            self.settle_scopes(event, &mut settling);
            all = all.max(settling.next);
        }
        self.parents.clear();
        Slots { shared, all }
    }

    /// The same for a single event, linked after the others were settled, that refers to nothing outside of it.
    pub fn settle_event(&mut self, event: &mut EventLayout, slots: &mut Slots) {
        let mut settling = self.settling(slots.shared);
        self.settle_scopes(event, &mut settling);
        self.parents.clear();
        slots.all = slots.all.max(settling.next);
    }

    fn settle_scopes(&mut self, event: &mut EventLayout, settling: &mut Settling) {
        for scope in [&mut event.context, &mut event.payload].into_iter().flatten() {
            self.settle_one(scope, settling);
        }
    }

    /// Which numbers need slots. The first slot is this.
    fn settling(&mut self, next: Slot) -> Settling {
        let mut slots = vec![Settled::Unused; self.parents.len()];
        for number in std::mem::take(&mut self.used) {
            slots[self.root(number)] = Settled::Used;
        }
        Settling { slots, next }
    }

    fn settle_one(&mut self, kind: &mut Type, slots: &mut Settling) {
        let mut slot = |number: Slot| slots.slot(self.root(number));
        match kind {
            Type::Integer(integer) => integer.slot = integer.slot.and_then(slot),
            Type::Float(_) | Type::Text => {}
            Type::Struct(StructType { members, .. }) => {
                members.iter_mut().for_each(|member| self.settle_one(&mut member.kind, slots));
            }
            Type::Variant(VariantType { tag, members, .. }) => {
                *tag = slot(*tag).unwrap_or_default();
                members.iter_mut().for_each(|member| self.settle_one(&mut member.kind, slots));
            }
            Type::Optional(OptionalType { selector, content, .. }) => {
                *selector = slot(*selector).unwrap_or_default();
                self.settle_one(content, slots);
            }
            Type::Array(ArrayType { length, element, .. }) => {
                if let Length::Slot(number) = length {
                    *number = slot(*number).unwrap_or_default();
                }
                self.settle_one(element, slots);
            }
        }
    }
}

/// The numbers of slots.
#[derive(Clone, Copy)]
pub struct Slots {
    /// Those of what all events share.
    shared: Slot,
    /// Those that decoding any event needs.
    pub all: usize,
}

/// What is known of the slots of numbers.
struct Settling {
    /// For the root of each tree.
    slots: Vec<Settled>,
    /// The next free slot.
    next: Slot,
}

/// Whether a number needs a slot, and which.
#[derive(Clone, Copy)]
enum Settled {
    Unused,
    Used,
    Slot(Slot),
}

impl Settling {
    /// The slot of a tree, by its root.
    fn slot(&mut self, root: Slot) -> Option<Slot> {
        let slot = match self.slots[root] {
            Settled::Unused => return None,
            Settled::Slot(slot) => slot,
            Settled::Used => {
                self.next += 1;
                self.next - 1
            }
        };
        self.slots[root] = Settled::Slot(slot);
        Some(slot)
    }
}
