//! The last steps: renames what a catalog cannot have, writes the text, and has the catalog's checks run on it.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use lttng_catalog::{Catalog, Error, Step};

use super::draft::{DraftClass, DraftEvent, DraftField, DraftProvider, UNDOCUMENTED};
use super::options::Options;
use super::problem::Problem;
use super::write::write;

/// The most errors of a catalog that are looked up in the imported file.
const MOST_ERRORS: usize = 100;

/// Writes the catalog, if it is valid.
pub fn finish(
    file: &str,
    mut providers: Vec<DraftProvider>,
    options: &Options,
    notes: &mut Vec<Problem>,
) -> Result<String, Vec<Problem>> {
    let mut problems = Vec::new();
    for provider in &mut providers {
        find_duplicates(provider, &mut problems);
        rename_classes(provider, notes);
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let origin = Path::new(file).file_name().map_or(file.into(), |name| name.to_string_lossy());
    let name = options.name.clone().or(providers.first().map(|first| first.name.clone()));
    let name = &name.unwrap_or("imported".to_owned());
    rename_fields(name, &origin, &mut providers, notes);
    let text = write(name, &origin, &providers);
    match Catalog::parse(&origin, &text) {
        Ok(_) => {
            count_undocumented(&providers, notes);
            Ok(text)
        }
        Err(errors) => {
            let mut problems: Vec<_> =
                errors.errors.iter().take(MOST_ERRORS).map(|error| locate(error, &providers)).collect();
            if let Some(more) = errors.errors.len().checked_sub(MOST_ERRORS).filter(|more| *more > 0) {
                let last = problems.iter().map(|problem| problem.line).max().unwrap_or(1);
                problems.push(Problem::new(last, format!("{more} further errors are not shown")));
            }
            Err(problems)
        }
    }
}

/// A TOML file has each table once.
fn find_duplicates(provider: &DraftProvider, problems: &mut Vec<Problem>) {
    let mut lines = HashMap::new();
    for DraftEvent { name, line, .. } in &provider.events {
        if let Some(first) = lines.insert(name, line) {
            problems.push(Problem::new(*line, format!("duplicate `{name}`; the first is in line {first}")));
        }
    }
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

/// Appends a `_` to the names of fields that C or LTTng would change, such as `errno`.
///
/// The catalog's checks know which those are, so they are run to find out.
fn rename_fields(name: &str, origin: &str, providers: &mut [DraftProvider], notes: &mut Vec<Problem>) {
    let Err(errors) = Catalog::parse(origin, &write(name, origin, providers)) else { return };
    for error in errors.errors.iter().take(MOST_ERRORS) {
        let Some((fields, index)) = field_at(error, providers) else { continue };
        let Some(field) = fields.get_mut(index) else { continue };
        if ["choose another", "write `", "with `arg`"].iter().any(|remedy| error.message.contains(remedy))
            && !field.name.ends_with('_')
        {
            let new = new_name(&field.name);
            notes.push(Problem::new(
                field.line,
                format!("the field `{}` is renamed to `{new}`: {}", field.name, error.message),
            ));
            field.name = new;
        }
    }
}

fn new_name(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    if name == lower { format!("{name}_") } else { lower }
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
