//! The field macros of LTTng-UST, `ctf_…` in old and `lttng_ust_field_…` in new headers.

use super::c_type::{CType, Types, spell};
use super::calls::{Call, Calls, Range};
use super::draft::DraftField;
use super::lex::{Kind, Token};
use super::number::Constants;

/// The meaning of a field macro.
pub enum Read {
    Field(DraftField),
    /// A field of an enum, which is looked up by its provider and its name.
    Enum {
        field: DraftField,
        provider: String,
        name: String,
        container: String,
    },
    /// `ctf_unused` records nothing.
    Nothing,
}

/// The context in which field macros are read.
pub struct Reader<'r, 'a, 't> {
    pub calls: &'r Calls<'a, 't>,
    pub types: &'r Types,
    pub constants: &'r Constants<'t>,
}

impl<'t> Reader<'_, '_, 't> {
    /// Reads the call of a field macro.
    pub fn read(&self, call: &Call<'t>) -> Result<Read, String> {
        let full = call.name.text;
        let Some(name) = full.strip_prefix("lttng_ust_field_").or_else(|| full.strip_prefix("ctf_")) else {
            return Err(format!("expected a field such as `lttng_ust_field_integer(…)`, found `{full}`"));
        };
        let (name, unrecorded) = name.strip_suffix("_nowrite").map_or((name, false), |name| (name, true));
        let (name, base, network) = shown(name);
        let suffix =
            format!("{}{}", if network { " network" } else { "" }, if base == 16 { " hex" } else { "" });
        let mut field = match (name, &call.arguments[..]) {
            ("unused", _) => return Ok(Read::Nothing),
            ("integer", [kind, name, value]) => {
                self.field(call, name, value, self.number_or_bool(kind, &suffix)?)?
            }
            ("float", [kind, name, value]) => self.field(call, name, value, self.float(kind)?)?,
            ("string", [name, value]) => self.field(call, name, value, "string".to_owned())?,
            ("array", [kind, name, value, length]) => {
                let kind = format!("[{}{suffix}; {}]", self.element(kind)?, self.length(length)?);
                self.field(call, name, value, kind)?
            }
            ("array_text", [_, name, value, length]) => {
                self.field(call, name, value, format!("[char; {}]", self.length(length)?))?
            }
            ("sequence", [kind, name, value, length, _]) => {
                let kind = match format!("{}{suffix}", self.element(kind)?) {
                    bytes if bytes == "u8 hex" => "bytes".to_owned(),
                    element => format!("[{element}]"),
                };
                let length = self.length_type(length)?;
                DraftField { length, ..self.field(call, name, value, kind)? }
            }
            ("sequence_text", [_, name, value, length, _]) => {
                let length = self.length_type(length)?;
                DraftField { length, ..self.field(call, name, value, "text".to_owned())? }
            }
            ("fixed_length_blob", [name, value, length, _media_type]) => {
                self.field(call, name, value, format!("[u8 hex; {}]", self.length(length)?))?
            }
            ("variable_length_blob", [name, value, length, _, _media_type]) => {
                let length = self.length_type(length)?;
                DraftField { length, ..self.field(call, name, value, "bytes".to_owned())? }
            }
            ("enum", [provider, enumeration, kind, name, value]) => {
                let mut field = self.field(call, name, value, String::new())?;
                field.unrecorded = unrecorded;
                return Ok(Read::Enum {
                    field,
                    provider: spell(self.calls.slice(provider)),
                    name: spell(self.calls.slice(enumeration)),
                    container: self.element(kind)?,
                });
            }
            (
                known @ ("integer" | "float" | "string" | "array" | "array_text" | "sequence"
                | "sequence_text" | "enum"),
                found,
            ) => {
                let takes = match known {
                    "string" => 2,
                    "integer" | "float" => 3,
                    "array" | "array_text" => 4,
                    _ => 5,
                };
                return Err(format!("`{full}` takes {takes} arguments, not {}", found.len()));
            }
            _ => {
                let prefixes = ["lttng_ust_field_", "ctf_"].iter();
                let known = prefixes.flat_map(|prefix| MACROS.map(|name| format!("{prefix}{name}")));
                let known: Vec<String> = known.collect();
                let near = lttng_catalog::did_you_mean(full, known.iter().map(String::as_str));
                return Err(format!("unknown field macro `{full}`{near}"));
            }
        };
        field.unrecorded = unrecorded;
        if unrecorded && name == "fixed_length_blob" {
            // What is not recorded has no base.
            field.kind = field.kind.replace(" hex", "");
        }
        Ok(Read::Field(field))
    }

