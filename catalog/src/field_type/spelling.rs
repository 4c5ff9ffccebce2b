//! How catalogs spell field types: parsed and printed here.

use std::fmt;

use super::number::{Base, ByteOrder, Integer, Width};
use super::{DEFAULT_LENGTH, EVERY_TYPE, FieldType, WORDS};
use crate::suggest::did_you_mean;

/// Reads a type; `length` is the field's `length`.
pub(crate) fn read_type(spelling: &str, length: Option<Width>) -> Result<FieldType, String> {
    let kind = read_type_of_default_length(spelling.trim())?;
    Ok(match (kind, length) {
        (FieldType::Text { .. }, Some(length)) => FieldType::Text { length },
        (FieldType::Sequence { element, .. }, Some(length)) => FieldType::Sequence { element, length },
        (kind, Some(_)) => {
            return Err(format!(
                "`{kind}` has no recorded length; remove `length`, or use `text`, `bytes` or a \
                 sequence such as `[u32]`"
            ));
        }
        (kind, None) => kind,
    })
}

fn read_type_of_default_length(spelling: &str) -> Result<FieldType, String> {
    if let Some(name) = spelling.strip_prefix("enum ") {
        return Ok(FieldType::Enum(name.trim().to_owned()));
    }
    if let Some(inner) = spelling.strip_prefix('[') {
        let inner = inner
            .strip_suffix(']')
            .ok_or_else(|| format!("invalid type `{spelling}`: the closing `]` is missing"))?;
        return read_list(inner);
    }
    match WORDS.iter().find(|(word, _)| *word == spelling) {
        Some((_, kind)) => Ok(kind.clone()),
        None if spelling == "enum" => Err("`enum` needs a name; write `enum NAME`".to_owned()),
        None => Ok(FieldType::Integer(read_integer(spelling)?)),
    }
}

/// Reads what is between the brackets of an array or a sequence.
fn read_list(inner: &str) -> Result<FieldType, String> {
    let Some((element, length)) = inner.split_once(';') else {
        if inner.trim() == "char" {
            return Err("invalid type: text of varying length is spelled `text`".to_owned());
        }
        return Ok(FieldType::Sequence { element: read_element(inner.trim())?, length: DEFAULT_LENGTH });
    };
    let length = length.trim();
    let length: u32 = length
        .parse()
        .map_err(|_| format!("invalid type: the length of an array is a number, not `{length}`"))?;
    if element.trim() == "char" {
        return Ok(FieldType::TextArray(length));
    }
    Ok(FieldType::Array { element: read_element(element.trim())?, length })
}

fn read_element(spelling: &str) -> Result<Integer, String> {
    let is_other =
        |(word, kind): &(&str, FieldType)| *word == spelling && !matches!(kind, FieldType::Integer(_));
    if WORDS.iter().any(is_other) || spelling.starts_with("enum ") || spelling.starts_with('[') {
        return Err(format!(
            "LTTng-UST has no arrays or sequences of `{spelling}`; their elements are integers \
             such as `u32`, or `char`"
        ));
    }
    read_integer(spelling)
}

/// Reads an integer type such as `u16 network hex`.
pub(crate) fn read_integer(spelling: &str) -> Result<Integer, String> {
    let mut words = spelling.split_whitespace();
    let name = words.next().unwrap_or_default();
    let mut integer = match WORDS.iter().find(|(word, _)| *word == name) {
        Some((_, FieldType::Integer(integer))) => *integer,
        _ => return Err(unknown_type(name)),
    };
    for word in words {
        match word {
            "hex" if integer.base == Base::Decimal => integer.base = Base::Hexadecimal,
            "network" if integer.order == ByteOrder::Native => integer.order = ByteOrder::Network,
            "hex" | "network" => return Err(format!("invalid type `{spelling}`: duplicate `{word}`")),
            _ => {
                return Err(format!(
                    "invalid type `{spelling}`: `{word}` does not qualify an integer; `hex`, `network` and \
                     `network hex` do{}",
                    did_you_mean(word, ["hex", "network"])
                ));
            }
        }
    }
    Ok(integer)
}

fn unknown_type(name: &str) -> String {
    let of_other_languages = match name.trim_end_matches("_t") {
        "uint8" | "uchar" => Some("u8"),
        "uint16" | "ushort" => Some("u16"),
        "uint32" | "uint" | "unsigned" => Some("u32"),
        "uint64" | "size" | "usize" | "ulong" => Some("u64"),
        "int8" => Some("i8"),
        "int16" | "short" => Some("i16"),
        "int32" | "int" | "integer" => Some("i32"),
        "int64" | "ssize" | "isize" | "long" => Some("i64"),
        "float" => Some("f32"),
        "double" => Some("f64"),
        "boolean" => Some("bool"),
        "str" | "char*" => Some("string"),
        _ => None,
    };
    let suggestion = match of_other_languages {
        Some(known) => format!("; did you mean `{known}`?"),
        None => did_you_mean(name, WORDS.iter().map(|(word, _)| *word)),
    };
    if suggestion.is_empty() {
        format!("unknown type `{name}`; the types are {EVERY_TYPE}")
    } else {
        format!("unknown type `{name}`{suggestion}")
    }
}

impl fmt::Display for FieldType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FieldType::Integer(integer) => integer.fmt(f),
            FieldType::Enum(name) => write!(f, "enum {name}"),
            FieldType::TextArray(length) => write!(f, "[char; {length}]"),
            FieldType::Array { element, length } => write!(f, "[{element}; {length}]"),
            FieldType::Sequence { element, .. } if *element != Integer::BYTE => write!(f, "[{element}]"),
            _ => {
                let same = |(_, kind): &&(&str, FieldType)| is_same_but_for_the_length(kind, self);
                f.write_str(WORDS.iter().find(same).map_or("", |(word, _)| word))
            }
        }
    }
}

fn is_same_but_for_the_length(one: &FieldType, other: &FieldType) -> bool {
    match (one, other) {
        (FieldType::Text { .. }, FieldType::Text { .. }) => true,
        (FieldType::Sequence { element: one, .. }, FieldType::Sequence { element: other, .. }) => {
            one == other
        }
        (one, other) => one == other,
    }
}

impl fmt::Display for Integer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.signed { 'i' } else { 'u' };
        write!(f, "{sign}{}", self.width.bits())?;
        if self.order == ByteOrder::Network {
            f.write_str(" network")?;
        }
        if self.base == Base::Hexadecimal {
            f.write_str(" hex")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_prints_as_it_is_read() {
        let spellings = "u8, u16 hex, u32 network, u64 network hex, i8, i16, i32, i64 hex, f32, f64, bool, \
             string, enum protocol, text, bytes, [char; 16], [u32; 4], [i16 network hex; 2], [u32], [u64 hex]";
        for spelling in spellings.split(", ") {
            let kind = read_type(spelling, None).unwrap();
            assert_eq!(kind.to_string(), spelling);
        }
    }

    #[test]
    fn bytes_are_a_sequence_of_hexadecimal_u8() {
        assert_eq!(read_type("bytes", None), read_type("[u8 hex]", None));
    }

    #[test]
    fn spaces_are_free() {
        assert_eq!(read_type("[u32 hex;4]", None), read_type(" [ u32  hex ; 4 ] ", None));
    }
}
