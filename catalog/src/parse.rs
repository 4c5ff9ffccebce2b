//! From text to the model: TOML, then its tables, then the checks of the whole.
//!
//! Errors in one part do not keep the others from being read: an invalid value is reported and
//! replaced by a harmless one, so that one mistake is one error.

mod advice;
mod locate;
mod table;

use std::cell::RefCell;
use std::path::Path;

use crate::check::check_rules;
use crate::error::{Authority, Error, Errors, Report};
use crate::field_type::{FieldType, Integer, Width, read_integer, read_type};
use crate::model::*;
use crate::place::{Place, Step};
use crate::toml;
use crate::vocabulary::{Clock, LogLevel, Measure, Unit};
use locate::Locations;
use table::Table;

impl Catalog {
    /// Reads and checks a catalog; `file` is what errors call it.
    pub fn parse(file: &str, text: &str) -> Result<Catalog, Errors> {
        read(file, text, |root| {
            let catalog = catalog(root);
            let wrong = check_rules(&catalog);
            (catalog, wrong)
        })
    }

    /// Reads and checks the catalog in a file.
    pub fn read(path: impl AsRef<Path>) -> Result<Catalog, Errors> {
        let path = path.as_ref();
        let file = path.display().to_string();
        match std::fs::read_to_string(path) {
            Ok(text) => Catalog::parse(&file, &text),
            Err(error) => Err(Errors {
                file,
                errors: vec![Error {
                    position: None,
                    place: Place::top(),
                    authority: Authority::Model,
                    message: format!("cannot read the catalog: {error}"),
                }],
            }),
        }
    }
}

