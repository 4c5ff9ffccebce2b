//! Field classes to drafts of types.
//!
//! What has no counterpart in CTF 1.8 becomes a type with the same values:
//!
//! ```text
//! boolean                   an unsigned integer that is true or false
//! bit array, bit map        an unsigned integer
//! string with a length      an array of characters
//! BLOB                      an array of bytes
//! integer with mappings     an enumeration
//! ```

use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;

use super::super::draft::{Draft, DraftKind, DraftLength, DraftMember, Drafted, FieldLocation, Origin, Tag};
use super::super::draft::{alignment, integer_size};
use super::super::model::{ByteOrder, FloatType, IntegerType, Role};
use super::object::{Object, integer, missing};
use crate::{Base, Enumeration};

type Ranges = Vec<RangeInclusive<i128>>;

/// The number of member names that are shared between all classes.
const MAX_NAMES: usize = 1 << 16;

/// Reads field classes, and knows those that have names.
pub struct Classes {
    aliases: HashMap<String, Rc<Draft>>,
    /// The names of members, interned.
    names: HashSet<Arc<str>>,
}

impl Classes {
    pub fn new() -> Classes {
        Classes { aliases: HashMap::new(), names: HashSet::new() }
    }

    /// Gives a field class a name.
    pub fn name(&mut self, name: &str, class: &Value) -> Result<(), String> {
        let draft = self.draft(class)?;
        match self.aliases.insert(name.to_owned(), draft) {
            Some(_) => Err(format!("duplicate field class name `{name}`")),
            None => Ok(()),
        }
    }

    /// The type of a field class, or of one that has this name.
    pub fn draft(&mut self, class: &Value) -> Drafted {
        if let Some(name) = class.as_str() {
            let found = self.aliases.get(name).cloned();
            return found.ok_or_else(|| format!("no earlier field class has the name `{name}`"));
        }
        let class = Object::of(class)?;
        let kind = class.text("type")?.ok_or_else(|| missing("type"))?;
        self.kind(kind, class).map_err(|reason| format!("{kind}: {reason}")).and_then(Draft::new)
    }

    fn kind(&mut self, kind: &str, class: Object<'_>) -> Result<DraftKind, String> {
        Ok(match kind {
            "fixed-length-bit-array" => DraftKind::Integer(bit_array(class)?),
            "fixed-length-bit-map" => {
                labels(class, "flags")?.ok_or_else(|| missing("flags"))?;
                DraftKind::Integer(bit_array(class)?)
            }
            "fixed-length-boolean" => {
                DraftKind::Integer(IntegerType { is_boolean: true, ..bit_array(class)? })
            }
            // Release candidates of the specification had other types for integers with mappings.
            "fixed-length-unsigned-integer"
            | "fixed-length-signed-integer"
            | "fixed-length-unsigned-enumeration"
            | "fixed-length-signed-enumeration" => {
                let integer = labelled(kind, class, bit_array(class)?)?;
                if integer.labels.is_none() && kind.ends_with("-enumeration") {
                    return Err(missing("mappings"));
                }
                DraftKind::Integer(integer)
            }
            "fixed-length-floating-point-number" => DraftKind::Float(float(class)?),
            "variable-length-unsigned-integer"
            | "variable-length-signed-integer"
            | "variable-length-unsigned-enumeration"
            | "variable-length-signed-enumeration" => {
                let plain = IntegerType { size: None, ..IntegerType::unsigned(8, 8) };
                DraftKind::Integer(labelled(kind, class, plain)?)
            }
            "null-terminated-string" => {
                check_encoding(class)?;
                DraftKind::Text
            }
            "static-length-string" => {
                check_encoding(class)?;
                DraftKind::array(8, fixed_length(class)?, character()?)
            }
            "dynamic-length-string" => {
                check_encoding(class)?;
                DraftKind::array(8, dynamic_length(class)?, character()?)
            }
            "static-length-blob" => static_blob(class)?,
            "dynamic-length-blob" => DraftKind::array(8, dynamic_length(class)?, byte()?),
            "structure" => DraftKind::structure(align(class, "minimum-alignment")?, self.members(class)?),
            "static-length-array" => self.array(class, fixed_length(class)?)?,
            "dynamic-length-array" => self.array(class, dynamic_length(class)?)?,
            "optional" => DraftKind::Optional {
                selector: location(class, "selector-field-location")?,
                // Without ranges the selector is a boolean.
                values: match class.get("selector-field-ranges") {
                    Some(values) => ranges(values)?.into(),
                    None => Arc::new([1..=i128::from(u64::MAX)]),
                },
                content: self.draft(class.required("field-class")?)?,
            },
            "variant" => self.variant(class)?,
            _ => return Err("unknown type of field class".into()),
        })
    }

    fn array(&mut self, class: Object<'_>, length: DraftLength) -> Result<DraftKind, String> {
        let element = self.draft(class.required("element-field-class")?)?;
        Ok(DraftKind::array(align(class, "minimum-alignment")?, length, element))
    }

