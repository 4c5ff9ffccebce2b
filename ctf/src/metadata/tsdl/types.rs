//! Types of TSDL as drafts, by their names.
//!
//! Names belong to nested scopes, one for each block, structure and variant. A named type is looked up where it
//! is used.

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::super::draft::{Draft, DraftKind, DraftLength, DraftMember, Drafted, FieldPath, Tag};
use super::super::draft::{alignment, integer_size};
use super::super::model::{ByteOrder, Clock, FloatType, IntegerType};
use crate::{Base, Enumeration};

/// The number of member names that are shared between all types.
const MAX_NAMES: usize = 1 << 16;

/// What stands after `=`.
pub enum AssignedValue<'a> {
    Number(i128),
    Text(Cow<'a, str>),
    /// A word or a path, its parts joined with dots: `le`, `clock.monotonic.value`.
    Word(Cow<'a, str>),
}

/// `size = 8;`
pub type Attribute<'a> = (&'a str, AssignedValue<'a>);

/// The members of a structure or a variant, or why there are none.
pub type Members = Result<Vec<DraftMember>, String>;

/// Makes drafts, and knows those that have names.
pub struct Drafter {
    order: ByteOrder,
    clocks: Vec<Arc<Clock>>,
    /// The names in each scope, innermost last. Structures are under `struct name`, and so on.
    scopes: Vec<HashMap<String, Rc<Draft>>>,
    /// The names of members, interned, and their labels.
    names: HashMap<Arc<str>, Arc<str>>,
}

impl Drafter {
    pub fn new(order: ByteOrder, clocks: Vec<Arc<Clock>>) -> Drafter {
        Drafter { order, clocks, scopes: vec![HashMap::new()], names: HashMap::new() }
    }

    pub fn begin_scope(&mut self) {
        self.scopes.push(HashMap::new());
    }

    pub fn end_scope(&mut self) {
        self.scopes.pop();
    }

    /// Forgets the scopes of a statement that was broken.
    pub fn end_all_scopes(&mut self) {
        self.scopes.truncate(1);
    }

    /// Names a type and arrays of it, the lengths outermost first.
    pub fn define(&mut self, name: String, draft: Drafted, lengths: Vec<DraftLength>) -> Result<(), String> {
        let draft = arrays(draft?, lengths)?;
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name, draft);
        }
        Ok(())
    }

    pub fn lookup(&self, name: &str) -> Drafted {
        let found = self.scopes.iter().rev().find_map(|scope| scope.get(name));
        found.cloned().ok_or_else(|| format!("unknown type `{name}`"))
    }

    /// A structure; without members, the one of this name.
    pub fn structure(&mut self, name: Option<&str>, members: Option<Members>, align: u64) -> Drafted {
        let Some(members) = members else { return self.named("struct", name) };
        let align = alignment(i128::from(align))?;
        self.finish_named("struct", name, DraftKind::structure(align, members?))
    }

    /// A variant; without members, the one of this name.
    pub fn variant(
        &mut self,
        name: Option<&str>,
        tag: Option<FieldPath>,
        members: Option<Members>,
    ) -> Drafted {
        match (members, tag) {
            (Some(members), tag) => {
                let tag = tag.map_or(Tag::Missing, Tag::Label);
                let kind = DraftKind::Variant { tag, members: members?.into() };
                self.finish_named("variant", name, kind)
            }
            (None, Some(tag)) => tagged(&*self.named("variant", name)?, tag),
            (None, None) => self.named("variant", name),
        }
    }

    /// An enumeration; without labels, the one of this name.
    pub fn enumeration(
        &mut self,
        name: Option<&str>,
        container: Option<Drafted>,
        labels: Option<Result<Enumeration, String>>,
    ) -> Drafted {
        let Some(labels) = labels else { return self.named("enum", name) };
        let container = container.unwrap_or_else(|| {
            self.lookup("int").map_err(|_| "an enumeration without a type needs the type `int`".into())
        })?;
        let DraftKind::Integer(container @ IntegerType { labels: None, .. }) = &container.kind else {
            return Err("an enumeration's type must be an integer".into());
        };
        let labels = Some(Arc::new(labels?));
        self.finish_named("enum", name, DraftKind::Integer(IntegerType { labels, ..container.clone() }))
    }

    fn named(&self, keyword: &str, name: Option<&str>) -> Drafted {
        let name = name.ok_or_else(|| format!("a `{keyword}` has neither name nor body"))?;
        self.lookup(&format!("{keyword} {name}"))
    }

    fn finish_named(&mut self, keyword: &str, name: Option<&str>, kind: DraftKind) -> Drafted {
        let draft = Draft::new(kind)?;
        if let Some(name) = name {
            self.define(format!("{keyword} {name}"), Ok(draft.clone()), Vec::new())?;
        }
        Ok(draft)
    }

    /// A member of a structure or a variant.
    pub fn member(
        &mut self,
        name: &str,
        draft: Rc<Draft>,
        lengths: Vec<DraftLength>,
    ) -> Result<DraftMember, String> {
        let draft = arrays(draft, lengths).map_err(|reason| format!("`{name}`: {reason}"))?;
        let (name, label) = self.interned(name);
        Ok(DraftMember { name, label, draft })
    }

    /// A member's name, and its label: the name without the underscore that LTTng puts before it.
    fn interned(&mut self, name: &str) -> (Arc<str>, Arc<str>) {
        if let Some((name, label)) = self.names.get_key_value(name) {
            return (name.clone(), label.clone());
        }
        let shared: Arc<str> = name.into();
        let label = name.strip_prefix('_').map_or_else(|| shared.clone(), Arc::from);
        if self.names.len() < MAX_NAMES {
            self.names.insert(shared.clone(), label.clone());
        }
        (shared, label)
    }

    /// `integer { … }`
    pub fn integer(&self, attributes: &[Attribute<'_>]) -> Drafted {
        let (mut size, mut align) = (None, None);
        let mut integer = IntegerType { order: self.order, ..IntegerType::unsigned(0, 1) };
        for (name, value) in attributes {
            match (*name, value) {
                ("size", AssignedValue::Number(bits)) => size = Some(*bits),
                ("align", AssignedValue::Number(bits)) => align = Some(*bits),
                ("signed", AssignedValue::Number(number)) => integer.signed = *number != 0,
                ("signed", AssignedValue::Word(word)) => integer.signed = truth(word)?,
                ("byte_order", AssignedValue::Word(word)) => integer.order = byte_order(word, self.order)?,
                ("encoding", AssignedValue::Word(word) | AssignedValue::Text(word)) => {
                    integer.is_character = word != "none";
                }
                ("map", AssignedValue::Word(path) | AssignedValue::Text(path)) => {
                    integer.clock = Some(self.clock(path)?)
                }
                ("base", value) => integer.base = base(value),
                // Other attributes say nothing about the layout.
                _ => {}
            }
        }
        let size = size.ok_or("an integer has no size")?;
        integer.size = Some(integer_size(size)?);
        integer.align = match align {
            Some(align) => alignment(align)?,
            None if size % 8 == 0 => 8,
            None => 1,
        };
        Draft::new(DraftKind::Integer(integer))
    }

    /// `floating_point { … }`
    pub fn float(&self, attributes: &[Attribute<'_>]) -> Drafted {
        let (mut exponent, mut mantissa) = (0, 0);
        let mut float = FloatType { size: 0, align: 8, order: self.order };
        for (name, value) in attributes {
            match (*name, value) {
                ("exp_dig", AssignedValue::Number(bits)) => exponent = *bits,
                ("mant_dig", AssignedValue::Number(bits)) => mantissa = *bits,
                ("align", AssignedValue::Number(bits)) => float.align = alignment(*bits)?,
                ("byte_order", AssignedValue::Word(word)) => float.order = byte_order(word, self.order)?,
                _ => {}
            }
        }
        float.size = match (exponent, mantissa) {
            (8, 24) => 32,
            (11, 53) => 64,
            _ => return Err("a floating-point number is neither IEEE single nor double".into()),
        };
        Draft::new(DraftKind::Float(float))
    }

    /// The clock of `clock.NAME.value`.
    fn clock(&self, path: &str) -> Result<Arc<Clock>, String> {
        let name = path.strip_prefix("clock.").and_then(|rest| rest.strip_suffix(".value"));
        let found = self.clocks.iter().find(|clock| Some(clock.name.as_str()) == name);
        found.cloned().ok_or_else(|| format!("unknown clock `{path}`"))
    }
}

/// A variant that was declared without a tag, given one.
pub fn tagged(draft: &Draft, tag: FieldPath) -> Drafted {
    match &draft.kind {
        DraftKind::Variant { members, .. } => {
            Draft::new(DraftKind::Variant { tag: Tag::Label(tag), members: members.clone() })
        }
        _ => Err(format!("`<{}>` follows a type that is not a variant", tag.join("."))),
    }
}

fn arrays(mut draft: Rc<Draft>, lengths: Vec<DraftLength>) -> Drafted {
    for length in lengths.into_iter().rev() {
        draft = Draft::new(DraftKind::array(1, length, draft))?;
    }
    Ok(draft)
}

fn truth(word: &str) -> Result<bool, String> {
    match word {
        "true" | "TRUE" => Ok(true),
        "false" | "FALSE" => Ok(false),
        _ => Err(format!("`{word}` is neither true nor false")),
    }
}

/// The base in which to show an integer; LTTng and the specification have several spellings of each.
fn base(value: &AssignedValue<'_>) -> Base {
    match value {
        AssignedValue::Number(2) => Base::Binary,
        AssignedValue::Number(8) => Base::Octal,
        AssignedValue::Number(16) => Base::Hexadecimal,
        AssignedValue::Word(word) => match &**word {
            "binary" | "bin" | "b" => Base::Binary,
            "octal" | "oct" | "o" => Base::Octal,
            "hexadecimal" | "hex" | "x" | "X" | "p" => Base::Hexadecimal,
            _ => Base::Decimal,
        },
        _ => Base::Decimal,
    }
}

/// The byte order that a word means, where `native` is the trace's.
pub fn byte_order(word: &str, native: ByteOrder) -> Result<ByteOrder, String> {
    match word {
        "le" => Ok(ByteOrder::Little),
        "be" | "network" => Ok(ByteOrder::Big),
        "native" => Ok(native),
        _ => Err(format!("invalid byte order `{word}`")),
    }
}
