//! A draft as the text of a catalog.

use std::fmt::{self, Write};

use super::draft::*;

/// Writes a catalog; `origin` is the file that it was imported from.
pub fn write(name: &str, origin: &str, providers: &[DraftProvider]) -> String {
    let mut text = String::new();
    catalog(&mut text, name, origin, providers).expect("a String takes all that is written");
    text
}

fn catalog(out: &mut String, name: &str, origin: &str, providers: &[DraftProvider]) -> fmt::Result {
    writeln!(out, "[catalog]\nname = {}\nversion = 1", quoted(name))?;
    writeln!(out, "doc = {}", quoted(&format!("Imported from {origin}.")))?;
    for provider in providers {
        writeln!(out, "\n[provider.{}]\ndoc = {}", provider.name, doc(&provider.doc))?;
        for enumeration in &provider.enums {
            write_enumeration(out, &provider.name, enumeration)?;
        }
        for class in &provider.classes {
            writeln!(out, "\n[provider.{}.class.{}]", provider.name, class.name)?;
            if !class.doc.is_empty() {
                writeln!(out, "doc = {}", quoted(&class.doc))?;
            }
            fields(out, &class.fields)?;
        }
        for event in &provider.events {
            write_event(out, &provider.name, event)?;
        }
    }
    Ok(())
}

fn write_enumeration(out: &mut String, provider: &str, enumeration: &DraftEnumeration) -> fmt::Result {
    writeln!(out, "\n[provider.{provider}.enum.{}]", enumeration.name)?;
    writeln!(out, "doc = {}\ntype = {}", doc(&enumeration.doc), quoted(&enumeration.container))?;
    writeln!(out, "labels = [")?;
    for DraftLabel { name, doc, first, last } in &enumeration.labels {
        write!(out, "  {{ name = {}, ", quoted(name))?;
        if first == last {
            write!(out, "value = {first}")?;
        } else {
            write!(out, "values = \"{first}..={last}\"")?;
        }
        if !doc.is_empty() {
            write!(out, ", doc = {}", quoted(doc))?;
        }
        writeln!(out, " }},")?;
    }
    writeln!(out, "]")
}

fn write_event(out: &mut String, provider: &str, event: &DraftEvent) -> fmt::Result {
    writeln!(out, "\n[provider.{provider}.event.{}]\ndoc = {}", event.name, doc(&event.doc))?;
    if let Some(class) = &event.class {
        writeln!(out, "class = {}", quoted(class))?;
    }
    if let Some(duration) = &event.duration {
        writeln!(out, "duration = {}", quoted(duration))?;
    }
    if event.entry {
        writeln!(out, "entry = true")?;
    }
    if let Some(start) = &event.started_by {
        writeln!(out, "started-by = {}", quoted(&format!("{provider}:{start}")))?;
    }
    if let Some(level) = event.log_level {
        writeln!(out, "log-level = {}", quoted(level))?;
    }
    if let Some(uri) = &event.model_uri {
        writeln!(out, "model-uri = {}", quoted(uri))?;
    }
    fields(out, &event.fields)
}

fn fields(out: &mut String, fields: &[DraftField]) -> fmt::Result {
    if fields.is_empty() {
        return Ok(());
    }
    writeln!(out, "fields = [")?;
    for field in fields {
        write!(out, "  {{ name = {}, ", quoted(&field.name))?;
        if let Some(argument) = &field.argument {
            write!(out, "arg = {}, ", quoted(argument))?;
        }
        write!(out, "type = {}, ", quoted(&field.kind))?;
        if let Some(length) = &field.length {
            write!(out, "length = {}, ", quoted(length))?;
        }
        if let Some(unit) = field.unit {
            write!(out, "unit = {}, ", quoted(unit))?;
        }
        if field.unrecorded {
            write!(out, "record = false, ")?;
        }
        writeln!(out, "doc = {} }},", doc(&field.doc))?;
    }
    writeln!(out, "]")
}

fn doc(text: &str) -> String {
    quoted(if text.is_empty() { UNDOCUMENTED } else { text })
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            _ if letter.is_control() => _ = write!(quoted, "\\u{:04X}", u32::from(letter)),
            _ => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}