    fn field(
        &self,
        call: &Call<'t>,
        name: &Range,
        value: &Range,
        kind: String,
    ) -> Result<DraftField, String> {
        let [name] = self.calls.slice(name) else {
            return Err(format!(
                "expected a name in `{}(…)`, found `{}`",
                call.name.text,
                spell(self.calls.slice(name))
            ));
        };
        if name.kind != Kind::Word {
            return Err(format!("`{}` is not a name", name.text));
        }
        let argument = argument(self.calls.slice(value)).filter(|argument| *argument != name.text);
        Ok(DraftField {
            name: name.text.to_owned(),
            line: call.name.line,
            kind,
            argument: argument.map(str::to_owned),
            ..DraftField::default()
        })
    }

    fn number_or_bool(&self, kind: &Range, suffix: &str) -> Result<String, String> {
        match self.types.read(self.calls.slice(kind))? {
            CType::Bool if suffix.is_empty() => Ok("bool".to_owned()),
            CType::Pointer | CType::Text => Ok("u64 hex".to_owned()),
            _ => Ok(self.element(kind)? + suffix),
        }
    }

    fn float(&self, kind: &Range) -> Result<String, String> {
        match self.types.read(self.calls.slice(kind))? {
            CType::Float => Ok("f32".to_owned()),
            CType::Double => Ok("f64".to_owned()),
            _ => Err(format!("`{}` is neither `float` nor `double`", spell(self.calls.slice(kind)))),
        }
    }

    /// An integer type as catalogs spell it.
    fn element(&self, kind: &Range) -> Result<String, String> {
        match self.types.read(self.calls.slice(kind))? {
            CType::Bool => Ok("u8".to_owned()),
            CType::Pointer => Ok("u64".to_owned()),
            integer @ CType::Integer { .. } => Ok(integer.spelling().unwrap_or_default()),
            _ => Err(format!("`{}` is not an integer type", spell(self.calls.slice(kind)))),
        }
    }

    fn length(&self, length: &Range) -> Result<u32, String> {
        let tokens = self.calls.slice(length);
        let length = self.constants.number(tokens).and_then(|number| u32::try_from(number).ok());
        length.ok_or_else(|| format!("the length of an array is a number, not `{}`", spell(tokens)))
    }

    /// The type of a length, if it is not the usual one.
    fn length_type(&self, kind: &Range) -> Result<Option<String>, String> {
        let kind = self.element(kind)?.replacen('i', "u", 1);
        Ok(Some(kind).filter(|kind| kind != "u32"))
    }
}

/// The macros without their prefix, for suggestions.
const MACROS: [&str; 10] = [
    "integer",
    "integer_hex",
    "integer_network",
    "float",
    "string",
    "array",
    "array_text",
    "sequence",
    "sequence_text",
    "enum",
];

/// The macro's name without its base and byte order.
fn shown(name: &str) -> (&str, u8, bool) {
    let (name, base) = name.strip_suffix("_hex").map_or((name, 10), |name| (name, 16));
    name.strip_suffix("_network").map_or((name, base, false), |name| (name, base, true))
}

/// The argument, if the value is nothing else, perhaps in parentheses.
fn argument<'t>(value: &[Token<'t>]) -> Option<&'t str> {
    match value {
        [open, inner @ .., close] if open.is("(") && close.is(")") => argument(inner),
        [word] if word.kind == Kind::Word => Some(word.text),
        _ => None,
    }
}
