//! Comments as documentation: which comment belongs to which declaration, and its content.

use std::iter::Peekable;
use std::vec::IntoIter;

use super::lex::Comment;

/// The comments of a file, taken in its order, each at most once.
pub struct Comments<'t> {
    rest: Peekable<IntoIter<Comment<'t>>>,
}

impl<'t> Comments<'t> {
    pub fn new(comments: Vec<Comment<'t>>) -> Self {
        Comments { rest: comments.into_iter().peekable() }
    }

    /// The documentation that ends on the line before a declaration, or on its line.
    ///
    /// Comments that only a blank line separates are two: headings of a section are not taken.
    pub fn before(&mut self, offset: usize, line: usize) -> Documentation {
        let mut group: Vec<Comment<'t>> = Vec::new();
        while let Some(comment) = self.rest.next_if(|comment| comment.offset < offset) {
            if comment.trails || group.last().is_some_and(|last| last.last_line + 1 < comment.first_line) {
                group.clear();
            }
            if !comment.trails {
                group.push(comment);
            }
        }
        match group.last() {
            Some(last) if last.last_line + 1 >= line => Documentation::read(&group),
            _ => Documentation::default(),
        }
    }

    /// The documentation that follows a declaration on its last line, and before `until`.
    pub fn after(&mut self, offset: usize, line: usize, until: usize) -> Documentation {
        while self.rest.next_if(|comment| comment.offset < offset).is_some() {}
        let is_beside =
            |comment: &Comment<'_>| comment.trails && comment.first_line == line && comment.offset < until;
        match self.rest.next_if(is_beside) {
            Some(comment) => Documentation::read(&[comment]),
            None => Documentation::default(),
        }
    }
}

/// The content of a comment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Documentation {
    pub text: String,
    /// The texts of `@param NAME`, by name.
    pub parameters: Vec<(String, String)>,
}

impl Documentation {
    fn read(comments: &[Comment<'_>]) -> Documentation {
        let lines = comments.iter().flat_map(|comment| comment.text.lines()).map(bare_line);
        let mut documentation = Documentation::default();
        let mut to = Target::Text;
        for line in lines {
            let (new_target, said) = match tag(line) {
                _ if listed_parameter(line).is_some() => {
                    let (name, said) = listed_parameter(line).unwrap_or_default();
                    documentation.parameters.push((name.to_owned(), String::new()));
                    (Target::Parameter, said)
                }
                Some(("param", rest)) => {
                    let (name, said) = parameter(rest);
                    documentation.parameters.push((name.to_owned(), String::new()));
                    (Target::Parameter, said)
                }
                Some(("brief" | "details" | "short", said)) => (Target::Text, said),
                Some(_) => (Target::Nothing, ""),
                // A blank line ends a parameter, but not the text.
                None if line.is_empty() => (Target::Text, ""),
                None => (to, line),
            };
            to = new_target;
            match to {
                Target::Text => append(&mut documentation.text, said),
                Target::Parameter => {
                    if let Some((_, text)) = documentation.parameters.last_mut() {
                        append(text, said);
                    }
                }
                Target::Nothing => {}
            }
        }
        if is_licence(&documentation.text) {
            return Documentation::default();
        }
        sentence(&mut documentation.text);
        documentation.parameters.iter_mut().for_each(|(_, text)| sentence(text));
        documentation
    }

    /// The documentation of a parameter.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let found = self.parameters.iter().find(|(known, _)| known == name)?;
        Some(found.1.as_str()).filter(|text| !text.is_empty())
    }

    /// This, or the other if this is empty.
    pub fn or(self, other: Documentation) -> Documentation {
        if self.text.is_empty() { Documentation { text: other.text, ..self } } else { self }
    }
}

#[derive(Clone, Copy)]
enum Target {
    Text,
    Parameter,
    Nothing,
}

/// A line without the decoration of comments.
fn bare_line(line: &str) -> &str {
    line.trim().trim_start_matches(['*', '/', '!', '<']).trim_end_matches('*').trim()
}

/// `param` and the rest of `@param the rest` or `\param the rest`.
fn tag(line: &str) -> Option<(&str, &str)> {
    let tag = line.strip_prefix(['@', '\\'])?;
    let end = tag.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(tag.len());
    Some((&tag[..end], tag[end..].trim()))
}

/// The name and the text of `[in] name: the text`.
fn parameter(rest: &str) -> (&str, &str) {
    let rest = match rest.strip_prefix('[') {
        Some(rest) => rest.split_once(']').map_or("", |(_, rest)| rest.trim()),
        None => rest,
    };
    let end =
        rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(rest.len());
    (&rest[..end], rest[end..].trim_start_matches([':', '-', ' ']).trim())
}

/// The name and the text of a line of a list: "* `name` the text".
fn listed_parameter(line: &str) -> Option<(&str, &str)> {
    let (name, said) = line.strip_prefix('`')?.split_once("` ")?;
    let is_name =
        !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    is_name.then(|| (name, said.trim()))
}

fn append(text: &mut String, said: &str) {
    for word in said.split(|letter: char| letter.is_whitespace() || letter.is_control()) {
        if !text.is_empty() && !word.is_empty() {
            text.push(' ');
        }
        text.push_str(word);
    }
}

/// Makes a text a sentence: with a capital, unless its first word has one, and a full stop.
fn sentence(text: &mut String) {
    let word = text.split(' ').next().unwrap_or_default();
    let is_small = word.chars().all(|letter| letter.is_ascii_lowercase());
    if let Some(first) = text.get_mut(..1).filter(|_| is_small) {
        first.make_ascii_uppercase();
    }
    if text.ends_with(|last: char| last.is_alphanumeric() || last == ')') {
        text.push('.');
    }
}

fn is_licence(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    ["copyright", "spdx-license", "all rights reserved", "permission is hereby"]
        .iter()
        .any(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::super::lex::lex;
    use super::*;

    fn read(text: &str) -> Documentation {
        Documentation::read(&lex(text).0.comments)
    }

    #[test]
    fn decoration_is_left_out_and_lines_are_joined() {
        assert_eq!(read("/**\n * Fired when\n * it   happens.\n */").text, "Fired when it happens.");
        assert_eq!(read("// Fired when\n//! it happens.").text, "Fired when it happens.");
        assert_eq!(read("/*********\n * Box. *\n *********/").text, "Box.");
    }

    #[test]
    fn parameters_are_told_apart_and_may_span_lines() {
        let said = read(
            "/** Text.\n * @param a the first\n *   of them\n * @param[in] b: second\n * @return c\n * d\n */",
        );
        assert_eq!(said.text, "Text.");
        assert_eq!(said.parameter("a"), Some("The first of them."));
        assert_eq!(said.parameter("b"), Some("Second."));
        assert_eq!(said.parameter("c"), None);
    }

    #[test]
    fn licences_are_not_documentation() {
        assert_eq!(read("/* Copyright (c) 2008 */"), Documentation::default());
    }
}
