//! The catalog as a document for people.

use std::fmt::Write;

use crate::field_type::{DEFAULT_LENGTH, FieldType, Integer};
use crate::model::*;
use crate::vocabulary::{LogLevel, Measure, Unit};

const LEGEND: &str = "A duration is an interval that ends at the event, unless it is said to be a sum. The \
     wall clock can step, and a duration across a step is implausible.";

/// Writes a catalog as Markdown: a table of every provider's events, then every field and enum.
///
/// ```
/// let text = lttng_catalog::markdown(&lttng_catalog::valkey());
/// assert!(text.contains("## `valkey_commands`"));
/// ```
pub fn markdown(catalog: &Catalog) -> String {
    let mut text = String::new();
    write_catalog(&mut text, catalog).expect("writing to a String cannot fail");
    text
}

fn write_catalog(out: &mut String, catalog: &Catalog) -> std::fmt::Result {
    writeln!(out, "# Events of `{}`\n", catalog.name)?;
    writeln!(out, "{}\n", line(&catalog.doc))?;
    writeln!(out, "Version {} of the catalog. {LEGEND}\n", catalog.version)?;
    writeln!(out, "| provider | events | about |")?;
    writeln!(out, "|---|---|---|")?;
    for Provider { name, events, doc, .. } in &catalog.providers {
        writeln!(out, "| [`{name}`](#{name}) | {} | {} |", events.len(), cell(doc))?;
    }
    for provider in &catalog.providers {
        write_provider(out, provider)?;
    }
    Ok(())
}

fn write_provider(out: &mut String, provider: &Provider) -> std::fmt::Result {
    writeln!(out, "\n## `{}`\n", provider.name)?;
    writeln!(out, "{}\n", line(&provider.doc))?;
    writeln!(out, "| event | says | duration | clock | for a reader |")?;
    writeln!(out, "|---|---|---|---|---|")?;
    for event in &provider.events {
        let (duration, clock) = duration_and_clock(event);
        let (doc, hints) = (cell(&event.doc), cell(&hints(event)));
        writeln!(out, "| `{}` | {doc} | {duration} | {clock} | {hints} |", event.name)?;
    }
    write_advice(out, provider)?;
    for class in provider.classes.iter().filter(|class| !class.fields.is_empty()) {
        write_class(out, provider, class)?;
    }
    let on_their_own = provider.events.iter().filter(|event| event.class.is_none());
    for event in on_their_own.filter(|event| !event.fields.is_empty()) {
        writeln!(out, "\n### Fields of `{}`\n", event.name)?;
        write_fields(out, &event.fields)?;
    }
    for enumeration in &provider.enums {
        write_enumeration(out, enumeration)?;
    }
    Ok(())
}

/// What helps when events of the provider delay a program.
fn write_advice(out: &mut String, provider: &Provider) -> std::fmt::Result {
    let has_advice = |event: &&Event| event.meaning.advice.is_some() || !event.meaning.advice_for.is_empty();
    let advised: Vec<&Event> = provider.events.iter().filter(has_advice).collect();
    if advised.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n### What helps\n")?;
    writeln!(out, "| when this is slow | it means, and this helps |")?;
    writeln!(out, "|---|---|")?;
    for Event { name, meaning, .. } in advised {
        if let Some(advice) = &meaning.advice {
            writeln!(out, "| `{name}` | {} |", cell(advice))?;
        }
        for (key, advice) in &meaning.advice_for {
            writeln!(out, "| `{name}`, `{key}` | {} |", cell(advice))?;
        }
    }
    Ok(())
}

fn write_class(out: &mut String, provider: &Provider, class: &Class) -> std::fmt::Result {
    let has_class = |event: &&Event| event.class.as_ref() == Some(&class.name);
    let names: Vec<&str> =
        provider.events.iter().filter(has_class).map(|event| event.name.as_str()).collect();
    if names.len() == provider.events.len() {
        writeln!(out, "\n### Fields of every event\n")?;
    } else {
        writeln!(out, "\n### Fields of {}\n", list(&quoted(&names)))?;
    }
    if !class.doc.is_empty() {
        writeln!(out, "{}\n", line(&class.doc))?;
    }
    write_fields(out, &class.fields)
}

