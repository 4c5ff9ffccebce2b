//! Type expressions to types, but for the references from lengths and variants to earlier fields.
//!
//! Names live in nested scopes, one for each block, structure and variant. A named type is looked up where it
//! is used and shared from there, so types made of types cost their text's size; [`Draft::nodes`] says how
//! large one becomes when it is copied out, and is bounded.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::ast::{self, Attribute, Entry, Enumerator, Shape, TypeExpression, TypeStatement, Value};
use super::model::{ByteOrder, Clock, Float, Integer};
use crate::source::Enumeration;

/// How deep a type may nest, typedefs counted.
const MAX_DEPTH: usize = 64;

/// How many parts a type may have.
const MAX_NODES: usize = 1 << 16;

/// The largest alignment, in bits: 4096 bytes, a memory page.
const MAX_ALIGN: i128 = 1 << 15;

/// A type whose references are still paths.
#[derive(Debug)]
pub struct Draft {
    pub kind: Kind,
    /// How many types it is made of, itself included.
    pub nodes: usize,
    depth: usize,
}

/// What a draft is.
#[derive(Debug)]
pub enum Kind {
    Integer(Integer),
    Float(Float),
    Enum(Integer, Arc<Enumeration>),
    Text,
    Struct { align: u32, members: Members },
    Variant { tag: Option<ast::Path>, members: Members },
    Array { length: ast::Length, element: Rc<Draft> },
}

pub type Members = Vec<(String, Rc<Draft>)>;

type Drafted = Result<Rc<Draft>, String>;

/// Resolves type expressions.
pub struct Drafter {
    pub order: ByteOrder,
    pub clocks: Vec<Arc<Clock>>,
    /// The names in each scope, innermost last. Structures are under `struct name`, and so on.
    scopes: Vec<HashMap<String, Rc<Draft>>>,
}

impl Drafter {
    pub fn new(order: ByteOrder, clocks: Vec<Arc<Clock>>) -> Drafter {
        Drafter { order, clocks, scopes: vec![HashMap::new()] }
    }

    /// Runs something in a scope of its own.
    pub fn scoped<T>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> T {
        self.scopes.push(HashMap::new());
        let result = inner(self);
        self.scopes.pop();
        result
    }