/// Reads a text, and reports what is wrong with it as TOML, in its tables or according to the rules, by its position.
fn read<T>(file: &str, text: &str, make: impl FnOnce(Table<'_>) -> (T, Vec<Error>)) -> Result<T, Errors> {
    let (root, syntax_errors) = toml::parse(text);
    let report = RefCell::new(Report::default());
    let (made, wrong) = make(Table::root(&root, &report));
    let mut found = report.into_inner().errors;
    found.extend(wrong);
    if syntax_errors.is_empty() && found.is_empty() {
        return Ok(made);
    }
    let locations = Locations::new(text, &root);
    let mut errors = locations.syntax_errors(syntax_errors);
    // A syntax error leaves its table incomplete, so reports of missing keys would be false.
    if errors.is_empty() {
        errors = found.into_iter().map(|error| locations.locate(error)).collect();
    }
    errors.sort_by_key(|error| error.position);
    Err(Errors { file: file.to_owned(), errors })
}

fn catalog(mut root: Table<'_>) -> Catalog {
    let mut head = root.required_table("catalog");
    let name = head.required_name("name");
    let version = head.required_number("version");
    let doc = head.doc();
    head.finish();
    let providers = root.children("provider", Step::Provider, provider);
    root.finish();
    Catalog { name, version, doc, providers }
}

fn provider(name: String, mut table: Table<'_>) -> Provider {
    let doc = table.doc();
    let enums = table.children("enum", Step::Enum, enumeration);
    let classes = table.children("class", Step::Class, class);
    let events = table.children("event", Step::Event, |name, table| event(name, table, &classes));
    table.finish();
    Provider { name, doc, enums, classes, events }
}

fn enumeration(name: String, mut table: Table<'_>) -> Enumeration {
    let doc = table.doc();
    let container = table.required_parsed("type", read_container).unwrap_or(Integer::new(Width::W64, true));
    let labels = table.elements("labels", Step::Label, label);
    if labels.is_empty() {
        table.report("the enum has no labels; add some, such as `labels = [{ name = \"TCP\", value = 0 }]`");
    }
    table.finish();
    // If the values of one label are missing, the others cannot be checked.
    let labels = labels.into_iter().collect::<Option<_>>().unwrap_or_default();
    Enumeration { name, doc, container, labels }
}

fn read_container(spelling: &str) -> Result<Integer, String> {
    match read_type(spelling, None)? {
        FieldType::Integer(integer) => Ok(integer),
        other => {
            Err(format!("invalid type: the values of an enum are integers such as `i32`, not `{other}`"))
        }
    }
}

fn label(name: String, mut table: Table<'_>) -> Option<Label> {
    let doc = table.optional_doc().unwrap_or_default();
    let value = table.integer("value");
    let values = table.parsed("values", read_range);
    if table.has("value") == table.has("values") {
        table.report("a label has either `value = 3` or `values = \"3..=7\"`");
    }
    table.finish();
    let values = value.map(|value| value..=value).or(values)?;
    Some(Label { name, doc, values })
}

fn read_range(text: &str) -> Result<std::ops::RangeInclusive<i128>, String> {
    let wrong = || format!("invalid range `{text}`; write both ends, as in `3..=7`");
    let (start, end) = text.split_once("..=").ok_or_else(wrong)?;
    let start = start.trim().parse().map_err(|_| wrong())?;
    let end = end.trim().parse().map_err(|_| wrong())?;
    Ok(start..=end)
}

fn class(name: String, mut table: Table<'_>) -> Class {
    let doc = table.optional_doc().unwrap_or_default();
    let duration = table.string("duration");
    let group_by = table.strings("group-by");
    let client = table.string("client");
    let fields = table.elements("fields", Step::Field, field);
    table.finish();
    Class { name, doc, fields, duration, group_by, client }
}

fn event(name: String, mut table: Table<'_>, classes: &[Class]) -> Event {
    let doc = table.doc();
    let log_level = table.choice("log-level", LogLevel::ALL);
    let model_uri = table.string("model-uri");
    let entry = table.boolean("entry").unwrap_or(false);
    let tracing = table.parsed("tracing", str::parse);
    let mut meaning = Meaning {
        duration: table.string("duration"),
        measure: table.choice("measure", Measure::ALL),
        clock: table.choice("clock", Clock::ALL),
        group_by: table.strings("group-by"),
        client: table.string("client"),
        repeats: table.parsed("repeats", read_event_name),
        explains: table.parsed_strings("explains", read_event_name),
        started_by: table.parsed("started-by", read_event_name),
        advice: advice::general(&mut table),
        advice_for: advice::for_groups(&mut table),
        formerly: table.parsed_strings("formerly", read_event_name),
    };
    let class_name = table.string("class");
    if class_name.is_some() && table.has("fields") {
        table.report("an event has either a `class` or `fields`, not both");
    }
    let class = class_name.as_ref().and_then(|name| classes.iter().find(|class| class.name == *name));
    let own_fields = table.elements("fields", Step::Field, field);
    if let Some(class) = class {
        meaning.duration = meaning.duration.or_else(|| class.duration.clone());
        meaning.client = meaning.client.or_else(|| class.client.clone());
        if !table.has("group-by") {
            meaning.group_by.clone_from(&class.group_by);
        }
    }
    table.finish();
    Event {
        name,
        doc,
        class: class_name,
        fields: class.map_or(own_fields, |class| class.fields.clone()),
        log_level,
        model_uri,
        entry,
        tracing,
        meaning,
    }
}

fn read_event_name(text: &str) -> Result<EventName, String> {
    match text.split_once(':') {
        Some((provider, event)) if !provider.is_empty() && !event.is_empty() => {
            Ok(EventName { provider: provider.to_owned(), event: event.to_owned() })
        }
        _ => Err(format!("invalid event name `{text}`; write `provider:event`")),
    }
}

fn field(name: String, mut table: Table<'_>) -> Field {
    let argument = table.name("arg");
    let doc = table.doc();
    let unit = table.optional_choice("unit", Unit::ALL);
    let recorded = table.boolean("record").unwrap_or(true);
    let formerly = table.strings("formerly");
    let length = table.parsed("length", read_length);
    let kind = table
        .required_parsed("type", |spelling| read_type(spelling, length.map(|length| length.width)))
        .unwrap_or(FieldType::Integer(Integer::new(Width::W64, false)));
    table.finish();
    let argument = argument.unwrap_or_else(|| name.clone());
    let signed_length = length.is_some_and(|length| length.signed);
    Field { argument, name, kind, signed_length, recorded, unit, doc, formerly }
}

fn read_length(spelling: &str) -> Result<Integer, String> {
    let integer = read_integer(spelling)?;
    let plain = Integer::new(integer.width, integer.signed);
    match integer == plain {
        true => Ok(integer),
        false => Err(format!(
            "LTTng-UST records a length in decimal and in the machine's byte order; write `{plain}`"
        )),
    }
}
