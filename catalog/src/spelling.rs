//! How catalogs spell field types: parsed and printed here.

use std::fmt;

use crate::model::{Base, ByteOrder, FieldType, Integer, Width};
use crate::suggest::did_you_mean;

const EVERY_TYPE: &str = "`u8` to `u64` and `i8` to `i64` (each also `hex`, `network` or \
     `network hex`), `f32`, `f64`, `bool`, `string`, `enum NAME`, `text`, `bytes`, `[char; 16]`, \
     `[u32; 4]`, `[u32]` or `stack`";

/// The length of text and sequences unless the catalog says otherwise.
pub(crate) const DEFAULT_LENGTH: Width = Width::W32;

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
    Ok(match spelling {
        "f32" => FieldType::Float,
        "f64" => FieldType::Double,
        "bool" => FieldType::Bool,
        "string" => FieldType::String,
        "text" => FieldType::Text { length: DEFAULT_LENGTH },
        "bytes" => FieldType::Sequence { element: Integer::BYTE, length: DEFAULT_LENGTH },
        "stack" => FieldType::Stack,
        "enum" => return Err("`enum` needs a name; write `enum NAME`".to_owned()),
        _ => FieldType::Integer(read_integer(spelling)?),
    })
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
    let others = ["f32", "f64", "bool", "string", "text", "bytes", "stack"];
    if others.contains(&spelling) || spelling.starts_with("enum ") || spelling.starts_with('[') {
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
    let (signed, width) = match name {
        "u8" => (false, Width::W8),
        "u16" => (false, Width::W16),
        "u32" => (false, Width::W32),
        "u64" => (false, Width::W64),
        "i8" => (true, Width::W8),
        "i16" => (true, Width::W16),
        "i32" => (true, Width::W32),
        "i64" => (true, Width::W64),
        _ => return Err(unknown_type(name)),
    };
    let mut integer = Integer::new(width, signed);
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
    let known = [
        "u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "f32", "f64", "bool", "string", "text",
        "bytes", "stack",
    ];
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
        None => did_you_mean(name, known),
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
            FieldType::Float => f.write_str("f32"),
            FieldType::Double => f.write_str("f64"),
            FieldType::Bool => f.write_str("bool"),
            FieldType::Enum(name) => write!(f, "enum {name}"),
            FieldType::String => f.write_str("string"),
            FieldType::TextArray(length) => write!(f, "[char; {length}]"),
            FieldType::Text { .. } => f.write_str("text"),
            FieldType::Array { element, length } => write!(f, "[{element}; {length}]"),
            FieldType::Sequence { element, .. } if *element == Integer::BYTE => f.write_str("bytes"),
            FieldType::Sequence { element, .. } => write!(f, "[{element}]"),
            FieldType::Stack => f.write_str("stack"),
        }
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
        let spellings = [
            "u8",
            "u16 hex",
            "u32 network",
            "u64 network hex",
            "i8",
            "i16",
            "i32",
            "i64 hex",
            "f32",
            "f64",
            "bool",
            "string",
            "enum protocol",
            "text",
            "bytes",
            "[char; 16]",
            "[u32; 4]",
            "[i16 network hex; 2]",
            "[u32]",
            "[u64 hex]",
        ];
        for spelling in spellings {
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
