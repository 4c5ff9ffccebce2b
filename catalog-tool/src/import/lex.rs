//! C and D text as tokens, comments and definitions of macros, in one pass.
//!
//! Of all conditions only `#if 0` is evaluated; other directives are skipped.

use super::problem::Problem;

/// The contents of a file, in order.
#[derive(Debug, Default)]
pub struct Source<'t> {
    pub tokens: Vec<Token<'t>>,
    pub comments: Vec<Comment<'t>>,
    pub definitions: Vec<Definition<'t>>,
}

/// A token with its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'t> {
    pub kind: Kind,
    pub text: &'t str,
    /// From 1.
    pub line: usize,
    /// In bytes from the beginning of the file.
    pub offset: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A keyword or a name.
    Word,
    Number,
    /// With its quotes.
    Text,
    /// One character.
    Sign,
}

impl Token<'_> {
    pub fn is(&self, text: &str) -> bool {
        self.text == text && self.kind != Kind::Text
    }

    pub fn end(&self) -> usize {
        self.offset + self.text.len()
    }
}

/// A comment without its delimiters.
#[derive(Clone, Copy, Debug)]
pub struct Comment<'t> {
    pub text: &'t str,
    pub first_line: usize,
    pub last_line: usize,
    pub offset: usize,
    /// Whether anything but a comment precedes it on its first line.
    pub trails: bool,
}

/// `#define NAME …` or `#define NAME(PARAMETER, …) …`
#[derive(Debug)]
pub struct Definition<'t> {
    pub name: Token<'t>,
    /// `None` for a macro without parentheses.
    pub parameters: Option<Vec<&'t str>>,
    pub body: Vec<Token<'t>>,
}

/// Reads a text; an unclosed comment or literal is an error and ends it.
pub fn lex(text: &str) -> (Source<'_>, Vec<Problem>) {
    let mut lexer = Lexer { text, at: 0, line: 1, line_is_blank: true, source: Source::default() };
    let mut problems = Vec::new();
    if let Err(problem) = lexer.run() {
        problems.push(problem);
    }
    (lexer.source, problems)
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    line: usize,
    /// Whether only spaces and comments precede `at` on this line.
    line_is_blank: bool,
    source: Source<'t>,
}

