//! C types as catalogs spell them, for 64-bit Linux, where `long` and pointers have 64 bits.

use std::collections::HashMap;

use super::lex::{Kind, Token};

/// A C type as a tracer sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CType {
    /// Nothing.
    Void,
    /// `bool`
    Bool,
    /// `int` and the like.
    Integer {
        /// The width.
        bits: u8,
        /// Whether it can be negative.
        signed: bool,
    },
    /// `float`
    Float,
    /// `double`
    Double,
    /// `char *`
    Text,
    /// A pointer to anything else.
    Pointer,
}

impl CType {
    /// The type of a field with such a value; `None` for `void`.
    pub fn spelling(self) -> Option<String> {
        Some(match self {
            CType::Void => return None,
            CType::Bool => "bool".to_owned(),
            CType::Integer { bits, signed } => format!("{}{bits}", if signed { 'i' } else { 'u' }),
            CType::Float => "f32".to_owned(),
            CType::Double => "f64".to_owned(),
            CType::Text => "string".to_owned(),
            CType::Pointer => "u64 hex".to_owned(),
        })
    }

    /// The C type for a catalog's spelling, if C has one.
    pub fn from_spelling(spelling: &str) -> Option<CType> {
        let integers = [8, 16, 32, 64]
            .into_iter()
            .flat_map(|bits| [true, false].map(|signed| CType::Integer { bits, signed }));
        let others = [CType::Float, CType::Double, CType::Bool, CType::Text, CType::Pointer];
        integers.chain(others).find(|kind| kind.spelling().as_deref() == Some(spelling))
    }
}

/// The names of types that are known: those of C, and those that the user or the file defines.
#[derive(Clone, Debug, Default)]
pub struct Types {
    names: HashMap<String, CType>,
}

impl Types {
    /// Defines a name.
    pub fn define(&mut self, name: &str, meaning: CType) {
        self.names.insert(name.to_owned(), meaning);
    }

