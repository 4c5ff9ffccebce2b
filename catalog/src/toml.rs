//! Reads TOML, with the offset of every key and value, and goes on after an error.
//!
//! Every traced program compiles this before its own code, and a general reader takes as long to compile as all the rest of
//! this crate. A catalog has neither dates nor numbers with a fraction, so these are not looked into. Tests compare the
//! outcome with that of the `toml` crate.

mod lexer;
mod tree;

use lexer::Lexer;
use tree::Kind;
pub(crate) use tree::{Item, Table, Value};

/// What is wrong with a text as TOML, and at which offset.
#[derive(Debug)]
pub(crate) struct SyntaxError {
    pub(crate) offset: usize,
    pub(crate) message: String,
}

/// Arrays and tables within each other are read, searched and dropped by functions that call themselves.
const DEEPEST: usize = 64;

/// A key and its offset.
struct Key {
    name: String,
    offset: usize,
}

/// The tables of a text, as far as they are right, and what is wrong.
pub(crate) fn parse(text: &str) -> (Table, Vec<SyntaxError>) {
    let mut root = Table::default();
    // None below a header that is wrong.
    let mut current = Some(&mut root);
    let mut lexer = Lexer::new(text);
    while lexer.skip_blank_lines() {
        let start = lexer.offset;
        let mut read = Ok(());
        if lexer.peek() == Some('[') {
            let opened = header(&mut lexer).and_then(|(keys, is_element)| root.open(start, keys, is_element));
            current = opened.map_err(|error| read = Err(error)).ok();
        } else {
            read = match &mut current {
                Some(table) => assignment(&mut lexer, table, 0),
                None => assignment(&mut lexer, &mut Table::default(), 0),
            };
        }
        if let Err(error) = read.and_then(|()| lexer.end_of_line()) {
            lexer.recover(start, error);
        }
    }
    (root, lexer.errors)
}

/// `[a.b]`, or `[[a.b]]` for the next element of an array.
fn header(lexer: &mut Lexer<'_>) -> Result<(Vec<Key>, bool), SyntaxError> {
    let is_element = lexer.skip("[[");
    if !is_element {
        lexer.expect('[')?;
    }
    let keys = dotted(lexer)?;
    let end = if is_element { "]]" } else { "]" };
    match lexer.skip(end) {
        true => Ok((keys, is_element)),
        false => lexer.fail(format!("unclosed table, expected `{end}`")),
    }
}

/// `a.b = 3`
fn assignment(lexer: &mut Lexer<'_>, table: &mut Table, depth: usize) -> Result<(), SyntaxError> {
    let keys = dotted(lexer)?;
    lexer.expect('=')?;
    lexer.skip_spaces();
    let item = item(lexer, depth + keys.len())?;
    if let Err(duplicate) = table.assign(keys, item) {
        lexer.errors.push(duplicate);
    }
    Ok(())
}

/// `a."b".c`, and the spaces around it.
fn dotted(lexer: &mut Lexer<'_>) -> Result<Vec<Key>, SyntaxError> {
    let mut keys = Vec::new();
    loop {
        lexer.skip_spaces();
        keys.push(Key { offset: lexer.offset, name: lexer.key()? });
        lexer.skip_spaces();
        if keys.len() > DEEPEST {
            return lexer.fail("tables are nested too deeply");
        }
        if !lexer.skip(".") {
            return Ok(keys);
        }
    }
}

fn item(lexer: &mut Lexer<'_>, depth: usize) -> Result<Item, SyntaxError> {
    let offset = lexer.offset;
    if depth > DEEPEST {
        return lexer.fail("arrays and tables are nested too deeply");
    }
    let value = match lexer.peek() {
        Some('"' | '\'') => Value::String(lexer.string()?),
        Some('[') => {
            let mut elements = Vec::new();
            list(lexer, ('[', ']'), |lexer| {
                elements.push(item(lexer, depth + 1)?);
                Ok(())
            })?;
            Value::Array { elements, is_open: false }
        }
        Some('{') => {
            let mut table = Table { kind: Kind::Closed, ..Table::default() };
            list(lexer, ('{', '}'), |lexer| assignment(lexer, &mut table, depth + 1))?;
            Value::Table(table)
        }
        _ => lexer.word()?,
    };
    Ok(Item { offset, value })
}

/// What stands between brackets, with commas between, on any number of lines.
fn list(
    lexer: &mut Lexer<'_>,
    (open, close): (char, char),
    mut read: impl FnMut(&mut Lexer<'_>) -> Result<(), SyntaxError>,
) -> Result<(), SyntaxError> {
    lexer.expect(open)?;
    lexer.open += 1;
    loop {
        lexer.skip_lines()?;
        if lexer.peek() == Some(close) {
            break;
        }
        read(lexer)?;
        lexer.skip_lines()?;
        if !lexer.skip(",") {
            break;
        }
    }
    lexer.expect(close)?;
    lexer.open -= 1;
    Ok(())
}

#[cfg(test)]
mod tests;
