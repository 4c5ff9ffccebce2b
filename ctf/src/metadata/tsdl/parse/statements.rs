//! Statements and blocks, and what to do with those that are broken.

use std::borrow::Cow;

use super::super::super::draft::Drafted;
use super::super::lex::{BLOCKS, Lexer, TYPES, TokenKind, brief};
use super::super::types::AssignedValue;
use super::cursor::{Parsed, Parser, joined};

/// A statement, on the top level or in a block, and the line it begins on. Names are borrowed from the text.
pub struct Statement<'a> {
    pub line: usize,
    pub kind: StatementKind<'a>,
}

pub enum StatementKind<'a> {
    /// Types were named (`typealias TYPE := NAME;`, `typedef TYPE NAME;`, `struct NAME { … };`), or why they could not be.
    Types(Result<(), String>),
    /// `trace { … };`, `env { … };`, `clock { … };`, `stream { … };`, `event { … };`, `callsite { … };`
    Block { keyword: &'a str, statements: Vec<Statement<'a>> },
    /// `path.to.name = VALUE;`
    Assign { name: Cow<'a, str>, value: AssignedValue<'a> },
    /// `path.to.name := TYPE;`
    Layout { name: Cow<'a, str>, draft: Drafted },
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

impl<'a> Parser<'a, '_> {
    /// The next statement on the top level.
    pub fn statement(&mut self) -> Option<Result<Statement<'a>, Broken>> {
        // The end of a block whose beginning was broken has been reported with it.
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
        self.drafter.end_all_scopes();
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
        let Some(TokenKind::Word(word)) = self.peek() else { return None };
        BLOCKS.into_iter().chain(TYPES).find(|keyword| keyword == word)
    }

    /// The keyword of the block that begins here, if one does.
    fn block_keyword(&self) -> Option<&'a str> {
        match self.peek() {
            Some(&TokenKind::Word(word)) if BLOCKS.contains(&word) && self.second_mark() == Some("{") => {
                Some(word)
            }
            _ => None,
        }
    }

    fn any_statement(&mut self) -> Parsed<Statement<'a>> {
        let line = self.line;
        let Some(keyword) = self.block_keyword() else { return self.simple_statement() };
        self.bump();
        self.bump();
        self.drafter.begin_scope();
        let mut statements = Vec::new();
        while !self.take_mark("}") {
            statements.push(self.statement_in_block()?);
        }
        self.drafter.end_scope();
        // A block is complete without it too.
        self.take_mark(";");
        Ok(Statement { line, kind: StatementKind::Block { keyword, statements } })
    }

    fn statement_in_block(&mut self) -> Parsed<Statement<'a>> {
        if let Some(keyword) = self.block_keyword() {
            return Err(format!("expected `}}`, found `{keyword} {{`"));
        }
        let statement = self.simple_statement()?;
        if let Some(name) = statement.name() {
            self.block_name = Some(name.clone());
        }
        Ok(statement)
    }

    fn simple_statement(&mut self) -> Parsed<Statement<'a>> {
        let line = self.line;
        if let Some(declared) = self.aliases()? {
            return Ok(Statement { line, kind: StatementKind::Types(declared) });
        }
        let is_name = matches!(self.peek(), Some(TokenKind::Word(_)));
        let kind = if is_name && matches!(self.second_mark(), Some("=" | ":=" | ".")) {
            let name = joined(self.path()?);
            if self.take_mark(":=") {
                StatementKind::Layout { name, draft: self.type_expression()? }
            } else {
                self.expect("=")?;
                StatementKind::Assign { name, value: self.value()? }
            }
        } else {
            StatementKind::Types(self.type_expression()?.map(drop))
        };
        self.expect(";")?;
        Ok(Statement { line, kind })
    }
}

impl<'a> Statement<'a> {
    /// The name that this statement gives its block.
    pub fn name(&self) -> Option<&Cow<'a, str>> {
        match &self.kind {
            StatementKind::Assign {
                name,
                value: AssignedValue::Text(value) | AssignedValue::Word(value),
            } if name == "name" => Some(value),
            _ => None,
        }
    }
}