    /// Defines what a `typedef` names, without that word and the semicolon.
    pub fn define_type(&mut self, tokens: &[Token<'_>]) {
        let is_enum = tokens.first().is_some_and(|first| first.is("enum"));
        let after = tokens.iter().rposition(|token| token.is("}"));
        if let Some((name, _)) = after.filter(|_| is_enum).and_then(|end| tokens.get(end + 1)).zip(after) {
            self.define(name.text, CType::Integer { bits: 32, signed: true });
            return;
        }
        let (kind, name) = self.split_name(tokens);
        if let (Some(name), Ok(meaning)) = (name, self.read(kind)) {
            self.define(name.text, meaning);
        }
    }

    /// Defines what each `typedef` in a file names.
    pub fn define_all(&mut self, tokens: &[Token<'_>]) {
        let mut rest = tokens;
        while let Some(start) = rest.iter().position(|token| token.is("typedef")) {
            rest = &rest[start + 1..];
            let mut depth = 0_usize;
            let end = rest.iter().position(|token| {
                depth += usize::from(token.is("{"));
                depth = depth.saturating_sub(usize::from(token.is("}")));
                depth == 0 && token.is(";")
            });
            let Some(end) = end else { return };
            self.define_type(&rest[..end]);
            rest = &rest[end..];
        }
    }

    /// Reads the tokens of a type, without the declared name.
    pub fn read(&self, tokens: &[Token<'_>]) -> Result<CType, String> {
        let (words, pointers) = self.parts(tokens)?;
        let base = match self.base(&words) {
            // A pointer to anything is an address.
            Err(_) if pointers > 0 && !words.is_empty() => Base::Struct,
            base => base?,
        };
        Ok(match (pointers, base) {
            (0, Base::Known(known)) => known,
            (0, Base::Struct) => {
                return Err(format!(
                    "`{}` is passed by value, which tracers cannot record; pass its members or a pointer",
                    spell(tokens)
                ));
            }
            (1, Base::Known(CType::Integer { bits: 8, signed: _ })) if words.contains(&"char") => CType::Text,
            // A name for a string and a pointer to it both come with one `*` in prototypes of D.
            (1, Base::Known(CType::Text)) if words.contains(&"string") => CType::Text,
            _ => CType::Pointer,
        })
    }

    /// Splits `const char *key` into the tokens of its type and its name; a prototype may lack the name.
    pub fn split_name<'a, 't>(&self, tokens: &'a [Token<'t>]) -> (&'a [Token<'t>], Option<Token<'t>>) {
        // `char key[16]` has its name before the brackets.
        let declarator = tokens.iter().position(|token| token.is("[")).unwrap_or(tokens.len());
        let Some(last) = declarator.checked_sub(1).map(|index| tokens[index]) else { return (tokens, None) };
        let before = &tokens[..declarator - 1];
        let after_struct = before.last().is_some_and(|token| STRUCTURED.contains(&token.text));
        let has_type = before.iter().any(|token| !QUALIFIERS.contains(&token.text) && !token.is("*"));
        let is_name =
            last.kind == Kind::Word && !is_type_keyword(last.text) && !QUALIFIERS.contains(&last.text);
        if is_name && has_type && !after_struct {
            // Arrays are passed as pointers.
            let kept = if declarator < tokens.len() { tokens } else { before };
            (kept, Some(last))
        } else {
            (tokens, None)
        }
    }

    /// The words of a type and the number of its pointers.
    fn parts<'t>(&self, tokens: &[Token<'t>]) -> Result<(Vec<&'t str>, usize), String> {
        let (mut words, mut pointers) = (Vec::new(), 0);
        let declarator = tokens.iter().position(|token| token.is("["));
        for (index, token) in tokens.iter().enumerate() {
            match token.kind {
                // The name of an array, which `split_name` leaves in place.
                Kind::Word if declarator == Some(index + 1) && !words.is_empty() => {}
                Kind::Word if QUALIFIERS.contains(&token.text) => {}
                Kind::Word => words.push(token.text),
                Kind::Sign if token.is("*") => pointers += 1,
                Kind::Sign if token.is("[") => {
                    pointers += 1;
                    break;
                }
                _ => return Err(format!("`{}` is not a type that can be imported", spell(tokens))),
            }
        }
        Ok((words, pointers))
    }

    fn base(&self, words: &[&str]) -> Result<Base, String> {
        match words {
            [] => return Err("the type is missing".to_owned()),
            [kind, _] if STRUCTURED.contains(kind) => {
                let number = CType::Integer { bits: 32, signed: true };
                return Ok(if *kind == "enum" { Base::Known(number) } else { Base::Struct });
            }
            [name] => {
                if let Some(known) = self.names.get(*name).copied().or_else(|| named(name)) {
                    return Ok(Base::Known(known));
                }
            }
            _ => {}
        }
        composed(words).map(Base::Known).ok_or_else(|| match words {
            [name] => format!("unknown type `{name}`; `--type {name}=u32` says that it is a `u32`"),
            _ => format!("unknown type `{}`", words.join(" ")),
        })
    }
}

enum Base {
    Known(CType),
    Struct,
}

const QUALIFIERS: &[&str] =
    &["const", "volatile", "restrict", "__restrict", "register", "static", "inline", "extern", "in", "out"];
const STRUCTURED: &[&str] = &["struct", "union", "enum"];

fn is_type_keyword(word: &str) -> bool {
    const KEYWORDS: &[&str] =
        &["char", "short", "int", "long", "signed", "unsigned", "float", "double", "void", "bool", "_Bool"];
    KEYWORDS.contains(&word)
}

/// A type of several keywords, in any order.
fn composed(words: &[&str]) -> Option<CType> {
    let count = |word| words.iter().filter(|known| **known == word).count();
    if !words.iter().all(|word| is_type_keyword(word)) {
        return None;
    }
    let (signed, unsigned) = (count("signed"), count("unsigned"));
    if signed + unsigned > 1 || count("int") > 1 {
        return None;
    }
    let plain = words.len() - signed - unsigned;
    let integer = |bits, signed| Some(CType::Integer { bits, signed });
    let is_signed = unsigned == 0;
    match (count("char"), count("short"), count("long"), count("int")) {
        // Plain `char` is signed on x86, and text everywhere.
        (1, 0, 0, 0) if plain == 1 => integer(8, is_signed),
        (0, 1, 0, int) if plain == 1 + int => integer(16, is_signed),
        (0, 0, long @ 1..=2, int) if plain == long + int => integer(64, is_signed),
        (0, 0, 0, int) if plain == int && !words.is_empty() => integer(32, is_signed),
        _ => None,
    }
}