impl<'t> Lexer<'t> {
    fn run(&mut self) -> Result<(), Problem> {
        while let Some(next) = self.rest().chars().next() {
            match next {
                '\n' => {
                    self.line += 1;
                    self.line_is_blank = true;
                    self.at += 1;
                }
                _ if next.is_whitespace() => self.at += next.len_utf8(),
                '/' if self.rest().starts_with("/*") => self.block_comment()?,
                '/' if self.rest().starts_with("//") => self.line_comment(),
                '#' if self.line_is_blank => self.directive(),
                '"' | '\'' => self.quoted(next)?,
                _ => self.token(next),
            }
        }
        Ok(())
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn block_comment(&mut self) -> Result<(), Problem> {
        let (first_line, offset) = (self.line, self.at);
        let Some(length) = self.rest()[2..].find("*/") else {
            return Err(Problem::new(first_line, "the comment is not closed; add a `*/`"));
        };
        let text = &self.rest()[2..2 + length];
        self.line += text.matches('\n').count();
        self.at += length + 4;
        let trails = !self.line_is_blank;
        self.source.comments.push(Comment { text, first_line, last_line: self.line, offset, trails });
        Ok(())
    }

    fn line_comment(&mut self) {
        let rest = self.rest();
        let length = rest.find('\n').unwrap_or(rest.len());
        self.source.comments.push(Comment {
            text: &rest[2..length],
            first_line: self.line,
            last_line: self.line,
            offset: self.at,
            trails: !self.line_is_blank,
        });
        self.at += length;
    }

    /// A string or a character literal; both end on their line, unless a backslash continues it.
    fn quoted(&mut self, quote: char) -> Result<(), Problem> {
        let mut escaped = false;
        for (index, letter) in self.rest().char_indices().skip(1) {
            match letter {
                '\n' if !escaped => break,
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                _ if letter == quote => {
                    let lines = self.rest()[..index].matches('\n').count();
                    self.push(Kind::Text, index + 1);
                    self.line += lines;
                    return Ok(());
                }
                _ => {}
            }
        }
        Err(Problem::new(self.line, format!("the literal is not closed; add a `{quote}`")))
    }

    fn token(&mut self, first: char) {
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let length = self.rest().find(|letter| !is_part(letter)).unwrap_or(self.rest().len());
        match first {
            _ if first.is_ascii_digit() => self.push(Kind::Number, length),
            _ if is_part(first) => self.push(Kind::Word, length),
            _ => self.push(Kind::Sign, first.len_utf8()),
        }
    }

    fn push(&mut self, kind: Kind, length: usize) {
        let text = &self.rest()[..length];
        self.source.tokens.push(Token { kind, text, line: self.line, offset: self.at });
        self.at += length;
        self.line_is_blank = false;
    }

    fn directive(&mut self) {
        let text = self.rest().trim_start_matches('#').trim_start_matches([' ', '\t']);
        if let Some(rest) = text.strip_prefix("define") {
            self.at = self.text.len() - rest.len();
            self.definition();
        } else if is_never_true(&self.logical_line()) {
            self.skip_to_end_of_condition();
        }
    }

    /// Reads a definition to the end of its line, or of the last line that a `\` joins to it.
    fn definition(&mut self) {
        let outside = std::mem::take(&mut self.source.tokens);
        while let Some(next) = self.rest().chars().next() {
            let rest = self.rest();
            let read = match next {
                '\n' => break,
                '\\' if rest[1..].trim_start_matches([' ', '\t', '\r']).starts_with('\n') => {
                    self.at += rest.find('\n').map_or(rest.len(), |end| end + 1);
                    self.line += 1;
                    Ok(())
                }
                _ if next.is_whitespace() => {
                    self.at += next.len_utf8();
                    Ok(())
                }
                '/' if rest.starts_with("/*") => self.block_comment(),
                '/' if rest.starts_with("//") => {
                    self.line_comment();
                    Ok(())
                }
                '"' | '\'' => self.quoted(next),
                _ => {
                    self.token(next);
                    Ok(())
                }
            };
            if read.is_err() {
                // Errors in unused macros do not matter.
                self.logical_line();
                break;
            }
        }
        let tokens = std::mem::replace(&mut self.source.tokens, outside);
        self.source.definitions.extend(Definition::new(tokens));
        self.line_is_blank = false;
    }

    /// Takes the rest of the line, and the next line after each `\` at an end.
    fn logical_line(&mut self) -> String {
        let mut text = String::new();
        loop {
            let rest = self.rest();
            let length = rest.find('\n').unwrap_or(rest.len());
            let line = rest[..length].trim_end();
            self.at += length;
            match line.strip_suffix('\\') {
                Some(line) if self.at < self.text.len() => {
                    text.push_str(line);
                    text.push(' ');
                    self.at += 1;
                    self.line += 1;
                }
                _ => {
                    text.push_str(line);
                    return text;
                }
            }
        }
    }

    /// Skips what `#if 0` leaves out, up to its `#else` or `#endif`.
    fn skip_to_end_of_condition(&mut self) {
        let mut depth = 1;
        while depth > 0 && self.at < self.text.len() {
            self.at += 1;
            self.line += 1;
            let line = self.logical_line();
            let word = line.trim_start().strip_prefix('#').map(str::trim_start).unwrap_or_default();
            if word.starts_with("if") {
                depth += 1;
            } else if word.starts_with("endif") || (depth == 1 && word.starts_with("el")) {
                depth -= 1;
            }
        }
    }
}

impl<'t> Definition<'t> {
    /// Takes the name and the parameters from the beginning of a line.
    fn new(mut tokens: Vec<Token<'t>>) -> Option<Definition<'t>> {
        let name = *tokens.first().filter(|token| token.kind == Kind::Word)?;
        let has_parameters = tokens.get(1).is_some_and(|next| next.is("(") && next.offset == name.end());
        if !has_parameters {
            return Some(Definition { name, parameters: None, body: tokens.split_off(1) });
        }
        let close = tokens.iter().position(|token| token.is(")"))?;
        let body = tokens.split_off(close + 1);
        let words = tokens[2..close].iter().filter(|token| token.kind == Kind::Word || token.is("."));
        let mut parameters: Vec<&str> = words.map(|token| token.text).collect();
        if parameters.ends_with(&[".", ".", "."]) {
            parameters.truncate(parameters.len() - 3);
            parameters.push("__VA_ARGS__");
        }
        Some(Definition { name, parameters: Some(parameters), body })
    }
}

fn is_never_true(directive: &str) -> bool {
    let mut words = directive.trim_start_matches('#').split_whitespace();
    words.next() == Some("if") && words.next() == Some("0") && words.next().is_none_or(is_comment)
}

fn is_comment(text: &str) -> bool {
    text.starts_with("/*") || text.starts_with("//")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        lex(text).0.tokens.iter().map(|token| token.text).collect()
    }

    #[test]
    fn signs_words_numbers_and_texts_are_told_apart() {
        assert_eq!(
            words("a__b(0x1F, \"x\\\"y\", 'c');"),
            ["a__b", "(", "0x1F", ",", "\"x\\\"y\"", ",", "'c'", ")", ";"]
        );
    }

    #[test]
    fn what_is_under_if_0_is_left_out_and_its_else_is_not() {
        assert_eq!(words("a\n#if 0\nb\n#if X\nc\n#endif\nd\n#else\ne\n#endif\nf"), ["a", "e", "f"]);
        assert_eq!(words("#if 0 /* old */\nb\n#endif\nf"), ["f"]);
        assert!(words("#if 0\nb").is_empty());
    }

    #[test]
    fn lines_are_counted_through_comments_and_continued_directives() {
        let (source, problems) = lex("/* 1\n2 */ #define A(x, ...) \\\n 3\n  b // 4\nc");
        assert!(problems.is_empty());
        assert_eq!(source.tokens.iter().map(|token| token.line).collect::<Vec<_>>(), [4, 5]);
        let definition = &source.definitions[0];
        assert_eq!((definition.name.text, definition.body[0].text), ("A", "3"));
        assert_eq!(definition.parameters, Some(vec!["x", "__VA_ARGS__"]));
        assert!(!source.comments[0].trails && source.comments[1].trails);
    }

    #[test]
    fn what_is_never_closed_is_named_with_its_line() {
        assert_eq!(lex("a\n/* b").1[0].line, 2);
        assert_eq!(lex("a\n\n\"b\n\"").1[0].line, 3);
    }
}