fn write_fields(out: &mut String, fields: &[Field]) -> std::fmt::Result {
    writeln!(out, "| field | type | unit | says |")?;
    writeln!(out, "|---|---|---|---|")?;
    for field in fields {
        let unit = field.unit.map_or("", Unit::name);
        let doc = cell(&field_doc(field));
        writeln!(out, "| `{}` | `{}` | {unit} | {doc} |", field.name, field.kind)?;
    }
    Ok(())
}

/// What a field means, with what the other columns leave out.
fn field_doc(field: &Field) -> String {
    let mut sentences = vec![field.doc.clone()];
    let usual = Integer::new(DEFAULT_LENGTH, false);
    if let Some(length) =
        field.length_type().filter(|length| *length != usual && field.kind != FieldType::Stack)
    {
        sentences.push(format!("Its length is a `{length}`."));
    }
    if !field.recorded {
        sentences.push("For filters only; not recorded.".to_owned());
    }
    if field.argument != field.name {
        sentences.push(format!("The argument is `{}`.", field.argument));
    }
    if !field.formerly.is_empty() {
        sentences.push(format!("Formerly {}.", list(&quoted(&field.formerly))));
    }
    sentences.join(" ")
}

fn write_enumeration(out: &mut String, enumeration: &Enumeration) -> std::fmt::Result {
    writeln!(out, "\n### Enum `{}`\n", enumeration.name)?;
    writeln!(out, "{} Recorded as `{}`.\n", line(&enumeration.doc), enumeration.container)?;
    writeln!(out, "| label | value | says |")?;
    writeln!(out, "|---|---|---|")?;
    for label in &enumeration.labels {
        let (start, end) = (label.values.start(), label.values.end());
        let values = if start == end { start.to_string() } else { format!("{start} to {end}") };
        writeln!(out, "| `{}` | {values} | {} |", label.name, cell(&label.doc))?;
    }
    Ok(())
}

/// The cells for an event's duration and its clock.
fn duration_and_clock(event: &Event) -> (String, &'static str) {
    let Some(name) = &event.meaning.duration else {
        return (String::new(), "");
    };
    let unit = event.field(name).and_then(|field| field.unit).map_or("", Unit::name);
    let sum = match event.meaning.measure {
        Measure::Interval => "",
        Measure::Sum => ", a sum",
    };
    (format!("`{name}`, {unit}{sum}"), event.meaning.clock.name())
}

/// What else a reader should know about an event, in words.
fn hints(event: &Event) -> String {
    let meaning = &event.meaning;
    let mut sentences = Vec::new();
    if event.fields.is_empty() {
        sentences.push("Has no fields.".to_owned());
    }
    if let Some(repeated) = &meaning.repeats {
        sentences.push(format!("Only repeats `{repeated}`."));
    }
    if !meaning.group_by.is_empty() {
        sentences.push(format!("Grouped by {}.", list(&quoted(&meaning.group_by))));
    }
    if let Some(client) = &meaning.client {
        sentences.push(format!("On behalf of `{client}`."));
    }
    if let Some(start) = &meaning.started_by {
        sentences.push(format!("Ends the interval that `{start}` began."));
    }
    if !meaning.explains.is_empty() {
        sentences.push(format!("Can slow {}.", list(&quoted(&meaning.explains))));
    }
    if event.log_level != LogLevel::default() {
        sentences.push(format!("Log level {}.", event.log_level));
    }
    if event.entry {
        sentences.push(format!("USDT tracers also have its beginning, `{}__start`.", event.name));
    }
    if let Some(pattern) = &event.tracing {
        sentences.push(format!("Recorded from `tracing`: `{pattern}`."));
    }
    if let Some(uri) = &event.model_uri {
        sentences.push(format!("Model: <{uri}>."));
    }
    if !meaning.formerly.is_empty() {
        sentences.push(format!("Formerly {}.", list(&quoted(&meaning.formerly))));
    }
    sentences.join(" ")
}

fn quoted(names: &[impl ToString]) -> Vec<String> {
    names.iter().map(|name| format!("`{}`", name.to_string())).collect()
}

/// `a`, `b` and `c`.
fn list(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// A text without line breaks.
fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text as the cell of a table.
fn cell(text: &str) -> String {
    line(text).replace('|', "\\|")
}
