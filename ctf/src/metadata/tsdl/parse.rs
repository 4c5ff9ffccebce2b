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

use super::super::Problem;
use super::ast::{Attribute, Entry, Enumerator, Length, Path, Shape, Statement, TypeExpression};
use super::ast::{TypeStatement, Value};
use super::lex::{Kind, Token};

/// How deep types and blocks may nest; LTTng's nest four deep.
const MAX_DEPTH: usize = 64;

const BLOCKS: [&str; 6] = ["trace", "env", "clock", "stream", "event", "callsite"];

/// Reads statements. What cannot be read ends them, and says so.
pub fn statements(tokens: &[Token]) -> (Vec<Statement>, Option<Problem>) {
    let mut parser = Parser { tokens, at: 0, depth: 0 };
    let mut statements = Vec::new();
    while parser.at < tokens.len() {
        if let Err(reason) = parser.statement(&mut statements) {
            return (statements, Some(Problem { line: parser.line(), reason }));
        }
    }
    (statements, None)
}

type Parsed<T> = Result<T, String>;

struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn peek(&self, ahead: usize) -> Option<&Kind> {
        self.tokens.get(self.at + ahead).map(|token| &token.kind)
    }

    fn line(&self) -> usize {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(1, |token| token.line)
    }

    fn is_mark(&self, ahead: usize, mark: &str) -> bool {
        matches!(self.peek(ahead), Some(Kind::Mark(found)) if *found == mark)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(0), Some(Kind::Word(found)) if found == word)
    }

    fn take_mark(&mut self, mark: &str) -> bool {
        let found = self.is_mark(0, mark);
        self.at += usize::from(found);
        found
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, mark: &str) -> Parsed<()> {
        if self.take_mark(mark) { Ok(()) } else { Err(self.unexpected(&format!("`{mark}`"))) }
    }

    fn unexpected(&self, wanted: &str) -> String {
        match self.peek(0) {
            Some(Kind::Word(word)) => format!("`{word}` where {wanted} should be"),
            Some(Kind::Number(number)) => format!("`{number}` where {wanted} should be"),
            Some(Kind::Text(text)) => format!("{text:?} where {wanted} should be"),
            Some(Kind::Mark(mark)) => format!("`{mark}` where {wanted} should be"),
            None => format!("the text ends where {wanted} should be"),
        }
    }

    fn word(&mut self) -> Parsed<String> {
        match self.peek(0) {
            Some(Kind::Word(word)) => {
                let word = word.clone();
                self.at += 1;
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

    fn statement(&mut self, into: &mut Vec<Statement>) -> Parsed<()> {
        let line = self.line();
        if let Some(Kind::Word(keyword)) = self.peek(0)
            && BLOCKS.contains(&keyword.as_str())
            && self.is_mark(1, "{")
        {
            let keyword = keyword.clone();
            self.at += 2;
            let statements = self.nested(|parser| {
                let mut statements = Vec::new();
                while !parser.take_mark("}") {
                    parser.statement(&mut statements)?;
                }
                Ok(statements)
            })?;
            self.expect(";")?;
            into.push(Statement::Block { keyword, statements, line });
            return Ok(());
        }
        if let Some(aliases) = self.aliases()? {
            into.extend(aliases.into_iter().map(Statement::Types));
            return Ok(());
        }
        let is_name = matches!(self.peek(0), Some(Kind::Word(_)));
        let statement = if is_name && ["=", ":=", "."].iter().any(|mark| self.is_mark(1, mark)) {
            let name = self.path()?.join(".");
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
        into.push(statement);
        Ok(())
    }

    /// `typealias` and `typedef`, if one of them stands here.
    fn aliases(&mut self) -> Parsed<Option<Vec<TypeStatement>>> {
        let mut aliases = Vec::new();
        if self.take_word("typealias") {
            let mut kind = self.type_expression()?;
            kind.lengths = self.lengths()?;
            self.expect(":=")?;
            let name = self.type_name()?;
            aliases.push(TypeStatement::Alias { kind, name });
        } else if self.take_word("typedef") {
            let kind = self.type_expression()?;
            for (name, kind) in self.declarators(kind)? {
                aliases.push(TypeStatement::Alias { kind, name });
            }
        } else {
            return Ok(None);
        }
        self.expect(";")?;
        Ok(Some(aliases))
    }

    /// `NAME [LENGTH]…, NAME …` after a type.
    fn declarators(&mut self, kind: TypeExpression) -> Parsed<Vec<(String, TypeExpression)>> {
        let mut declarators = Vec::new();
        loop {
            let name = self.word()?;
            declarators.push((name, TypeExpression { lengths: self.lengths()?, ..kind.clone() }));
            if !self.take_mark(",") {
                return Ok(declarators);
            }
        }
    }

    fn lengths(&mut self) -> Parsed<Vec<Length>> {
        let mut lengths = Vec::new();
        while self.take_mark("[") {
            if lengths.len() == MAX_DEPTH {
                return Err("too many dimensions".into());
            }
            lengths.push(match self.peek(0) {
                Some(&Kind::Number(number)) => {
                    self.at += 1;
                    Length::Fixed(number)
                }
                _ => Length::Path(self.path()?),
            });
            self.expect("]")?;
        }
        Ok(lengths)
    }

    /// `a.b.c`, also with `->`, as the specification has it in places.
    fn path(&mut self) -> Parsed<Path> {
        let mut path = vec![self.word()?];
        while self.take_mark(".") || self.take_mark("->") {
            path.push(self.word()?);
        }
        Ok(path)
    }

    fn tag(&mut self) -> Parsed<Option<Path>> {
        if !self.take_mark("<") {
            return Ok(None);
        }
        let path = self.path()?;
        self.expect(">")?;
        Ok(Some(path))
    }

    /// The name that `typealias` gives: words and stars.
    fn type_name(&mut self) -> Parsed<String> {
        let mut name = self.word()?;
        loop {
            if matches!(self.peek(0), Some(Kind::Word(_))) {
                name = name + " " + &self.word()?;
            } else if self.take_mark("*") {
                name += " *";
            } else {
                return Ok(name);
            }
        }
    }

    fn type_expression(&mut self) -> Parsed<TypeExpression> {
        let line = self.line();
        let shape = self.nested(Parser::shape)?;
        Ok(TypeExpression { shape, lengths: Vec::new(), line })
    }

    fn shape(&mut self) -> Parsed<Shape> {
        // A qualifier says nothing about the layout.
        while self.take_word("const") {}
        let word = self.word()?;
        Ok(match word.as_str() {
            "integer" if self.is_mark(0, "{") => Shape::Integer(self.attributes()?),
            "floating_point" => Shape::Float(self.attributes()?),
            "string" => {
                if self.is_mark(0, "{") {
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
                let body = if self.is_mark(0, "{") { Some(self.enumerators()?) } else { None };
                Shape::Enum { name, container, body }
            }
            _ => self.named(word)?,
        })
    }

    /// One word, or several: `unsigned long`. The last word before a mark is the field's name.
    fn named(&mut self, first: String) -> Parsed<Shape> {
        const PARTS: [&str; 8] = ["unsigned", "signed", "long", "short", "int", "char", "float", "double"];
        let mut name = first;
        while let Some(Kind::Word(word)) = self.peek(0)
            && PARTS.contains(&word.as_str())
            && name.split(' ').all(|part| PARTS.contains(&part))
        {
            name = name + " " + word;
            self.at += 1;
        }
        while self.take_mark("*") {
            name += " *";
        }
        Ok(Shape::Named(name, self.tag()?))
    }

    fn optional_name(&mut self) -> Option<String> {
        match self.peek(0) {
            Some(Kind::Word(_)) => self.word().ok(),
            _ => None,
        }
    }

    fn align(&mut self) -> Parsed<u64> {
        self.expect("(")?;
        let Some(&Kind::Number(align)) = self.peek(0) else { return Err(self.unexpected("a number")) };
        self.at += 1;
        self.expect(")")?;
        Ok(align)
    }

    fn attributes(&mut self) -> Parsed<Vec<Attribute>> {
        self.expect("{")?;
        let mut attributes = Vec::new();
        while !self.take_mark("}") {
            let name = self.word()?;
            self.expect("=")?;
            attributes.push((name, self.value()?));
            self.expect(";")?;
        }
        Ok(attributes)
    }

    fn body(&mut self) -> Parsed<Option<Vec<Entry>>> {
        if !self.take_mark("{") {
            return Ok(None);
        }
        let mut entries = Vec::new();
        while !self.take_mark("}") {
            if let Some(aliases) = self.aliases()? {
                entries.extend(aliases.into_iter().map(Entry::Types));
                continue;
            }
            let kind = self.type_expression()?;
            if self.is_mark(0, ";") {
                entries.push(Entry::Types(TypeStatement::Declare(kind)));
            } else {
                let members = self.declarators(kind)?;
                entries.extend(members.into_iter().map(|(name, kind)| Entry::Member(name, kind)));
            }
            self.expect(";")?;
        }
        Ok(Some(entries))
    }

    fn enumerators(&mut self) -> Parsed<Vec<Enumerator>> {
        self.expect("{")?;
        let mut enumerators = Vec::new();
        while !self.take_mark("}") {
            let label = match self.peek(0) {
                Some(Kind::Text(text)) => {
                    let text = text.clone();
                    self.at += 1;
                    text
                }
                _ => self.word()?,
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

    fn value(&mut self) -> Parsed<Value> {
        match self.peek(0) {
            Some(Kind::Text(text)) => {
                let mut text = text.clone();
                self.at += 1;
                // Adjacent strings are one, as in C.
                while let Some(Kind::Text(more)) = self.peek(0) {
                    text += more;
                    self.at += 1;
                }
                Ok(Value::Text(text))
            }
            Some(Kind::Word(_)) => Ok(Value::Word(self.path()?.join("."))),
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
        let Some(&Kind::Number(number)) = self.peek(0) else { return Err(self.unexpected("a number")) };
        self.at += 1;
        Ok(if negative { -i128::from(number) } else { i128::from(number) })
    }
}