fn named(name: &str) -> Option<CType> {
    let of = |bits, signed| Some(CType::Integer { bits, signed });
    match name {
        "void" => Some(CType::Void),
        "bool" | "_Bool" | "boolean_t" => Some(CType::Bool),
        "float" => Some(CType::Float),
        "double" => Some(CType::Double),
        "string" => Some(CType::Text),
        "int8_t" => of(8, true),
        "uint8_t" | "uchar_t" | "u_char" | "u_int8_t" => of(8, false),
        "int16_t" => of(16, true),
        "uint16_t" | "ushort_t" | "u_short" | "u_int16_t" | "in_port_t" | "sa_family_t" => of(16, false),
        "int32_t" | "pid_t" | "clockid_t" | "key_t" | "id_t" => of(32, true),
        "uint32_t" | "uint_t" | "uint" | "u_int" | "u_int32_t" | "uid_t" | "gid_t" | "mode_t"
        | "socklen_t" | "in_addr_t" | "useconds_t" => of(32, false),
        "int64_t" | "ssize_t" | "time_t" | "off_t" | "off64_t" | "intptr_t" | "ptrdiff_t" | "intmax_t"
        | "longlong_t" | "hrtime_t" | "suseconds_t" => of(64, true),
        "uint64_t" | "size_t" | "ulong_t" | "u_long" | "ulong" | "u_int64_t" | "uintmax_t"
        | "ulonglong_t" | "dev_t" | "ino_t" | "pthread_t" => of(64, false),
        "uintptr_t" | "caddr_t" => Some(CType::Pointer),
        _ => None,
    }
}

/// Tokens as they are written, with one space wherever there are any.
pub fn spell(tokens: &[Token<'_>]) -> String {
    let mut text = String::new();
    let mut end = tokens.first().map_or(0, |first| first.offset);
    for token in tokens {
        if token.offset > end {
            text.push(' ');
        }
        text.push_str(token.text);
        end = token.end();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::lex::lex;
    use super::*;

    fn read(text: &str) -> (String, Option<String>) {
        let mut types = Types::default();
        types.define("Oid", CType::Integer { bits: 32, signed: false });
        let (source, _) = lex(text);
        let (kind, name) = types.split_name(&source.tokens);
        let kind = types.read(kind).map(|kind| kind.spelling().unwrap_or("void".to_owned()));
        (kind.unwrap_or_else(|error| error), name.map(|name| name.text.to_owned()))
    }

    #[test]
    fn types_and_names_are_understood() {
        for (text, kind, name) in [
            ("int", "i32", None),
            ("int x", "i32", Some("x")),
            ("unsigned int", "u32", None),
            ("unsigned x", "u32", Some("x")),
            ("long long unsigned int x", "u64", Some("x")),
            ("long", "i64", None),
            ("short int", "i16", None),
            ("char c", "i8", Some("c")),
            ("unsigned char", "u8", None),
            ("const char *key", "string", Some("key")),
            ("char *", "string", None),
            ("char const * const name", "string", Some("name")),
            ("unsigned char *bytes", "string", Some("bytes")),
            ("char key[16]", "string", Some("key")),
            ("char **argv", "u64 hex", Some("argv")),
            ("void*", "u64 hex", None),
            ("struct conn *c", "u64 hex", Some("c")),
            ("struct conn *", "u64 hex", None),
            ("enum mode m", "i32", Some("m")),
            ("uint64_t id", "u64", Some("id")),
            ("size_t", "u64", None),
            ("bool ok", "bool", Some("ok")),
            ("double", "f64", None),
            ("string s", "string", Some("s")),
            ("Oid o", "u32", Some("o")),
            ("void", "void", None),
        ] {
            assert_eq!(read(text), (kind.to_owned(), name.map(str::to_owned)), "{text}");
        }
    }

    #[test]
    fn what_is_not_a_type_is_refused() {
        for text in
            ["struct conn c", "blob_t b", "unsigned float", "int int", "int (*f)(void)", "*", "long double x"]
        {
            let (said, _) = read(text);
            assert!(
                said.contains(' ') && !said.starts_with('u') || said.starts_with("unknown"),
                "{text}: {said}"
            );
        }
    }
}
