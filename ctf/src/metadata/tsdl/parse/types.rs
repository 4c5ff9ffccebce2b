//! Type expressions, and the statements that name types.
//!
//! A type that is spelled correctly but cannot be understood is an error within the result, so that parsing goes on after it.

use std::borrow::Cow;

use super::super::super::draft::{Draft, DraftKind, DraftLength, Drafted, FieldPath};
use super::super::lex::TokenKind;
use super::super::types::{Attribute, Drafter, Members, tagged};
use super::cursor::{MAX_DEPTH, Parsed, Parser};
use crate::Enumeration;

/// The number of types that are kept by their source text.
const MAX_KNOWN: usize = 1 << 10;

impl<'a> Parser<'a, '_> {
    /// `typealias` and `typedef`, if one of them is next.
    pub fn aliases(&mut self) -> Parsed<Option<Result<(), String>>> {
        if self.take_word("typealias") {
            let draft = self.type_expression()?;
            let lengths = self.lengths()?;
            self.expect(":=")?;
            let name = self.type_name()?;
            self.expect(";")?;
            return Ok(Some(self.drafter.define(name.into_owned(), draft, lengths)));
        }
        if !self.take_word("typedef") {
            return Ok(None);
        }
        let draft = self.type_expression()?;
        let declarators = self.declarators()?;
        self.expect(";")?;
        let mut names = declarators.into_iter();
        Ok(Some(
            names
                .try_for_each(|(name, lengths)| self.drafter.define(name.to_owned(), draft.clone(), lengths)),
        ))
    }

    /// `NAME [LENGTH]…, NAME …` after a type.
    fn declarators(&mut self) -> Parsed<Vec<(&'a str, Vec<DraftLength>)>> {
        let mut declarators = Vec::with_capacity(1);
        loop {
            declarators.push((self.word()?, self.lengths()?));
            if !self.take_mark(",") {
                return Ok(declarators);
            }
        }
    }

    fn lengths(&mut self) -> Parsed<Vec<DraftLength>> {
        let mut lengths = Vec::new();
        while self.take_mark("[") {
            if lengths.len() == MAX_DEPTH {
                return Err("too many dimensions".into());
            }
            lengths.push(match self.peek() {
                Some(&TokenKind::Number(number)) => {
                    self.bump();
                    DraftLength::Fixed(number)
                }
                _ => DraftLength::Path(owned(&self.path()?)),
            });
            self.expect("]")?;
        }
        Ok(lengths)
    }

    fn tag(&mut self) -> Parsed<Option<FieldPath>> {
        if !self.take_mark("<") {
            return Ok(None);
        }
        let path = self.path()?;
        self.expect(">")?;
        Ok(Some(owned(&path)))
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

    pub fn type_expression(&mut self) -> Parsed<Drafted> {
        self.nested(Parser::draft)
    }

    fn draft(&mut self) -> Parsed<Drafted> {
        // A qualifier says nothing about the layout.
        while self.take_word("const") {}
        Ok(match self.word()? {
            "integer" if self.is_mark("{") => self.number_type("integer", Drafter::integer)?,
            "floating_point" => self.number_type("floating_point", Drafter::float)?,
            "string" => {
                if self.is_mark("{") {
                    self.attributes()?;
                }
                Draft::new(DraftKind::Text)
            }
            "struct" => {
                let (name, members) = (self.optional_name(), self.body()?);
                let align = if self.take_word("align") { self.align()? } else { 1 };
                self.drafter.structure(name, members, align)
            }
            "variant" => {
                let (name, tag, members) = (self.optional_name(), self.tag()?, self.body()?);
                self.drafter.variant(name, tag, members)
            }
            "enum" => {
                let name = self.optional_name();
                let container = if self.take_mark(":") { Some(self.type_expression()?) } else { None };
                let labels = if self.is_mark("{") { Some(self.enumerators()?) } else { None };
                self.drafter.enumeration(name, container, labels)
            }
            word => self.named(word)?,
        })
    }

    /// One word, or several: `unsigned long`. The last word before a mark is the field's name.
    fn named(&mut self, first: &'a str) -> Parsed<Drafted> {
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
        let (tag, draft) = (self.tag()?, self.drafter.lookup(&name));
        Ok(match tag {
            Some(tag) => draft.and_then(|draft| tagged(&draft, tag)),
            None => draft,
        })
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

    /// A type that has only attributes. LTTng writes the same few for almost every field, so these are parsed once.
    fn number_type(
        &mut self,
        keyword: &'static str,
        make: fn(&Drafter, &[Attribute<'a>]) -> Drafted,
    ) -> Parsed<Drafted> {
        let start = self.at;
        let source = self.lexer.braces(start);
        if let Some(known) = source.and_then(|source| self.known.get(&(keyword, source))) {
            let known = known.clone();
            self.lexer.skip_braces(start);
            self.bump();
            return Ok(known);
        }
        let (attributes, end) = self.attributes()?;
        let draft = make(self.drafter, &attributes);
        // A brace in a string or in a comment is not the end.
        let source = source.filter(|source| start + source.len() == end);
        if let Some(source) = source.filter(|_| self.known.len() < MAX_KNOWN) {
            self.known.insert((keyword, source), draft.clone());
        }
        Ok(draft)
    }

    /// `{ name = value; … }`, and where it ends.
    fn attributes(&mut self) -> Parsed<(Vec<Attribute<'a>>, usize)> {
        self.expect("{")?;
        let mut attributes = Vec::new();
        while !self.is_mark("}") {
            let name = self.word()?;
            self.expect("=")?;
            attributes.push((name, self.value()?));
            self.expect(";")?;
        }
        let end = self.at + 1;
        self.bump();
        Ok((attributes, end))
    }

    /// What is between the braces of a structure or a variant.
    fn body(&mut self) -> Parsed<Option<Members>> {
        if !self.take_mark("{") {
            return Ok(None);
        }
        self.drafter.begin_scope();
        let mut members = Ok(Vec::new());
        while !self.take_mark("}") {
            if let Some(declared) = self.aliases()? {
                members = members.and_then(|members| declared.map(|()| members));
                continue;
            }
            let draft = self.type_expression()?;
            if self.is_mark(";") {
                members = members.and_then(|members| draft.map(|_| members));
            } else {
                let declarators = self.declarators()?;
                let draft = draft.map_err(|reason| format!("`{}`: {reason}", declarators[0].0));
                for (name, lengths) in declarators {
                    members = members.and_then(|mut members: Vec<_>| {
                        members.push(self.drafter.member(name, draft.clone()?, lengths)?);
                        Ok(members)
                    });
                }
            }
            self.expect(";")?;
        }
        self.drafter.end_scope();
        Ok(Some(members))
    }

    /// Labels; one without values has the value after the last one of the label before it.
    fn enumerators(&mut self) -> Parsed<Result<Enumeration, String>> {
        self.expect("{")?;
        let (mut labels, mut next, mut wrong) = (Vec::new(), 0, None);
        while !self.take_mark("}") {
            let label = match self.peek() {
                Some(TokenKind::Text(text)) => {
                    let text = text.clone();
                    self.bump();
                    text
                }
                _ => Cow::Borrowed(self.word()?),
            };
            let (mut first, mut last) = (next, next);
            if self.take_mark("=") {
                first = self.number()?;
                last = if self.take_mark("...") { self.number()? } else { first };
            }
            if first > last {
                wrong.get_or_insert(format!("the range of `{label}` ends before it begins"));
            }
            next = last + 1;
            labels.push((label.into_owned(), first..=last));
            if !self.take_mark(",") {
                self.expect("}")?;
                break;
            }
        }
        Ok(wrong.map_or(Ok(Enumeration { labels }), Err))
    }
}

fn owned(path: &[&str]) -> FieldPath {
    path.iter().map(|&part| part.to_owned()).collect()
}
