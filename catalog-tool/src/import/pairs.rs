//! A probe at the start and one at the end of something are an interval to readers.

use std::collections::HashMap;

use super::draft::{DraftEvent, DraftField, DraftProvider, MOST_ARGUMENTS};
use super::problem::Problem;

/// The last words of two probes that belong together.
const PAIRS: &[(&str, &str)] = &[
    ("start", "end"),
    ("start", "done"),
    ("start", "finish"),
    ("start", "complete"),
    ("begin", "end"),
    ("begin", "done"),
    ("entry", "return"),
    ("entry", "exit"),
    ("enter", "exit"),
    ("enter", "leave"),
    ("enter", "return"),
];

const DURATION: &str = "duration";

/// Has the end of each pair name its start; both keep their names and arguments.
pub fn relate(provider: &mut DraftProvider) {
    let by_name = indices(provider);
    for index in 0..provider.events.len() {
        let start = provider.events[index].name.clone();
        if let Some((_, end)) = partner(&start, &by_name) {
            provider.events[by_name[&end]].started_by.get_or_insert(start);
        }
    }
}

fn indices(provider: &DraftProvider) -> HashMap<String, usize> {
    provider.events.iter().enumerate().map(|(index, event)| (event.name.clone(), index)).collect()
}

/// Replaces each pair by one event, in the position of its end; notes say which.
pub fn join(provider: &mut DraftProvider, notes: &mut Vec<Problem>) {
    let by_name = indices(provider);
    let mut joined: HashMap<usize, DraftEvent> = HashMap::new();
    let mut starts = Vec::new();
    for (index, start) in provider.events.iter().enumerate() {
        let Some((base, end)) = partner(&start.name, &by_name) else { continue };
        let end = &provider.events[by_name[&end]];
        let mut note = |said: String| {
            let said = format!("`{}` and `{}` {said}", start.name, end.name);
            notes.push(Problem::new(start.line, said));
        };
        if by_name.contains_key(&base) || joined.contains_key(&by_name[&end.name]) {
            note(format!("stay two events: `{base}` is taken"));
            continue;
        }
        match join_two(&base, start, end) {
            Some(event) => {
                note(format!("become one event with a duration, `{base}`"));
                starts.push(index);
                joined.insert(by_name[&end.name], event);
            }
            None => note(format!("stay two events: together they have more than {MOST_ARGUMENTS} arguments")),
        }
    }
    let events = std::mem::take(&mut provider.events).into_iter().enumerate();
    provider.events = events
        .filter(|(index, _)| starts.binary_search(index).is_err())
        .map(|(index, event)| joined.remove(&index).unwrap_or(event))
        .collect();
}

/// The common name and the end's name, if this is the name of a start.
fn partner(name: &str, known: &HashMap<String, usize>) -> Option<(String, String)> {
    PAIRS.iter().find_map(|(start, end)| {
        let rest = name.strip_suffix(start)?;
        let base = rest.strip_suffix("__").or_else(|| rest.strip_suffix('_'))?;
        let end = format!("{rest}{end}");
        (!base.is_empty() && known.contains_key(&end)).then(|| (base.to_owned(), end))
    })
}

/// The fields of the start, those that the end adds, and the duration; `None` if they are too many.
fn join_two(base: &str, start: &DraftEvent, end: &DraftEvent) -> Option<DraftEvent> {
    let mut fields = start.fields.clone();
    for field in &end.fields {
        match fields.iter().position(|known| known.name == field.name) {
            None => fields.push(field.clone()),
            // The same value in both, such as the client.
            Some(index) if is_same(&fields[index], field) => {
                if fields[index].doc.is_empty() {
                    fields[index].doc.clone_from(&field.doc);
                }
            }
            Some(index) => {
                fields[index].name = format!("start_{}", field.name);
                fields.push(field.clone());
            }
        }
    }
    let name = if fields.iter().any(|field| field.name == DURATION) { "elapsed" } else { DURATION };
    fields.push(DraftField {
        name: name.to_owned(),
        line: end.line,
        kind: "u64".to_owned(),
        unit: Some("ns"),
        doc: format!("The time from `{}` to `{}`.", start.name, end.name),
        ..DraftField::default()
    });
    if fields.iter().map(DraftField::arguments).sum::<usize>() > MOST_ARGUMENTS {
        return None;
    }
    Some(DraftEvent {
        name: base.to_owned(),
        line: end.line,
        doc: format!("{} {}", start.doc, end.doc).trim().to_owned(),
        duration: Some(name.to_owned()),
        fields,
        entry: true,
        ..DraftEvent::default()
    })
}

/// Whether two fields of the same name have the same type and documentation.
fn is_same(one: &DraftField, other: &DraftField) -> bool {
    one.kind == other.kind && (one.doc == other.doc || one.doc.is_empty() || other.doc.is_empty())
}
