//! Tokens to statements, by recursive descent.
//!
//! ```text
//! statement = keyword "{" statement* "}" ";" | path ("=" value | ":=" type) ";" | types
//! types     = "typealias" type lengths ":=" name ";" | "typedef" type (name lengths),+ ";" | type ";"
//! type      = name+ ["<" path ">"] | "integer" attributes | "floating_point" attributes
//!           | "string" [attributes] | "struct" [name] ["{" entry* "}"] ["align" "(" number ")"]
//!           | "variant" [name] ["<" path ">"] ["{" entry* "}"]
//!           | "enum" [name] [":" type] ["{" enumerator,+ "}"]
//! entry     = types | type (name lengths),+ ";"
//! lengths   = ("[" (number | path) "]")*
//! ```

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

use super::ast::{Attribute, Declarator, Entry, Enumerator, Length, Path, Shape, Statement, TypeExpression};
use super::ast::{TypeStatement, Value};
use super::lex::{BLOCKS, Kind, Lexer, TYPES, Token, brief};

/// The number of attribute lists that are kept.
const MAX_KNOWN: usize = 1 << 10;

/// How deep types may nest; LTTng's nest four deep.
const MAX_DEPTH: usize = 64;

type Parsed<T> = Result<T, String>;

/// Reads statements, one at a time.
pub struct Parser<'a> {
    lexer: Lexer<'a>,
    /// The next token, or why it cannot be read.
    next: Result<Option<Token<'a>>, String>,
    /// Where the next token begins, and its line.
    at: usize,
    line: usize,
    /// The line of the token before.
    last_line: usize,
    depth: usize,
    /// The `name` in the block that is being read.
    block_name: Option<Cow<'a, str>>,
    /// Whether the statement before was broken.
    is_after_broken: bool,
    /// Lists of attributes by what is written.
    known_attributes: HashMap<&'a str, Rc<[Attribute<'a>]>>,
}

/// A statement that cannot be read.
pub struct Broken {
    /// The line of what is wrong.
    pub line: usize,
    pub reason: String,
    /// The keyword that it begins with, if it is known.
    pub keyword: Option<&'static str>,
    /// Whether the text ends in it.
    pub is_cut: bool,
}

impl<'a> Parser<'a> {
    pub fn new(text: &'a str) -> Parser<'a> {
        let mut parser = Parser {
            lexer: Lexer::new(text),
            next: Ok(None),
            at: 0,
            line: 1,
            last_line: 1,
            depth: 0,
            block_name: None,
            is_after_broken: false,
            known_attributes: HashMap::new(),
        };
        parser.bump();
        parser
    }

    /// The next statement on the top level.
    pub fn statement(&mut self) -> Option<Result<Statement<'a>, Broken>> {
        // What is left of a block whose beginning was broken has been named with it.
        while self.is_after_broken && self.take_mark("}") {
            self.take_mark(";");
        }
        if matches!(self.next, Ok(None)) {
            return None;
        }
        // Where the statement begins.
        let start = self.lexer.at(self.at, self.line);
        let keyword = self.keyword();
        self.depth = 0;
        self.block_name = None;
        let parsed = self.any_statement();
        self.is_after_broken = parsed.is_err();
        Some(parsed.map_err(|reason| {
            let reason = match (keyword, &self.block_name) {
                (Some(keyword), Some(name)) => format!("{keyword} `{}`: {reason}", brief(name)),
                (Some(keyword), None) => format!("{keyword}: {reason}"),
                (None, _) => reason,
            };
            let line = if matches!(self.next, Ok(None)) { self.last_line } else { self.line };
            let is_cut = !self.skip_to_end_of(start);
            Broken { line, reason, keyword, is_cut }
        }))
    }

