//! `LTTNG_UST_TRACEPOINT_ENUM`, and the fields that have such a type.

use super::super::c_type::spell;
use super::super::calls::{Call, Range};
use super::super::draft::{DraftEnumeration, DraftLabel};
use super::{Header, takes};

impl<'t> Header<'_, '_, 't> {
    /// Keeps an enum until a field uses it.
    pub(super) fn enumeration(&mut self, call: &Call<'t>) -> Result<(), String> {
        let documentation = self.comments.before(call.name.offset, call.name.line);
        let [provider, name, values] = &call.arguments[..] else {
            return Err(takes(call, "a provider, a name and values"));
        };
        let (provider, name) = (self.name(provider)?, self.name(name)?);
        let values = self.wrapped(values, &["LTTNG_UST_TP_ENUM_VALUES", "TP_ENUM_VALUES"])?;
        let (mut labels, mut next, known) = (Vec::new(), 0, self.problems.len());
        self.each_call(values, |header, value| {
            let before = header.comments.before(value.name.offset, value.name.line);
            let mut label = header.label(value, next)?;
            label.doc = before.or(header.on_line_of(value)).text;
            next = label.last + 1;
            labels.push(label);
            Ok(())
        });
        if self.problems.len() > known {
            return Ok(());
        }
        let line = call.name.line;
        // Its width comes from the fields that use it.
        let enumeration = DraftEnumeration {
            name: name.clone(),
            line,
            doc: documentation.text,
            container: String::new(),
            labels,
        };
        if self.enums.insert((provider, name.clone()), enumeration).is_some() {
            return Err(format!("duplicate enum `{name}`"));
        }
        Ok(())
    }

    fn label(&self, call: &Call<'t>, next: i128) -> Result<DraftLabel, String> {
        let full = call.name.text;
        let kind = full.strip_prefix("lttng_ust_field_enum_").or_else(|| full.strip_prefix("ctf_enum_"));
        let number = |range: &Range| {
            let tokens = self.reader.calls.slice(range);
            self.reader
                .constants
                .number(tokens)
                .ok_or_else(|| format!("`{0}` is not a number; `-D {0}=1` says that it is 1", spell(tokens)))
        };
        let (name, first, last) = match (kind, &call.arguments[..]) {
            (Some("value"), [name, value]) => (name, number(value)?, number(value)?),
            (Some("range"), [name, first, last]) => (name, number(first)?, number(last)?),
            (Some("auto"), [name]) => (name, next, next),
            (Some("value" | "range" | "auto"), arguments) => {
                return Err(format!("`{full}` does not take {} arguments", arguments.len()));
            }
            _ => return Err(format!("expected `lttng_ust_field_enum_value(…)`, found `{full}`")),
        };
        Ok(DraftLabel { name: self.text(name)?, doc: String::new(), first, last })
    }

    /// The type of a field of an enum, which is added to the provider.
    pub(super) fn enum_type(
        &mut self,
        event: &Call<'t>,
        provider: &str,
        declared: &str,
        name: &str,
        container: &str,
    ) -> Result<String, String> {
        let key = (declared.to_owned(), name.to_owned());
        let Some(enumeration) = self.enums.get(&key) else {
            return Err(format!("no enum `{name}` of `{declared}` before this field"));
        };
        let mut enumeration = enumeration.clone();
        self.used.insert(key);
        container.clone_into(&mut enumeration.container);
        let known = self.provider(provider, event);
        let of_other_width = |other: &DraftEnumeration| other.name == name && other.container != container;
        if known.enums.iter().any(of_other_width) {
            // A catalog's enum has one width, and LTTng's has that of each field.
            enumeration.name = format!("{name}_{container}");
        }
        let spelling = format!("enum {}", enumeration.name);
        if !known.enums.iter().any(|other| other.name == enumeration.name) {
            known.enums.push(enumeration);
        }
        Ok(spelling)
    }
}
