//! Values as Babeltrace writes them.

use ctf_reader::{Base, Integer, List, Value};

use crate::text::escape;

/// Appends a value; integers in it are written in this base.
pub fn write(value: &Value<'_>, base: Base, out: &mut Vec<u8>) {
    match value {
        Value::Unsigned(number) => integer(Integer::Unsigned(*number), base, out),
        Value::Signed(number) => integer(Integer::Signed(*number), base, out),
        Value::Float(number) => out.extend(number.to_string().bytes()),
        Value::Bool(truth) => out.extend_from_slice(if *truth { b"true" } else { b"false" }),
        Value::Text(text) => quoted(text, out),
        Value::Enum(number, labels) => {
            out.extend_from_slice(b"( ");
            match labels.label(*number) {
                Some(label) => quoted(label.as_bytes(), out),
                None => out.extend_from_slice(b"<unknown>"),
            }
            out.extend_from_slice(b" : container = ");
            integer(*number, base, out);
            out.extend_from_slice(b" )");
        }
        Value::List(list) => self::list(list, base, out),
        Value::Struct(members) => {
            out.push(b'{');
            for (position, (name, member)) in members.iter().enumerate() {
                out.extend_from_slice(if position == 0 { b" " } else { b", " });
                out.extend(escape::text(name).bytes());
                out.extend_from_slice(b" = ");
                write(member, base, out);
            }
            out.extend_from_slice(b" }");
        }
    }
}

fn list(List { elements, length }: &List<'_>, base: Base, out: &mut Vec<u8>) {
    out.push(b'[');
    for (position, element) in elements.iter().enumerate() {
        out.extend_from_slice(if position == 0 { b" [" } else { b", [" });
        unsigned(position as u64, out);
        out.extend_from_slice(b"] = ");
        write(element, base, out);
    }
    let more = length - elements.len() as u64;
    if more > 0 {
        out.extend(format!(", … {more} more").bytes());
    }
    out.extend_from_slice(b" ]");
}

fn integer(number: Integer, base: Base, out: &mut Vec<u8>) {
    match (base, number) {
        (Base::Decimal, Integer::Unsigned(number)) => unsigned(number, out),
        (Base::Decimal, Integer::Signed(number)) => signed(number, out),
        (base, number) => {
            let bits = match number {
                Integer::Unsigned(number) => number,
                Integer::Signed(number) => number as u64,
            };
            let text = match base {
                Base::Binary => format!("{bits:#b}"),
                Base::Octal => format!("0{bits:o}"),
                _ => format!("0x{bits:X}"),
            };
            out.extend(text.bytes());
        }
    }
}

/// Appends a number in decimal.
pub fn unsigned(number: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Appends a number in decimal.
pub fn signed(number: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Appends a text in quotes, with nothing in it that a terminal acts on.
fn quoted(text: &[u8], out: &mut Vec<u8>) {
    let is_plain = |&byte: &u8| (0x20..0x7F).contains(&byte) && byte != b'"' && byte != b'\\';
    out.push(b'"');
    if text.iter().all(is_plain) {
        out.extend_from_slice(text);
    } else {
        out.extend(escape::bytes(text).replace('"', "\\\"").bytes());
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use ctf_reader::Enumeration;

    use super::*;

    fn written(value: &Value<'_>, base: Base) -> String {
        let mut out = Vec::new();
        write(value, base, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn values_are_written_as_babeltrace_writes_them() {
        let labels = Enumeration { labels: vec![("RED".into(), 1..=1)] };
        let cases = [
            (Value::Unsigned(0), "0"),
            (Value::Unsigned(u64::MAX), "18446744073709551615"),
            (Value::Signed(i64::MIN), "-9223372036854775808"),
            (Value::Text(b"a b"), "\"a b\""),
            (Value::Text(b"\x1b\"\n"), "\"\\u{1b}\\\"\\n\""),
            (Value::Enum(Integer::Signed(1), &labels), "( \"RED\" : container = 1 )"),
            (Value::Enum(Integer::Signed(-1), &labels), "( <unknown> : container = -1 )"),
            (Value::List(List::default()), "[ ]"),
            (Value::List(vec![Value::Unsigned(7), Value::Signed(-1)].into()), "[ [0] = 7, [1] = -1 ]"),
            (Value::List(List { elements: vec![Value::Unsigned(7)], length: 3 }), "[ [0] = 7, … 2 more ]"),
            (Value::Struct(vec![("x", Value::Bool(true))]), "{ x = true }"),
        ];
        for (value, expected) in cases {
            assert_eq!(written(&value, Base::Decimal), expected);
        }
    }

    #[test]
    fn integers_are_written_in_the_base_that_the_metadata_asks_for() {
        assert_eq!(written(&Value::Unsigned(255), Base::Hexadecimal), "0xFF");
        assert_eq!(written(&Value::Unsigned(8), Base::Octal), "010");
        assert_eq!(written(&Value::List(vec![Value::Unsigned(5)].into()), Base::Binary), "[ [0] = 0b101 ]");
    }
}
