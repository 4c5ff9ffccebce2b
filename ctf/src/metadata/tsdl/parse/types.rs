//! Type expressions, and the statements that name types.

use std::borrow::Cow;
use std::rc::Rc;

use super::super::ast::TypeStatement;
use super::super::ast::{
    Attribute, BodyEntry, Declarator, Enumerator, LengthExpression, PathExpression, TypeExpression, TypeShape,
};
use super::super::lex::TokenKind;
use super::cursor::{MAX_DEPTH, Parsed, Parser};

/// The number of attribute lists that are kept.
const MAX_KNOWN: usize = 1 << 10;

impl<'a> Parser<'a> {
    /// `typealias` and `typedef`, if one of them is next.
    pub fn aliases(&mut self) -> Parsed<Option<TypeStatement<'a>>> {
        let statement = if self.take_word("typealias") {
            let kind = self.type_expression()?;
            let lengths = self.lengths()?;
            self.expect(":=")?;
            TypeStatement::Alias { kind, lengths, name: self.type_name()? }
        } else if self.take_word("typedef") {
            let kind = self.type_expression()?;
            TypeStatement::Define(kind, self.declarators()?)
        } else {
            return Ok(None);
        };
        self.expect(";")?;
        Ok(Some(statement))
    }

    /// `NAME [LENGTH]…, NAME …` after a type.
    fn declarators(&mut self) -> Parsed<Vec<Declarator<'a>>> {
        let mut declarators = Vec::with_capacity(1);
        loop {
            let name = self.word()?;
            declarators.push(Declarator { name, lengths: self.lengths()? });
            if !self.take_mark(",") {
                return Ok(declarators);
            }
        }
    }

    fn lengths(&mut self) -> Parsed<Vec<LengthExpression<'a>>> {
        let mut lengths = Vec::new();
        while self.take_mark("[") {
            if lengths.len() == MAX_DEPTH {
                return Err("too many dimensions".into());
            }
            lengths.push(match self.peek() {
                Some(&TokenKind::Number(number)) => {
                    self.bump();
                    LengthExpression::Fixed(number)
                }
                _ => LengthExpression::Path(self.path()?),
            });
            self.expect("]")?;
        }
        Ok(lengths)
    }

    fn tag(&mut self) -> Parsed<Option<PathExpression<'a>>> {
        if !self.take_mark("<") {
            return Ok(None);
        }
        let path = self.path()?;
        self.expect(">")?;
        Ok(Some(path))
    }

    /// The name that `typealias` gives: words and stars.
    fn type_name(&mut self) -> Parsed<Cow<'a, str>> {
        let mut name = Cow::Borrowed(self.word()?);
        loop {
            if let Some(&TokenKind::Word(word)) = self.peek() {
                name += " ";
                name += word;
                self.bump();
            } else if self.take_mark("*") {
                name += " *";
            } else {
                return Ok(name);
            }
        }
    }

    pub fn type_expression(&mut self) -> Parsed<TypeExpression<'a>> {
        let line = self.line;
        let shape = self.nested(Parser::shape)?;
        Ok(TypeExpression { shape, line })
    }

    fn shape(&mut self) -> Parsed<TypeShape<'a>> {
        // A qualifier says nothing about the layout.
        while self.take_word("const") {}
        Ok(match self.word()? {
            "integer" if self.is_mark("{") => TypeShape::Integer(self.attributes()?),
            "floating_point" => TypeShape::Float(self.attributes()?),
            "string" => {
                if self.is_mark("{") {
                    self.attributes()?;
                }
                TypeShape::Text
            }
            "struct" => {
                let name = self.optional_name();
                let body = self.body()?;
                let align = if self.take_word("align") { self.align()? } else { 1 };
                TypeShape::Struct { name, body, align }
            }
            "variant" => {
                let name = self.optional_name();
                let tag = self.tag()?;
                TypeShape::Variant { name, tag, body: self.body()? }
            }
            "enum" => {
                let name = self.optional_name();
                let container =
                    if self.take_mark(":") { Some(Box::new(self.type_expression()?)) } else { None };
                let body = if self.is_mark("{") { Some(self.enumerators()?) } else { None };
                TypeShape::Enum { name, container, body }
            }
            word => self.named(word)?,
        })
    }

    /// One word, or several: `unsigned long`. The last word before a mark is the field's name.
    fn named(&mut self, first: &'a str) -> Parsed<TypeShape<'a>> {
        const PARTS: [&str; 8] = ["unsigned", "signed", "long", "short", "int", "char", "float", "double"];
        let mut name = Cow::Borrowed(first);
        if PARTS.contains(&first) {
            while let Some(&TokenKind::Word(word)) = self.peek() {
                if !PARTS.contains(&word) {
                    break;
                }
                name += " ";
                name += word;
                self.bump();
            }
        }
        while self.take_mark("*") {
            name += " *";
        }
        Ok(TypeShape::Named(name, self.tag()?))
    }

    fn optional_name(&mut self) -> Option<&'a str> {
        match self.peek() {
            Some(TokenKind::Word(_)) => self.word().ok(),
            _ => None,
        }
    }

    fn align(&mut self) -> Parsed<u64> {
        self.expect("(")?;
        let Some(&TokenKind::Number(align)) = self.peek() else { return Err(self.unexpected("a number")) };
        self.bump();
        self.expect(")")?;
        Ok(align)
    }

    /// `{ name = value; … }`. LTTng writes the same few for almost every field, so these are parsed once.
    fn attributes(&mut self) -> Parsed<Rc<[Attribute<'a>]>> {
        let source = self.lexer.braces(self.at);
        if let Some(known) = source.and_then(|source| self.known_attributes.get(source)) {
            let known = known.clone();
            self.lexer.skip_braces(self.at);
            self.bump();
            return Ok(known);
        }
        let start = self.at;
        self.expect("{")?;
        let mut attributes = Vec::new();
        while !self.is_mark("}") {
            let name = self.word()?;
            self.expect("=")?;
            attributes.push((name, self.value()?));
            self.expect(";")?;
        }
        let attributes: Rc<[Attribute<'a>]> = attributes.into();
        let end = self.at + 1;
        self.bump();
        // A brace in a string or in a comment is not the end.
        let source = source.filter(|source| start + source.len() == end);
        if let Some(source) = source.filter(|_| self.known_attributes.len() < MAX_KNOWN) {
            self.known_attributes.insert(source, attributes.clone());
        }
        Ok(attributes)
    }

    fn body(&mut self) -> Parsed<Option<Vec<BodyEntry<'a>>>> {
        if !self.take_mark("{") {
            return Ok(None);
        }
        let mut entries = Vec::new();
        while !self.take_mark("}") {
            if let Some(types) = self.aliases()? {
                entries.push(BodyEntry::Types(types));
                continue;
            }
            let kind = self.type_expression()?;
            entries.push(match self.is_mark(";") {
                true => BodyEntry::Types(TypeStatement::Declare(kind)),
                false => BodyEntry::Members(kind, self.declarators()?),
            });
            self.expect(";")?;
        }
        Ok(Some(entries))
    }

    fn enumerators(&mut self) -> Parsed<Vec<Enumerator<'a>>> {
        self.expect("{")?;
        let mut enumerators = Vec::new();
        while !self.take_mark("}") {
            let label = match self.peek() {
                Some(TokenKind::Text(text)) => {
                    let text = text.clone();
                    self.bump();
                    text
                }
                _ => Cow::Borrowed(self.word()?),
            };
            let values = if self.take_mark("=") {
                let first = self.number()?;
                let last = if self.take_mark("...") { self.number()? } else { first };
                Some((first, last))
            } else {
                None
            };
            enumerators.push(Enumerator { label, values });
            if !self.take_mark(",") {
                self.expect("}")?;
                break;
            }
        }
        Ok(enumerators)
    }
}