    /// Takes in a statement about types.
    pub fn declare(&mut self, statement: &TypeStatement) -> Result<(), String> {
        match statement {
            TypeStatement::Alias { kind, name } => {
                let draft = self.draft(kind)?;
                self.define(name.clone(), draft);
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
        found.cloned().ok_or_else(|| format!("no type is called `{name}`"))
    }

    /// The type that an expression means.
    pub fn draft(&mut self, expression: &TypeExpression) -> Drafted {
        let mut draft = self.shape(&expression.shape)?;
        for length in expression.lengths.iter().rev() {
            let kind = Kind::Array { length: length.clone(), element: draft };
            draft = finish(kind)?;
        }
        Ok(draft)
    }

    fn shape(&mut self, shape: &Shape) -> Drafted {
        match shape {
            Shape::Named(name, None) => self.lookup(name),
            Shape::Named(name, Some(tag)) => tagged(&self.lookup(name)?, tag),
            Shape::Integer(attributes) => finish(Kind::Integer(self.integer(attributes)?)),
            Shape::Float(attributes) => finish(Kind::Float(self.float(attributes)?)),
            Shape::Text => finish(Kind::Text),
            Shape::Struct { name, body, align } => {
                let Some(body) = body else { return self.named("struct", name) };
                let own = alignment(i128::from(*align))?;
                let members = self.scoped(|inner| inner.members(body))?;
                let align = members.iter().map(|(_, member)| member.align()).fold(own, u32::max);
                self.finish_named("struct", name, Kind::Struct { align, members })
            }
            Shape::Variant { name, tag, body } => match body {
                Some(body) => {
                    let members = self.scoped(|inner| inner.members(body))?;
                    self.finish_named("variant", name, Kind::Variant { tag: tag.clone(), members })
                }
                None => match tag {
                    Some(tag) => tagged(&self.named("variant", name)?, tag),
                    None => self.named("variant", name),
                },
            },
            Shape::Enum { name, container, body } => {
                let Some(body) = body else { return self.named("enum", name) };
                let container = match container {
                    Some(container) => self.draft(container)?,
                    None => self.lookup("int").map_err(|_| "an enumeration without a type needs `int`")?,
                };
                let Kind::Integer(container) = &container.kind else {
                    return Err("an enumeration's type must be an integer".into());
                };
                let kind = Kind::Enum(container.clone(), Arc::new(enumeration(body)?));
                self.finish_named("enum", name, kind)
            }
        }
    }

    fn named(&self, keyword: &str, name: &Option<String>) -> Drafted {
        let name = name.as_ref().ok_or_else(|| format!("a `{keyword}` has neither name nor body"))?;
        self.lookup(&format!("{keyword} {name}"))
    }

    fn finish_named(&mut self, keyword: &str, name: &Option<String>, kind: Kind) -> Drafted {
        let draft = finish(kind)?;
        if let Some(name) = name {
            self.define(format!("{keyword} {name}"), draft.clone());
        }
        Ok(draft)
    }

    fn members(&mut self, body: &[Entry]) -> Result<Members, String> {
        let mut members = Vec::new();
        for entry in body {
            match entry {
                Entry::Types(statement) => self.declare(statement)?,
                Entry::Member(name, kind) => {
                    let draft = self.draft(kind).map_err(|reason| format!("`{name}`: {reason}"))?;
                    members.push((name.clone(), draft));
                }
            }
        }
        Ok(members)
    }

    fn integer(&self, attributes: &[Attribute]) -> Result<Integer, String> {
        let mut size = None;
        let mut align = None;
        let mut integer = Integer {
            size: 0,
            align: 1,
            signed: false,
            order: self.order,
            is_character: false,
            clock: None,
            slot: None,
        };
        for (name, value) in attributes {
            match (name.as_str(), value) {
                ("size", Value::Number(bits)) => size = Some(*bits),
                ("align", Value::Number(bits)) => align = Some(*bits),
                ("signed", Value::Number(number)) => integer.signed = *number != 0,
                ("signed", Value::Word(word)) => integer.signed = truth(word)?,
                ("byte_order", Value::Word(word)) => integer.order = byte_order(word, self.order)?,
                ("encoding", Value::Word(word) | Value::Text(word)) => {
                    integer.is_character = word != "none";
                }
                ("map", Value::Word(path) | Value::Text(path)) => integer.clock = Some(self.clock(path)?),
                // The base is how to print it; what else there may be says nothing about the layout.
                _ => {}
            }
        }
        let size = size.ok_or("an integer has no size")?;
        integer.size = match u32::try_from(size) {
            Ok(size @ 1..=64) => size,
            _ => return Err(format!("an integer of {size} bits: only 1 to 64 are supported")),
        };
        integer.align = match align {
            Some(align) => alignment(align)?,
            None if size % 8 == 0 => 8,
            None => 1,
        };
        Ok(integer)
    }

    fn float(&self, attributes: &[Attribute]) -> Result<Float, String> {
        let (mut exponent, mut mantissa) = (0, 0);
        let mut float = Float { size: 0, align: 8, order: self.order };
        for (name, value) in attributes {
            match (name.as_str(), value) {
                ("exp_dig", Value::Number(bits)) => exponent = *bits,
                ("mant_dig", Value::Number(bits)) => mantissa = *bits,
                ("align", Value::Number(bits)) => float.align = alignment(*bits)?,
                ("byte_order", Value::Word(word)) => float.order = byte_order(word, self.order)?,
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
        found.cloned().ok_or_else(|| format!("`{path}` is no clock"))
    }
}

impl Draft {
    fn align(&self) -> u32 {
        match &self.kind {
            Kind::Integer(integer) | Kind::Enum(integer, _) => integer.align,
            Kind::Float(float) => float.align,
            Kind::Text => 8,
            Kind::Struct { align, .. } => *align,
            Kind::Variant { .. } => 1,
            Kind::Array { element, .. } => element.align(),
        }
    }
}

fn finish(kind: Kind) -> Drafted {
    let parts: Vec<&Rc<Draft>> = match &kind {
        Kind::Struct { members, .. } | Kind::Variant { members, .. } => {
            members.iter().map(|(_, member)| member).collect()
        }
        Kind::Array { element, .. } => vec![element],
        _ => Vec::new(),
    };
    let depth = 1 + parts.iter().map(|part| part.depth).max().unwrap_or(0);
    let nodes = parts.iter().fold(1, |nodes: usize, part| nodes.saturating_add(part.nodes));
    if depth > MAX_DEPTH || nodes > MAX_NODES {
        return Err("a type nests too deeply or has too many parts".into());
    }
    Ok(Rc::new(Draft { kind, nodes, depth }))
}

/// A variant that was declared without a tag, given one.
fn tagged(draft: &Rc<Draft>, tag: &ast::Path) -> Drafted {
    match &draft.kind {
        Kind::Variant { members, .. } => {
            finish(Kind::Variant { tag: Some(tag.clone()), members: members.clone() })
        }
        _ => Err(format!("`<{}>` stands behind a type that is no variant", tag.join("."))),
    }
}

fn enumeration(body: &[Enumerator]) -> Result<Enumeration, String> {
    let mut labels = Vec::with_capacity(body.len());
    let mut next = 0;
    for Enumerator { label, values } in body {
        let (first, last) = values.unwrap_or((next, next));
        if first > last {
            return Err(format!("the range of `{label}` ends before it begins"));
        }
        next = last + 1;
        labels.push((label.clone(), first..=last));
    }
    Ok(Enumeration { labels })
}

fn alignment(bits: i128) -> Result<u32, String> {
    match u32::try_from(bits) {
        Ok(align) if align.is_power_of_two() && bits <= MAX_ALIGN => Ok(align),
        _ => Err(format!("an alignment of {bits} bits: it must be a power of two up to {MAX_ALIGN}")),
    }
}

fn truth(word: &str) -> Result<bool, String> {
    match word {
        "true" | "TRUE" => Ok(true),
        "false" | "FALSE" => Ok(false),
        _ => Err(format!("`{word}` is neither true nor false")),
    }
}

/// The byte order that a word means, beside the trace's own.
pub fn byte_order(word: &str, native: ByteOrder) -> Result<ByteOrder, String> {
    match word {
        "le" => Ok(ByteOrder::Little),
        "be" | "network" => Ok(ByteOrder::Big),
        "native" => Ok(native),
        _ => Err(format!("`{word}` is no byte order")),
    }
}
