//! Type expressions to drafts of types.
//!
//! Names belong to nested scopes, one for each block, structure and variant. A named type is looked up where it
//! is used.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::super::draft::{Draft, DraftKind, DraftLength, DraftMember, Drafted, FieldPath, Tag};
use super::super::draft::{alignment, integer_size};
use super::super::model::{ByteOrder, Clock, FloatType, IntegerType};
use super::ast::{
    self, AssignedValue, Attribute, BodyEntry, Enumerator, LengthExpression, TypeExpression, TypeShape,
    TypeStatement,
};
use crate::{Base, Enumeration};

/// The number of member names that are shared between all types.
const MAX_NAMES: usize = 1 << 16;

/// Resolves type expressions.
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

    /// Runs something in a new scope.
    pub fn scoped<T>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> T {
        self.scopes.push(HashMap::new());
        let result = inner(self);
        self.scopes.pop();
        result
    }

    /// Declares the types of a statement.
    pub fn declare(&mut self, statement: &TypeStatement<'_>) -> Result<(), String> {
        match statement {
            TypeStatement::Alias { kind, lengths, name } => {
                let draft = arrays(self.draft(kind)?, lengths)?;
                self.define(name.clone().into_owned(), draft);
            }
            TypeStatement::Define(kind, declarators) => {
                let draft = self.draft(kind)?;
                for declarator in declarators {
                    let draft = arrays(draft.clone(), &declarator.lengths)?;
                    self.define(declarator.name.to_owned(), draft);
                }
            }
            TypeStatement::Declare(kind) => {
                self.draft(kind)?;
            }
        }
        Ok(())
    }

    fn define(&mut self, name: String, draft: Rc<Draft>) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name, draft);
        }
    }

    fn lookup(&self, name: &str) -> Drafted {
        let found = self.scopes.iter().rev().find_map(|scope| scope.get(name));
        found.cloned().ok_or_else(|| format!("unknown type `{name}`"))
    }

    /// The type that an expression means.
    pub fn draft(&mut self, expression: &TypeExpression<'_>) -> Drafted {
        match &expression.shape {
            TypeShape::Named(name, None) => self.lookup(name),
            TypeShape::Named(name, Some(tag)) => tagged(&self.lookup(name)?, tag),
            TypeShape::Integer(attributes) => Draft::new(DraftKind::Integer(self.integer(attributes)?)),
            TypeShape::Float(attributes) => Draft::new(DraftKind::Float(self.float(attributes)?)),
            TypeShape::Text => Draft::new(DraftKind::Text),
            TypeShape::Struct { name, body, align } => {
                let Some(body) = body else { return self.named("struct", name) };
                let own = alignment(i128::from(*align))?;
                let members = self.scoped(|inner| inner.members(body))?;
                self.finish_named("struct", name, DraftKind::structure(own, members))
            }
            TypeShape::Variant { name, tag, body } => match body {
                Some(body) => {
                    let members = self.scoped(|inner| inner.members(body))?;
                    let tag = tag.as_ref().map_or(Tag::Missing, |tag| Tag::Label(owned(tag)));
                    self.finish_named("variant", name, DraftKind::Variant { tag, members: members.into() })
                }
                None => match tag {
                    Some(tag) => tagged(&self.named("variant", name)?, tag),
                    None => self.named("variant", name),
                },
            },
            TypeShape::Enum { name, container, body } => {
                let Some(body) = body else { return self.named("enum", name) };
                let container = match container {
                    Some(container) => self.draft(container)?,
                    None => self
                        .lookup("int")
                        .map_err(|_| "an enumeration without a type needs the type `int`")?,
                };
                let DraftKind::Integer(container) = &container.kind else {
                    return Err("an enumeration's type must be an integer".into());
                };
                let kind = DraftKind::Enum(container.clone(), Arc::new(enumeration(body)?));
                self.finish_named("enum", name, kind)
            }
        }
    }

    fn named(&self, keyword: &str, name: &Option<&str>) -> Drafted {
        let name = name.as_ref().ok_or_else(|| format!("a `{keyword}` has neither name nor body"))?;
        self.lookup(&format!("{keyword} {name}"))
    }

    fn finish_named(&mut self, keyword: &str, name: &Option<&str>, kind: DraftKind) -> Drafted {
        let draft = Draft::new(kind)?;
        if let Some(name) = name {
            self.define(format!("{keyword} {name}"), draft.clone());
        }
        Ok(draft)
    }

    fn members(&mut self, body: &[BodyEntry<'_>]) -> Result<Vec<DraftMember>, String> {
        let mut members = Vec::new();
        for entry in body {
            match entry {
                BodyEntry::Types(statement) => self.declare(statement)?,
                BodyEntry::Members(kind, declarators) => {
                    let named = |reason| match declarators.first() {
                        Some(first) => format!("`{}`: {reason}", first.name),
                        None => reason,
                    };
                    let draft = self.draft(kind).map_err(named)?;
                    for declarator in declarators {
                        let draft = arrays(draft.clone(), &declarator.lengths)
                            .map_err(|reason| format!("`{}`: {reason}", declarator.name))?;
                        let (name, label) = self.name(declarator.name);
                        members.push(DraftMember { name, label, draft });
                    }
                }
            }
        }
        Ok(members)
    }

    /// A member's name, and its label: the name without the underscore that LTTng puts before it.
    fn name(&mut self, name: &str) -> (Arc<str>, Arc<str>) {
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

    fn integer(&self, attributes: &[Attribute<'_>]) -> Result<IntegerType, String> {
        let mut size = None;
        let mut align = None;
        let mut integer = IntegerType {
            size: 0,
            align: 1,
            signed: false,
            order: self.order,
            is_character: false,
            is_boolean: false,
            base: Base::Decimal,
            clock: None,
            roles: Vec::new(),
            slot: None,
        };
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
        integer.size = integer_size(size)?;
        integer.align = match align {
            Some(align) => alignment(align)?,
            None if size % 8 == 0 => 8,
            None => 1,
        };
        Ok(integer)
    }

    fn float(&self, attributes: &[Attribute<'_>]) -> Result<FloatType, String> {
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
        Ok(float)
    }

    /// The clock of `clock.NAME.value`.
    fn clock(&self, path: &str) -> Result<Arc<Clock>, String> {
        let name = path.strip_prefix("clock.").and_then(|rest| rest.strip_suffix(".value"));
        let found = self.clocks.iter().find(|clock| Some(clock.name.as_str()) == name);
        found.cloned().ok_or_else(|| format!("unknown clock `{path}`"))
    }
}

/// A variant that was declared without a tag, given one.
fn tagged(draft: &Rc<Draft>, tag: &ast::PathExpression<'_>) -> Drafted {
    match &draft.kind {
        DraftKind::Variant { members, .. } => {
            Draft::new(DraftKind::Variant { tag: Tag::Label(owned(tag)), members: members.clone() })
        }
        _ => Err(format!("`<{}>` follows a type that is not a variant", tag.join("."))),
    }
}

/// Arrays of a type, the lengths outermost first.
fn arrays(mut draft: Rc<Draft>, lengths: &[LengthExpression<'_>]) -> Drafted {
    for length in lengths.iter().rev() {
        let length = match length {
            LengthExpression::Fixed(length) => DraftLength::Fixed(*length),
            LengthExpression::Path(path) => DraftLength::Path(owned(path)),
        };
        draft = Draft::new(DraftKind::array(1, length, draft))?;
    }
    Ok(draft)
}

fn owned(path: &ast::PathExpression<'_>) -> FieldPath {
    path.iter().map(|&part| part.to_owned()).collect()
}

fn enumeration(body: &[Enumerator<'_>]) -> Result<Enumeration, String> {
    let mut labels = Vec::with_capacity(body.len());
    let mut next = 0;
    for Enumerator { label, values } in body {
        let (first, last) = values.unwrap_or((next, next));
        if first > last {
            return Err(format!("the range of `{label}` ends before it begins"));
        }
        next = last + 1;
        labels.push((label.clone().into_owned(), first..=last));
    }
    Ok(Enumeration { labels })
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
