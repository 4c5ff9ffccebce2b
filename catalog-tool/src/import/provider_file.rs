//! DTrace provider files: `provider NAME { probe NAME(TYPE name, …); … };`
//!
//! A name keeps its `__`, as in stapsdt notes; DTrace shows `-` for it.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::c_type::{CType, Types, spell};
use super::comments::{Comments, Documentation};
use super::draft::{Draft, DraftEvent, DraftField, DraftProvider};
use super::lex::{Kind, Source, Token};
use super::problem::Problem;

/// Reads the providers of a file without the probes that have errors.
pub fn read(source: Source<'_>, types: Types) -> Draft {
    let Source { tokens, comments, .. } = source;
    let mut parser =
        Parser { tokens: &tokens, at: 0, types, comments: Comments::new(comments), problems: Vec::new() };
    let providers = parser.file();
    if providers.is_empty() && parser.problems.is_empty() {
        parser.problem(1, "no `provider NAME { … };` found");
    }
    Draft { providers, problems: parser.problems }
}

struct Parser<'a, 't> {
    tokens: &'a [Token<'t>],
    at: usize,
    types: Types,
    comments: Comments<'t>,
    problems: Vec<Problem>,
}

impl<'a, 't> Parser<'a, 't> {
    fn file(&mut self) -> Vec<DraftProvider> {
        let mut providers: Vec<DraftProvider> = Vec::new();
        let mut by_name: HashMap<String, usize> = HashMap::new();
        while let Some(token) = self.next() {
            match token.text {
                "provider" => {
                    if let Some(provider) = self.provider(token) {
                        match by_name.entry(provider.name.clone()) {
                            Entry::Occupied(known) => providers[*known.get()].events.extend(provider.events),
                            Entry::Vacant(new) => {
                                new.insert(providers.len());
                                providers.push(provider);
                            }
                        }
                    }
                }
                "typedef" => self.type_definition(),
                "struct" | "union" | "enum" => self.skip_statement(),
                ";" => {}
                other => {
                    self.problem(token.line, format!("expected `provider NAME {{ … }};`, found `{other}`"));
                    self.skip_statement();
                }
            }
        }
        providers
    }

    fn provider(&mut self, keyword: Token<'t>) -> Option<DraftProvider> {
        let documentation = self.comments.before(keyword.offset, keyword.line);
        let name = self.name("the provider's name", keyword);
        let Some(name) = name.filter(|_| self.expect("{", "after the provider's name").is_some()) else {
            self.skip_statement();
            return None;
        };
        let (line, doc) = (keyword.line, documentation.text);
        let mut provider = DraftProvider { name, line, doc, ..DraftProvider::default() };
        loop {
            let Some(token) = self.next() else {
                let message = format!("`provider {} {{` is not closed; add a `}};`", provider.name);
                self.problem(line, message);
                return None;
            };
            match token.text {
                "}" => break,
                ";" => {}
                "probe" => provider.events.extend(self.probe(token)),
                other => {
                    self.problem(token.line, format!("expected `probe NAME(…);`, found `{other}`"));
                    self.skip_to_probe();
                }
            }
        }
        Some(provider)
    }

    fn probe(&mut self, keyword: Token<'t>) -> Option<DraftEvent> {
        let documentation = self.comments.before(keyword.offset, keyword.line);
        let Some(name) = self.name("the probe's name", keyword) else {
            self.skip_to_probe();
            return None;
        };
        let mut event = DraftEvent { name: name.clone(), line: keyword.line, ..DraftEvent::default() };
        if self.expect("(", &format!("after `probe {name}`")).is_none() {
            self.skip_to_probe();
            return None;
        }
        let Some(arguments) = self.arguments(&name, keyword) else {
            self.skip_to_probe();
            return None;
        };
        let known = self.problems.len();
        for (index, argument) in arguments.iter().enumerate() {
            let alone = arguments.len() == 1;
            let until = argument.end_of_comments(arguments.get(index + 1));
            event.fields.extend(self.argument(&name, argument.tokens, index, alone, until, &documentation));
        }
        if self.peek().is_some_and(|token| token.is(":")) {
            self.skip_translation();
        }
        let end = self.tokens.get(self.at.wrapping_sub(1)).copied().unwrap_or(keyword);
        match self.peek() {
            Some(token) if token.is(";") => self.at += 1,
            _ => self.problem(end.line, format!("`probe {name}(…)` is not terminated; add a `;`")),
        }
        let end = self.tokens[self.at - 1];
        event.doc = documentation.or(self.comments.after(end.end(), end.line, usize::MAX)).text;
        (self.problems.len() == known).then_some(event)
    }

    /// The tokens of each argument, up to and with the closing parenthesis.
    fn arguments(&mut self, name: &str, keyword: Token<'t>) -> Option<Vec<Argument<'a, 't>>> {
        let (mut arguments, mut start, mut depth) = (Vec::new(), self.at, 0usize);
        while let Some(token) = self.peek() {
            match token.text {
                "(" => depth += 1,
                ")" if depth > 0 => depth -= 1,
                ")" => {
                    if start < self.at || !arguments.is_empty() {
                        arguments.push(Argument { tokens: &self.tokens[start..self.at], end: token });
                    }
                    self.at += 1;
                    return Some(arguments);
                }
                "," if depth == 0 => {
                    arguments.push(Argument { tokens: &self.tokens[start..self.at], end: token });
                    start = self.at + 1;
                }
                ";" | "{" | "}" | "probe" => break,
                _ => {}
            }
            self.at += 1;
        }
        self.problem(keyword.line, format!("the arguments of `probe {name}` are not closed; add a `)`"));
        None
    }

