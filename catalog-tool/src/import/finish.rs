//! The last steps: renames what a catalog cannot have, writes the text, and has the catalog's checks run on it.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use lttng_catalog::{Catalog, Error, Step};

use super::draft::{Draft, DraftClass, DraftEvent, DraftField, DraftProvider, UNDOCUMENTED};
use super::options::Options;
use super::problem::Problem;
use super::write::write;

/// The most errors of a catalog that are looked up in the imported file.
const MOST_ERRORS: usize = 100;

/// The most times that something is left out because of what was left out before.
const MOST_ROUNDS: usize = 8;

/// Writes the catalog without what a catalog cannot have, which is the second result.
pub fn finish(
    file: &str,
    draft: Draft,
    options: &Options,
    notes: &mut Vec<Problem>,
) -> Result<(String, Vec<Problem>), Vec<Problem>> {
    let Draft { mut providers, problems: mut left_out } = draft;
    for provider in &mut providers {
        drop_duplicates(provider, &mut left_out);
        rename_classes(provider, notes);
    }
    let names = file
        .split(", ")
        .map(|file| Path::new(file).file_name().map_or(file.into(), |name| name.to_string_lossy()));
    let origin = names.collect::<Vec<_>>().join(", ");
    let name = options.name.clone().or(providers.first().map(|first| first.name.clone()));
    let name = &name.unwrap_or("imported".to_owned());
    rename(name, &origin, &mut providers, notes);
    for _ in 0..MOST_ROUNDS {
        providers.retain(|provider| !provider.events.is_empty());
        if providers.is_empty() {
            if left_out.is_empty() {
                left_out.push(Problem::new(1, "the file has no events"));
            }
            break;
        }
        let text = write(name, &origin, &providers);
        let Err(errors) = Catalog::parse(&origin, &text) else {
            count_undocumented(&providers, notes);
            return Ok((text, left_out));
        };
        left_out.extend(errors.errors.iter().take(MOST_ERRORS).map(|error| locate(error, &providers)));
        if let Some(more) = errors.errors.len().checked_sub(MOST_ERRORS).filter(|more| *more > 0) {
            let last = left_out.iter().map(|problem| problem.line).max().unwrap_or(1);
            left_out.push(Problem::new(last, format!("{more} further errors are not shown")));
        }
        if !leave_out(&errors.errors, &mut providers, &mut left_out) {
            break;
        }
    }
    Err(left_out)
}

/// Removes the parts that have errors, and what needs them; false if nothing was removed.
fn leave_out(errors: &[Error], providers: &mut Vec<DraftProvider>, left_out: &mut Vec<Problem>) -> bool {
    // The provider, and what of it; all of it if it is `None`.
    let mut gone: HashSet<(&str, Option<&Step>)> = HashSet::new();
    for error in errors {
        match error.place.steps() {
            [Step::Provider(provider), part @ (Step::Enum(_) | Step::Class(_) | Step::Event(_)), ..] => {
                gone.insert((provider, Some(part)));
            }
            [Step::Provider(provider), ..] => _ = gone.insert((provider, None)),
            _ => {}
        }
    }
    providers.retain(|provider| !gone.contains(&(&*provider.name, None)));
    for provider in providers {
        let name = provider.name.clone();
        let is_gone = |step: Step| gone.contains(&(&*name, Some(&step)));
        let (mut enums, mut classes) = (HashSet::new(), HashSet::new());
        provider
            .enums
            .retain(|part| !is_gone(Step::Enum(part.name.clone())) || !enums.insert(part.name.clone()));
        let uses_enum = |fields: &[DraftField]| {
            fields.iter().find_map(|field| enums.get(field.kind.strip_prefix("enum ")?)).cloned()
        };
        provider.classes.retain(|part| {
            let is_kept = !is_gone(Step::Class(part.name.clone())) && uses_enum(&part.fields).is_none();
            is_kept || !classes.insert(part.name.clone())
        });
        provider.events.retain(|part| {
            let needed =
                uses_enum(&part.fields).or(part.class.clone().filter(|class| classes.contains(class)));
            if let Some(needed) = &needed {
                let message = format!("{name} → {}: `{needed}` is left out", part.name);
                left_out.push(Problem::new(part.line, message));
            }
            needed.is_none() && !is_gone(Step::Event(part.name.clone()))
        });
        let names: HashSet<String> = provider.events.iter().map(|event| event.name.clone()).collect();
        for event in &mut provider.events {
            event.started_by.take_if(|start| !names.contains(start));
        }
    }
    !gone.is_empty()
}

/// A TOML file has each table once.
fn drop_duplicates(provider: &mut DraftProvider, left_out: &mut Vec<Problem>) {
    let mut lines = HashMap::new();
    provider.events.retain(|DraftEvent { name, line, .. }| {
        let first = *lines.entry(name.clone()).or_insert(*line);
        if first != *line {
            left_out.push(Problem::new(*line, format!("duplicate `{name}`; the first is in line {first}")));
        }
        first == *line
    });
}

/// LTTng makes a class of each event's name, so a class cannot have it.
fn rename_classes(provider: &mut DraftProvider, notes: &mut Vec<Problem>) {
    let events: HashSet<String> = provider.events.iter().map(|event| event.name.clone()).collect();
    let mut renamed = HashMap::new();
    for DraftClass { name, line, .. } in &mut provider.classes {
        if events.contains(name) {
            let new = format!("{name}_class");
            notes.push(Problem::new(
                *line,
                format!("the class `{name}` is renamed to `{new}`, because an event has its name"),
            ));
            renamed.insert(std::mem::replace(name, new.clone()), new);
        }
    }
    for event in &mut provider.events {
        if let Some(new) = event.class.as_ref().and_then(|class| renamed.get(class)) {
            event.class = Some(new.clone());
        }
    }
}

