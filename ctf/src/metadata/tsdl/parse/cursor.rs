//! The position of the parser in the tokens, and the small parts that statements and types share.

use std::borrow::Cow;
use std::collections::HashMap;

use super::super::super::draft::Drafted;
use super::super::lex::{Lexer, Token, TokenKind, brief};
use super::super::types::{AssignedValue, Drafter};

/// How deep types may nest; LTTng's nest four deep.
pub const MAX_DEPTH: usize = 64;

/// What was parsed, or why it cannot be.
pub type Parsed<T> = Result<T, String>;

/// Reads statements, one at a time.
pub struct Parser<'a, 'd> {
    pub drafter: &'d mut Drafter,
    pub lexer: Lexer<'a>,
    /// The next token, or why it cannot be read.
    pub next: Result<Option<Token<'a>>, String>,
    /// Where the next token begins, and its line.
    pub at: usize,
    pub line: usize,
    /// The line of the previous token.
    pub last_line: usize,
    pub depth: usize,
    /// The `name` in the block that is being read.
    pub block_name: Option<Cow<'a, str>>,
    /// Whether the previous statement was broken.
    pub is_after_broken: bool,
    /// Integers and floating-point numbers by their keyword and source text.
    pub known: HashMap<(&'static str, &'a str), Drafted>,
}

impl<'a, 'd> Parser<'a, 'd> {
    /// A parser of a text whose first line has this number.
    pub fn new(text: &'a str, line: usize, drafter: &'d mut Drafter) -> Parser<'a, 'd> {
        let mut parser = Parser {
            drafter,
            lexer: Lexer::new(text).at(0, line),
            next: Ok(None),
            at: 0,
            line,
            last_line: line,
            depth: 0,
            block_name: None,
            is_after_broken: false,
            known: HashMap::new(),
        };
        parser.bump();
        parser
    }

    /// Where the next token begins, and its line.
    pub fn place(&self) -> (usize, usize) {
        (self.at, self.line)
    }

    /// Goes on to the next token.
    pub fn bump(&mut self) {
        // Errors are located after blanks; the lexer finds an open comment again.
        self.last_line = self.lexer.line;
        let _ = self.lexer.skip_blanks();
        (self.at, self.line) = (self.lexer.at, self.lexer.line);
        self.next = self.lexer.next();
    }

    /// What the next token is, if it can be read.
    pub fn peek(&self) -> Option<&TokenKind<'a>> {
        self.next.as_ref().ok()?.as_ref().map(|token| &token.kind)
    }

    /// The mark after the next token.
    pub fn second_mark(&self) -> Option<&'static str> {
        match self.lexer.clone().next() {
            Ok(Some(Token { kind: TokenKind::Mark(mark), .. })) => Some(mark),
            _ => None,
        }
    }

    /// Whether this mark is next.
    pub fn is_mark(&self, mark: &str) -> bool {
        matches!(self.peek(), Some(TokenKind::Mark(found)) if *found == mark)
    }

    /// Takes this mark if it is next.
    pub fn take_mark(&mut self, mark: &str) -> bool {
        let found = self.is_mark(mark);
        if found {
            self.bump();
        }
        found
    }

    /// Takes this word if it is next.
    pub fn take_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Some(TokenKind::Word(found)) if *found == word);
        if found {
            self.bump();
        }
        found
    }

    /// Takes a mark, which must be next.
    pub fn expect(&mut self, mark: &str) -> Parsed<()> {
        if self.take_mark(mark) { Ok(()) } else { Err(self.unexpected(&format!("`{mark}`"))) }
    }

    /// An error: something else than what is wanted is next.
    pub fn unexpected(&self, wanted: &str) -> String {
        let token = match &self.next {
            Ok(token) => token.as_ref(),
            Err(reason) => return reason.clone(),
        };
        match token.map(|token| &token.kind) {
            Some(TokenKind::Word(word)) => format!("expected {wanted}, found `{}`", brief(word)),
            Some(TokenKind::Number(number)) => format!("expected {wanted}, found `{number}`"),
            Some(TokenKind::Text(text)) => format!("expected {wanted}, found {:?}", brief(text)),
            Some(TokenKind::Mark(mark)) => format!("expected {wanted}, found `{mark}`"),
            None => format!("expected {wanted}, found the end of the text"),
        }
    }

    /// Takes a word, which is a name here.
    pub fn word(&mut self) -> Parsed<&'a str> {
        match self.peek() {
            Some(&TokenKind::Word(word)) => {
                self.bump();
                Ok(word)
            }
            _ => Err(self.unexpected("a name")),
        }
    }

    /// Runs a part of the grammar that may contain itself.
    pub fn nested<T>(&mut self, part: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == MAX_DEPTH {
            return Err("types are nested too deeply".into());
        }
        self.depth += 1;
        let parsed = part(self);
        self.depth -= 1;
        parsed
    }

    /// `a.b.c`, also with `->`, as the specification has it in places.
    pub fn path(&mut self) -> Parsed<Vec<&'a str>> {
        let mut path = vec![self.word()?];
        while self.take_mark(".") || self.take_mark("->") {
            path.push(self.word()?);
        }
        Ok(path)
    }

    pub fn value(&mut self) -> Parsed<AssignedValue<'a>> {
        match self.peek() {
            Some(TokenKind::Text(text)) => {
                let mut text = text.clone();
                self.bump();
                // Adjacent strings are one, as in C.
                while let Some(TokenKind::Text(more)) = self.peek() {
                    text.to_mut().push_str(more);
                    self.bump();
                }
                Ok(AssignedValue::Text(text))
            }
            Some(TokenKind::Word(_)) => Ok(AssignedValue::Word(joined(self.path()?))),
            _ => Ok(AssignedValue::Number(self.number()?)),
        }
    }

    /// A number with any number of signs before it.
    pub fn number(&mut self) -> Parsed<i128> {
        let mut negative = false;
        loop {
            if self.take_mark("-") {
                negative = !negative;
            } else if !self.take_mark("+") {
                break;
            }
        }
        let Some(&TokenKind::Number(number)) = self.peek() else { return Err(self.unexpected("a number")) };
        self.bump();
        Ok(if negative { -i128::from(number) } else { i128::from(number) })
    }
}

/// A path as one word.
pub fn joined(path: Vec<&str>) -> Cow<'_, str> {
    match path.as_slice() {
        [only] => Cow::Borrowed(only),
        _ => Cow::Owned(path.join(".")),
    }
}