    fn members(&mut self, class: Object<'_>) -> Result<Vec<DraftMember>, String> {
        let mut members = Vec::new();
        let mut names = HashSet::new();
        for member in class.list("member-classes")?.into_iter().flatten() {
            let member = Object::of(member)?;
            let name = member.text("name")?.ok_or_else(|| missing("name"))?;
            if !names.insert(name) {
                return Err(format!("duplicate member name `{name}`"));
            }
            members.push(self.member(name, member)?);
        }
        Ok(members)
    }

    fn member(&mut self, name: &str, member: Object<'_>) -> Result<DraftMember, String> {
        let draft = member.required("field-class").and_then(|class| self.draft(class));
        let draft = draft.map_err(|reason| format!("`{name}`: {reason}"))?;
        let name = self.interned(name);
        Ok(DraftMember { label: name.clone(), name, draft })
    }

    fn interned(&mut self, name: &str) -> Arc<str> {
        if let Some(name) = self.names.get(name) {
            return name.clone();
        }
        let name: Arc<str> = name.into();
        if self.names.len() < MAX_NAMES {
            self.names.insert(name.clone());
        }
        name
    }

    fn variant(&mut self, class: Object<'_>) -> Result<DraftKind, String> {
        let selector = location(class, "selector-field-location")?;
        let mut members = Vec::new();
        let mut choices = Vec::new();
        for (position, option) in class.list("options")?.into_iter().flatten().enumerate() {
            let option = Object::of(option)?;
            // An option without a name is called by its position.
            let name = option.text("name")?.map_or_else(|| position.to_string(), str::to_owned);
            members.push(self.member(&name, option)?);
            let values = ranges(option.required("selector-field-ranges")?)?;
            choices.extend(values.into_iter().map(|values| (values, position)));
        }
        if members.is_empty() {
            return Err("it has no options".into());
        }
        if overlap(choices.iter().map(|(values, _)| values)) {
            return Err("a value of its selector selects two options".into());
        }
        Ok(DraftKind::Variant { tag: Tag::Number(selector, choices.into()), members: members.into() })
    }
}

fn byte() -> Drafted {
    Draft::new(DraftKind::Integer(IntegerType::unsigned(8, 8)))
}

fn character() -> Drafted {
    Draft::new(DraftKind::Integer(IntegerType { is_character: true, ..IntegerType::unsigned(8, 8) }))
}

fn static_blob(class: Object<'_>) -> Result<DraftKind, String> {
    let length = fixed_length(class)?;
    let names = role_names(class)?;
    let is_uuid = names.contains(&"metadata-stream-uuid");
    if is_uuid && !matches!(length, DraftLength::Fixed(16)) {
        return Err("a UUID has 16 bytes".into());
    }
    Ok(DraftKind::Array { align: 8, is_uuid, length, element: byte()? })
}

fn bit_array(class: Object<'_>) -> Result<IntegerType, String> {
    let size = integer_size(class.integer("length")?.ok_or_else(|| missing("length"))?)?;
    let base = match class.get("preferred-display-base").and_then(Value::as_u64) {
        Some(2) => Base::Binary,
        Some(8) => Base::Octal,
        Some(16) => Base::Hexadecimal,
        _ => Base::Decimal,
    };
    Ok(IntegerType { order: order(class)?, base, ..IntegerType::unsigned(size, align(class, "alignment")?) })
}

fn float(class: Object<'_>) -> Result<FloatType, String> {
    let size = match class.integer("length")?.ok_or_else(|| missing("length"))? {
        16 => 16,
        32 => 32,
        64 => 64,
        other => return Err(format!("a floating-point number of {other} bits is not supported")),
    };
    Ok(FloatType { size, align: align(class, "alignment")?, order: order(class)? })
}

fn order(class: Object<'_>) -> Result<ByteOrder, String> {
    let bytes = class.text("byte-order")?.ok_or_else(|| missing("byte-order"))?;
    let bits = class.text("bit-order")?;
    match (bytes, bits) {
        ("little-endian", None | Some("first-to-last")) => Ok(ByteOrder::Little),
        ("little-endian", Some("last-to-first")) => Ok(ByteOrder::LittleMirrored),
        ("big-endian", None | Some("last-to-first")) => Ok(ByteOrder::Big),
        ("big-endian", Some("first-to-last")) => Ok(ByteOrder::BigMirrored),
        ("little-endian" | "big-endian", Some(bits)) => Err(format!("invalid bit order `{bits}`")),
        (bytes, _) => Err(format!("invalid byte order `{bytes}`")),
    }
}

fn align(class: Object<'_>, name: &str) -> Result<u32, String> {
    alignment(class.integer(name)?.unwrap_or(1))
}

/// An integer with its sign, by the type of its class, its labels, and its roles, which only unsigned ones have.
fn labelled(kind: &str, class: Object<'_>, plain: IntegerType) -> Result<IntegerType, String> {
    let signed = kind.contains("-signed-");
    let roles = if signed { Vec::new() } else { roles(class)? };
    Ok(IntegerType { signed, roles, labels: labels(class, "mappings")?.map(Arc::new), ..plain })
}