    fn argument(
        &mut self,
        probe: &str,
        tokens: &[Token<'t>],
        index: usize,
        alone: bool,
        until: usize,
        documentation: &Documentation,
    ) -> Option<DraftField> {
        let Some((first, last)) = tokens.first().zip(tokens.last()) else {
            let line = self.tokens[self.at - 1].line;
            self.problem(line, format!("argument {} of `{probe}` is empty", index + 1));
            return None;
        };
        let before = self.comments.before(first.offset, first.line);
        let on_line = self.comments.after(last.end(), last.line, until);
        let (kind, name) = self.types.split_name(tokens);
        let spelling = match self.types.read(kind) {
            Ok(CType::Void) if alone && name.is_none() => return None,
            Ok(kind) => kind.spelling().ok_or_else(|| format!("`{}` has no value to record", spell(tokens))),
            Err(error) => Err(error),
        };
        let name = name.map_or_else(|| format!("arg{index}"), |name| name.text.to_owned());
        match spelling {
            Err(error) => {
                self.problem(first.line, format!("argument {} of `{probe}`: {error}", index + 1));
                None
            }
            Ok(kind) => {
                let doc = documentation.parameter(&name).map_or(before.or(on_line).text, str::to_owned);
                Some(DraftField { name, line: first.line, doc, kind, ..DraftField::default() })
            }
        }
    }

    /// Skips `: (bufinfo_t *, …)`, the types that D scripts see instead of the arguments.
    fn skip_translation(&mut self) {
        while self.peek().is_some_and(|token| !matches!(token.text, ";" | "}" | "probe")) {
            self.at += 1;
        }
    }

    /// `typedef unsigned int foo_t;`
    fn type_definition(&mut self) {
        let start = self.at;
        self.skip_statement();
        self.types.define_type(&self.tokens[start..self.at.saturating_sub(1).max(start)]);
    }

    /// A name; a `-` of DTrace becomes `__`.
    fn name(&mut self, what: &str, after: Token<'t>) -> Option<String> {
        let Some(first) = self.peek().filter(|token| token.kind == Kind::Word) else {
            let found =
                self.peek().map_or("the end of the file".to_owned(), |token| format!("`{}`", token.text));
            self.problem(after.line, format!("expected {what} after `{}`, found {found}", after.text));
            return None;
        };
        self.at += 1;
        let mut name = first.text.to_owned();
        loop {
            match &self.tokens[self.at..] {
                [dash, word, ..] if dash.is("-") && matches!(word.kind, Kind::Word | Kind::Number) => {
                    name.push_str("__");
                    name.push_str(word.text);
                    self.at += 2;
                }
                _ => return Some(name),
            }
        }
    }

    fn expect(&mut self, text: &str, place: &str) -> Option<()> {
        match self.peek() {
            Some(token) if token.is(text) => {
                self.at += 1;
                Some(())
            }
            token => {
                let line = token.or(self.tokens.last().copied()).map_or(1, |token| token.line);
                let found =
                    token.map_or("the end of the file".to_owned(), |token| format!("`{}`", token.text));
                self.problem(line, format!("expected `{text}` {place}, found {found}"));
                None
            }
        }
    }

    /// Skips to the next `probe`, or the end of the provider.
    fn skip_to_probe(&mut self) {
        while self.peek().is_some_and(|token| !matches!(token.text, "probe" | "}" | "provider")) {
            self.at += 1;
        }
    }

    /// Skips to the end of a statement, its `;` included.
    fn skip_statement(&mut self) {
        let mut depth = 0usize;
        while let Some(token) = self.peek() {
            match token.text {
                "{" => depth += 1,
                "}" => depth = depth.saturating_sub(1),
                "provider" if depth == 0 => return,
                _ => {}
            }
            self.at += 1;
            if token.is(";") && depth == 0 {
                return;
            }
        }
    }

    fn peek(&self) -> Option<Token<'t>> {
        self.tokens.get(self.at).copied()
    }

    fn next(&mut self) -> Option<Token<'t>> {
        let token = self.peek()?;
        self.at += 1;
        Some(token)
    }

    fn problem(&mut self, line: usize, message: impl Into<String>) {
        self.problems.push(Problem::new(line, message));
    }
}

/// An argument of a probe, and the comma or parenthesis after it.
struct Argument<'a, 't> {
    tokens: &'a [Token<'t>],
    end: Token<'t>,
}

impl Argument<'_, '_> {
    /// Where the comments about it end: at its comma, or at the next argument on another line.
    fn end_of_comments(&self, next: Option<&Argument<'_, '_>>) -> usize {
        let next = next.and_then(|next| next.tokens.first());
        next.filter(|next| next.line > self.end.line).map_or(self.end.offset, |next| next.offset)
    }
}