    /// The next block with one of these keywords that can be read.
    pub fn block(&mut self, keywords: &[&str]) -> Option<Statement<'a>> {
        loop {
            let is_wanted = self.keyword().is_some_and(|keyword| keywords.contains(&keyword));
            if is_wanted && self.second_mark() == Some("{") {
                if let Some(Ok(block)) = self.statement() {
                    return Some(block);
                }
            } else if matches!(self.next, Ok(None)) {
                return None;
            } else {
                self.skip_to_end_of(self.lexer.at(self.at, self.line));
            }
        }
    }

    /// Skips a statement that begins here. Returns whether its end was found.
    fn skip_to_end_of(&mut self, mut start: Lexer<'a>) -> bool {
        let found = start.skip_statement();
        self.lexer = start;
        self.bump();
        found
    }

    /// The keyword of a statement that begins here.
    fn keyword(&self) -> Option<&'static str> {
        let Some(Kind::Word(word)) = self.peek() else { return None };
        BLOCKS.into_iter().chain(TYPES).find(|keyword| keyword == word)
    }

    /// Goes on to the next token.
    fn bump(&mut self) {
        // What is wrong begins after blanks; an open comment is found again by the lexer.
        self.last_line = self.lexer.line;
        let _ = self.lexer.skip_blanks();
        (self.at, self.line) = (self.lexer.at, self.lexer.line);
        self.next = self.lexer.next();
    }

    fn peek(&self) -> Option<&Kind<'a>> {
        self.next.as_ref().ok()?.as_ref().map(|token| &token.kind)
    }

    /// The mark after the next token.
    fn second_mark(&self) -> Option<&'static str> {
        match self.lexer.clone().next() {
            Ok(Some(Token { kind: Kind::Mark(mark), .. })) => Some(mark),
            _ => None,
        }
    }

    fn is_mark(&self, mark: &str) -> bool {
        matches!(self.peek(), Some(Kind::Mark(found)) if *found == mark)
    }

    fn take_mark(&mut self, mark: &str) -> bool {
        let found = self.is_mark(mark);
        if found {
            self.bump();
        }
        found
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Some(Kind::Word(found)) if *found == word);
        if found {
            self.bump();
        }
        found
    }

    fn expect(&mut self, mark: &str) -> Parsed<()> {
        if self.take_mark(mark) { Ok(()) } else { Err(self.unexpected(&format!("`{mark}`"))) }
    }

    fn unexpected(&self, wanted: &str) -> String {
        let token = match &self.next {
            Ok(token) => token.as_ref(),
            Err(reason) => return reason.clone(),
        };
        match token.map(|token| &token.kind) {
            Some(Kind::Word(word)) => format!("`{}` where {wanted} should be", brief(word)),
            Some(Kind::Number(number)) => format!("`{number}` where {wanted} should be"),
            Some(Kind::Text(text)) => format!("{:?} where {wanted} should be", brief(text)),
            Some(Kind::Mark(mark)) => format!("`{mark}` where {wanted} should be"),
            None => format!("the text ends where {wanted} should be"),
        }
    }

    fn word(&mut self) -> Parsed<&'a str> {
        match self.peek() {
            Some(&Kind::Word(word)) => {
                self.bump();
                Ok(word)
            }
            _ => Err(self.unexpected("a name")),
        }
    }

    /// Runs a part of the grammar that may contain itself.
    fn nested<T>(&mut self, part: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == MAX_DEPTH {
            return Err("types nest too deeply".into());
        }
        self.depth += 1;
        let parsed = part(self);
        self.depth -= 1;
        parsed
    }

    fn any_statement(&mut self) -> Parsed<Statement<'a>> {
        let line = self.line;
        if let Some(&Kind::Word(keyword)) = self.peek()
            && BLOCKS.contains(&keyword)
            && self.second_mark() == Some("{")
        {
            self.bump();
            self.bump();
            let mut statements = Vec::new();
            while !self.take_mark("}") {
                statements.push(self.statement_in_block()?);
            }
            // Without it the block is whole all the same.
            self.take_mark(";");
            return Ok(Statement::Block { keyword, statements, line });
        }
        self.simple_statement()
    }

    fn statement_in_block(&mut self) -> Parsed<Statement<'a>> {
        if let Some(&Kind::Word(keyword)) = self.peek()
            && BLOCKS.contains(&keyword)
            && self.second_mark() == Some("{")
        {
            return Err(format!("`{keyword} {{` where `}}` should be"));
        }
        let statement = self.simple_statement()?;
        if let Statement::Assign { name, value: Value::Text(value) | Value::Word(value), .. } = &statement
            && name == "name"
        {
            self.block_name = Some(value.clone());
        }
        Ok(statement)
    }

    fn simple_statement(&mut self) -> Parsed<Statement<'a>> {
        let line = self.line;
        if let Some(types) = self.aliases()? {
            return Ok(Statement::Types(types));
        }
        let is_name = matches!(self.peek(), Some(Kind::Word(_)));
        let statement = if is_name && matches!(self.second_mark(), Some("=" | ":=" | ".")) {
            let name = joined(self.path()?);
            if self.take_mark(":=") {
                Statement::Layout { name, kind: self.type_expression()? }
            } else {
                self.expect("=")?;
                Statement::Assign { name, value: self.value()?, line }
            }
        } else {
            Statement::Types(TypeStatement::Declare(self.type_expression()?))
        };
        self.expect(";")?;
        Ok(statement)
    }

    /// `typealias` and `typedef`, if one of them is next.
    fn aliases(&mut self) -> Parsed<Option<TypeStatement<'a>>> {
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

    fn lengths(&mut self) -> Parsed<Vec<Length<'a>>> {
        let mut lengths = Vec::new();
        while self.take_mark("[") {
            if lengths.len() == MAX_DEPTH {
                return Err("too many dimensions".into());
            }
            lengths.push(match self.peek() {
                Some(&Kind::Number(number)) => {
                    self.bump();
                    Length::Fixed(number)
                }
                _ => Length::Path(self.path()?),
            });
            self.expect("]")?;
        }
        Ok(lengths)
    }

    /// `a.b.c`, also with `->`, as the specification has it in places.
    fn path(&mut self) -> Parsed<Path<'a>> {
        let mut path = vec![self.word()?];
        while self.take_mark(".") || self.take_mark("->") {
            path.push(self.word()?);
        }
        Ok(path)
    }

    fn tag(&mut self) -> Parsed<Option<Path<'a>>> {
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
            if let Some(&Kind::Word(word)) = self.peek() {
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

    fn type_expression(&mut self) -> Parsed<TypeExpression<'a>> {
        let line = self.line;
        let shape = self.nested(Parser::shape)?;
        Ok(TypeExpression { shape, line })
    }

    fn shape(&mut self) -> Parsed<Shape<'a>> {
        // A qualifier says nothing about the layout.
        while self.take_word("const") {}
        Ok(match self.word()? {
            "integer" if self.is_mark("{") => Shape::Integer(self.attributes()?),
            "floating_point" => Shape::Float(self.attributes()?),
            "string" => {
                if self.is_mark("{") {
                    self.attributes()?;
                }
                Shape::Text
            }
            "struct" => {
                let name = self.optional_name();
                let body = self.body()?;
                let align = if self.take_word("align") { self.align()? } else { 1 };
                Shape::Struct { name, body, align }
            }
            "variant" => {
                let name = self.optional_name();
                let tag = self.tag()?;
                Shape::Variant { name, tag, body: self.body()? }
            }
            "enum" => {
                let name = self.optional_name();
                let container =
                    if self.take_mark(":") { Some(Box::new(self.type_expression()?)) } else { None };
                let body = if self.is_mark("{") { Some(self.enumerators()?) } else { None };
                Shape::Enum { name, container, body }
            }
            word => self.named(word)?,
        })
    }

    /// One word, or several: `unsigned long`. The last word before a mark is the field's name.
    fn named(&mut self, first: &'a str) -> Parsed<Shape<'a>> {
        const PARTS: [&str; 8] = ["unsigned", "signed", "long", "short", "int", "char", "float", "double"];
        let mut name = Cow::Borrowed(first);
        if PARTS.contains(&first) {
            while let Some(&Kind::Word(word)) = self.peek()
                && PARTS.contains(&word)
            {
                name += " ";
                name += word;
                self.bump();
            }
        }
        while self.take_mark("*") {
            name += " *";
        }
        Ok(Shape::Named(name, self.tag()?))
    }

    fn optional_name(&mut self) -> Option<&'a str> {
        match self.peek() {
            Some(Kind::Word(_)) => self.word().ok(),
            _ => None,
        }
    }

    fn align(&mut self) -> Parsed<u64> {
        self.expect("(")?;
        let Some(&Kind::Number(align)) = self.peek() else { return Err(self.unexpected("a number")) };
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
        if let Some(source) = source.filter(|source| start + source.len() == end)
            && self.known_attributes.len() < MAX_KNOWN
        {
            self.known_attributes.insert(source, attributes.clone());
        }
        Ok(attributes)
    }

    fn body(&mut self) -> Parsed<Option<Vec<Entry<'a>>>> {
        if !self.take_mark("{") {
            return Ok(None);
        }
        let mut entries = Vec::new();
        while !self.take_mark("}") {
            if let Some(types) = self.aliases()? {
                entries.push(Entry::Types(types));
                continue;
            }
            let kind = self.type_expression()?;
            entries.push(match self.is_mark(";") {
                true => Entry::Types(TypeStatement::Declare(kind)),
                false => Entry::Members(kind, self.declarators()?),
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
                Some(Kind::Text(text)) => {
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

    fn value(&mut self) -> Parsed<Value<'a>> {
        match self.peek() {
            Some(Kind::Text(text)) => {
                let mut text = text.clone();
                self.bump();
                // Adjacent strings are one, as in C.
                while let Some(Kind::Text(more)) = self.peek() {
                    text.to_mut().push_str(more);
                    self.bump();
                }
                Ok(Value::Text(text))
            }
            Some(Kind::Word(_)) => Ok(Value::Word(joined(self.path()?))),
            _ => Ok(Value::Number(self.number()?)),
        }
    }

    /// A number with any number of signs before it.
    fn number(&mut self) -> Parsed<i128> {
        let mut negative = false;
        loop {
            if self.take_mark("-") {
                negative = !negative;
            } else if !self.take_mark("+") {
                break;
            }
        }
        let Some(&Kind::Number(number)) = self.peek() else { return Err(self.unexpected("a number")) };
        self.bump();
        Ok(if negative { -i128::from(number) } else { i128::from(number) })
    }
}

/// A path as one word.
fn joined(path: Path<'_>) -> Cow<'_, str> {
    match path.as_slice() {
        [only] => Cow::Borrowed(only),
        _ => Cow::Owned(path.join(".")),
    }
}