/// The labels of a class's values, or of its bits, if it has any.
fn labels(class: Object<'_>, property: &str) -> Result<Option<Enumeration>, String> {
    let mut labels = Vec::new();
    for (name, values) in class.map(property)?.into_iter().flatten() {
        let values = ranges(values).map_err(|reason| format!("`{name}`: {reason}"))?;
        labels.extend(values.into_iter().map(|values| (name.clone(), values)));
    }
    Ok((!labels.is_empty()).then_some(Enumeration { labels }))
}

fn ranges(value: &Value) -> Result<Ranges, String> {
    let ranges = value
        .as_array()
        .filter(|ranges| !ranges.is_empty())
        .ok_or("ranges must be a list of at least one")?;
    let range = |range: &Value| {
        let [first, last] = &range.as_array()?[..] else { return None };
        let (first, last) = (integer(first)?, integer(last)?);
        (first <= last).then_some(first..=last)
    };
    let range = |value| range(value).ok_or_else(|| format!("invalid range `{}`", brief(value)));
    ranges.iter().map(range).collect()
}

/// The beginning of a value, for messages.
fn brief(value: &Value) -> String {
    value.to_string().chars().take(40).collect()
}

fn overlap<'r>(ranges: impl Iterator<Item = &'r RangeInclusive<i128>>) -> bool {
    let mut ranges: Vec<_> = ranges.collect();
    ranges.sort_by_key(|range| *range.start());
    ranges.windows(2).any(|pair| pair[1].start() <= pair[0].end())
}

/// The roles of a class's fields.
fn roles(class: Object<'_>) -> Result<Vec<Role>, String> {
    let mut roles = Vec::new();
    for name in role_names(class)? {
        let role = match name {
            "packet-magic-number" => Role::Magic,
            "data-stream-class-id" => Role::StreamClassId,
            "data-stream-id" => Role::StreamId,
            "default-clock-timestamp" => Role::Timestamp,
            "packet-end-default-clock-timestamp" => Role::PacketEnd,
            "packet-content-length" => Role::ContentSize,
            "packet-total-length" => Role::PacketSize,
            "packet-sequence-number" => Role::Sequence,
            "discarded-event-record-counter-snapshot" => Role::Discarded,
            "event-record-class-id" => Role::EventClassId,
            _ => return Err(format!("invalid role `{name}` of an integer")),
        };
        if !roles.contains(&role) {
            roles.push(role);
        }
    }
    Ok(roles)
}

fn role_names(class: Object<'_>) -> Result<Vec<&str>, String> {
    let names = class.list("roles")?.into_iter().flatten();
    names.map(|name| name.as_str().ok_or("`roles` must hold strings".into())).collect()
}

fn check_encoding(class: Object<'_>) -> Result<(), String> {
    match class.text("encoding")? {
        None | Some("utf-8") => Ok(()),
        Some(other) => Err(format!("text in `{other}` is not supported, only in `utf-8`")),
    }
}

fn fixed_length(class: Object<'_>) -> Result<DraftLength, String> {
    class.unsigned("length")?.map(DraftLength::Fixed).ok_or_else(|| missing("length"))
}

fn dynamic_length(class: Object<'_>) -> Result<DraftLength, String> {
    location(class, "length-field-location").map(DraftLength::At)
}

/// A field location. Release candidates of the specification wrote `["event-record-payload", "length"]`.
fn location(class: Object<'_>, property: &str) -> Result<FieldLocation, String> {
    let wrong = |reason: String| format!("`{property}`: {reason}");
    let (origin, path) = match class.required(property)? {
        Value::Array(whole) => match whole.split_first() {
            Some((Value::String(origin), path)) => (Some(&**origin), path),
            _ => return Err(wrong("the path must begin with an origin".into())),
        },
        value => {
            let location = Object::of(value).map_err(wrong)?;
            let path = location.list("path").map_err(wrong)?.ok_or_else(|| wrong(missing("path")))?;
            (location.text("origin").map_err(wrong)?, &path[..])
        }
    };
    let origin = origin.map(|name| {
        let found = Origin::ALL.into_iter().find(|origin| origin.in_json() == name);
        found.ok_or_else(|| wrong(format!("invalid origin `{name}`")))
    });
    let (mut up, mut down) = (0, Vec::new());
    for part in path {
        match part {
            Value::String(name) => down.push(name.clone()),
            // From a member back to the structure that it is in.
            Value::Null if down.pop().is_some() => {}
            Value::Null => up += 1,
            _ => return Err(wrong("a path is made of names and nulls".into())),
        }
    }
    let origin = origin.transpose()?;
    if down.is_empty() || path.last() == Some(&Value::Null) || (origin.is_some() && up > 0) {
        return Err(wrong("the path does not lead to a field".into()));
    }
    Ok(FieldLocation { origin, up, down })
}