/// Renames fields that C or LTTng would change, such as `errno`, and labels that a trace cannot have.
///
/// The catalog's checks know which those are, so they are run to find out.
fn rename(name: &str, origin: &str, providers: &mut [DraftProvider], notes: &mut Vec<Problem>) {
    for enumeration in providers.iter_mut().flat_map(|provider| &mut provider.enums) {
        for label in &mut enumeration.labels {
            let is_good = |letter: char| letter.is_ascii_alphanumeric() || " _-.".contains(letter);
            let mut new = label.name.replace(|letter| !is_good(letter), "_");
            if !new.starts_with(|first: char| first.is_ascii_alphabetic()) {
                new.insert_str(0, "label_");
            }
            if new != label.name {
                let message = format!("the label `{}` is renamed to `{new}`", label.name);
                notes.push(Problem::new(enumeration.line, message));
                label.name = new;
            }
        }
    }
    let Err(errors) = Catalog::parse(origin, &write(name, origin, providers)) else { return };
    for error in errors.errors.iter().take(MOST_ERRORS) {
        let Some((fields, index)) = field_at(error, providers) else { continue };
        if index < fields.len()
            && error.message.starts_with("invalid argument")
            && fields[index].argument.is_some()
        {
            // It is a macro or a constant; a function of the catalog's has the field's name for it.
            fields[index].argument = None;
            continue;
        }
        let has_remedy = ["choose another", "write `", "with `arg`"];
        if index >= fields.len() || !has_remedy.iter().any(|remedy| error.message.contains(remedy)) {
            continue;
        }
        let new = new_name(index, fields);
        let field = &mut fields[index];
        notes.push(Problem::new(
            field.line,
            format!("the field `{}` is renamed to `{new}`: {}", field.name, error.message),
        ));
        field.name = new;
    }
}

/// A name that no other field has: in small letters, without what C reserves, or else with a `_` after it.
fn new_name(index: usize, fields: &[DraftField]) -> String {
    let old = &fields[index].name;
    let mut name = old.trim_start_matches('_').to_ascii_lowercase();
    if name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) {
        name.insert_str(0, "field_");
    }
    while name == *old || fields.iter().any(|field| field.name == name) {
        name.push('_');
    }
    name
}

fn field_at<'p>(
    error: &Error,
    providers: &'p mut [DraftProvider],
) -> Option<(&'p mut Vec<DraftField>, usize)> {
    let [Step::Provider(provider), owner, Step::Field(index, _), ..] = error.place.steps() else {
        return None;
    };
    let provider = providers.iter_mut().find(|known| known.name == *provider)?;
    let fields = match owner {
        Step::Event(name) => &mut provider.events.iter_mut().find(|event| event.name == *name)?.fields,
        Step::Class(name) => &mut provider.classes.iter_mut().find(|class| class.name == *name)?.fields,
        _ => return None,
    };
    Some((fields, *index))
}

/// An error of the catalog, at the line of the imported file that it is about.
fn locate(error: &Error, providers: &[DraftProvider]) -> Problem {
    let mut line = None;
    let mut provider = None;
    let mut fields: &[DraftField] = &[];
    for step in error.place.steps() {
        match step {
            Step::Provider(name) => {
                provider = providers.iter().find(|known| known.name == *name);
                line = provider.map(|provider| provider.line).or(line);
            }
            Step::Enum(name) => {
                let known = provider.and_then(|known| known.enums.iter().find(|known| known.name == *name));
                line = known.map(|known| known.line).or(line);
            }
            Step::Class(name) => {
                if let Some(known) =
                    provider.and_then(|known| known.classes.iter().find(|class| class.name == *name))
                {
                    line = Some(known.line);
                    fields = &known.fields;
                }
            }
            Step::Event(name) => {
                if let Some(known) =
                    provider.and_then(|known| known.events.iter().find(|event| event.name == *name))
                {
                    line = Some(known.line);
                    fields = &known.fields;
                }
            }
            Step::Field(index, _) => line = fields.get(*index).map(|field| field.line).or(line),
            _ => {}
        }
    }
    let place = error.place.to_string();
    let message =
        if place.is_empty() { error.message.clone() } else { format!("{place}: {}", error.message) };
    Problem::new(line.unwrap_or(1), message)
}

fn count_undocumented(providers: &[DraftProvider], notes: &mut Vec<Problem>) {
    let count = |docs: &mut dyn Iterator<Item = &String>| docs.filter(|doc| doc.is_empty()).count();
    let events = count(&mut providers.iter().flat_map(|known| known.events.iter().map(|event| &event.doc)));
    let fields = count(&mut providers.iter().flat_map(|known| {
        let of_events = known.events.iter().flat_map(|event| &event.fields);
        of_events.chain(known.classes.iter().flat_map(|class| &class.fields)).map(|field| &field.doc)
    }));
    if events + fields > 0 {
        let message = format!(
            "{} and {} without documentation; look for \"{UNDOCUMENTED}\" in the catalog",
            number(events, "event"),
            number(fields, "field")
        );
        notes.push(Problem::new(1, message));
    }
}

fn number(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
