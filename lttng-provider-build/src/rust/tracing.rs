//! The table of all events by which `lttng-provider-tracing` records spans: an expression, in a file that only its macro
//! `events!` includes.

use lttng_catalog::lowered::{Argument, Event, Program, Provider};
use lttng_catalog::{Enumeration, Extent, Measure, NumberKind, Width};

use super::doc::literal;
use super::duration::unit_name;
use super::layout::{ALLOWED, indent, list};
use crate::GeneratedFile;

/// All events in one table.
pub(crate) fn table(program: &Program<'_>) -> GeneratedFile {
    let origins: String =
        program.providers.iter().map(|provider| format!("// {}\n", provider.origin())).collect();
    let events: String = program
        .providers
        .iter()
        .flat_map(|provider| provider.events.iter().map(move |event| entry(provider, event)))
        .collect();
    let text = format!(
        "{origins}
{{
    use lttng_provider_tracing::generated as lttng_bridge;
{allowed}
    static EVENTS: &[lttng_bridge::Event] = &[
{events}    ];
    EVENTS
}}
",
        allowed = indent(ALLOWED).trim_end(),
        events = indent(&indent(&events)),
    );
    GeneratedFile { name: "tracing.rs".to_owned(), text }
}

fn entry(provider: &Provider<'_>, event: &Event<'_>) -> String {
    let path = format!("{}::{}", provider.module, event.rust_name);
    let passed: Vec<_> = event.passed().collect();
    let fields: String = passed.iter().map(|argument| format!("        {},\n", field(argument))).collect();
    let values: Vec<_> =
        passed.iter().enumerate().map(|(index, argument)| value(provider, argument, index)).collect();
    let begin = match event.duration.is_some() {
        true => format!("<{path} as lttng_provider::DurationEvent>::begin"),
        false => "|| ()".to_owned(),
    };
    format!(
        "lttng_bridge::Event {{
    provider: {provider},
    name: {name},
    callsites: {callsites},
    fields: &[
{fields}    ],
    duration: {duration},
    enabled: {path}::enabled,
    begin: {begin},
{record}
}},
",
        provider = literal(&provider.name),
        name = literal(&event.source.name),
        callsites = callsites(event),
        duration = duration(event),
        record = list("    ", &format!("record: |values| {path}::record("), &values, "),"),
    )
}

/// The call sites that the catalog names; those of the event's name where it names none.
fn callsites(event: &Event<'_>) -> String {
    let Some(pattern) = &event.source.tracing else {
        return "None".to_owned();
    };
    let part = |part: &Option<String>| literal(part.as_deref().unwrap_or_default());
    let fields: Vec<_> = pattern.fields.iter().map(|field| literal(field)).collect();
    format!(
        "Some(lttng_bridge::Callsites {{ target: {}, name: {}, fields: &[{}] }})",
        part(&pattern.target),
        part(&pattern.name),
        fields.join(", ")
    )
}

/// Where the duration stands among the arguments that are passed, and what is measured.
fn duration(event: &Event<'_>) -> String {
    let Some(duration) = event.duration else {
        return "None".to_owned();
    };
    let index = event.arguments[..duration.index].iter().filter(|argument| argument.is_passed()).count();
    let measured = match event.source.meaning.measure {
        Measure::Sum => "Busy",
        _ => "Wall",
    };
    format!("Some(({index}, lttng_bridge::Measured::{measured}))")
}

fn field(argument: &Argument<'_>) -> String {
    let name = literal(&argument.field.argument);
    let kind = kind(argument);
    format!("lttng_bridge::Field {{ name: {name}, kind: lttng_bridge::{kind} }}")
}

fn kind(argument: &Argument<'_>) -> String {
    let element = argument.shape.element;
    match (argument.is_number(), element.kind) {
        _ if argument.is_text() => "Kind::Text".to_owned(),
        (true, NumberKind::Bool) => "Kind::Bool".to_owned(),
        (true, NumberKind::Float) => "Kind::Float".to_owned(),
        (true, _) => {
            let integer = element.rust_type().to_uppercase();
            match argument.enumeration {
                Some(enumeration) => format!("{integer}.labelled(&[{}])", labels(enumeration)),
                None => format!("{integer}{}", unit(argument)),
            }
        }
        (false, _) if is_bytes(argument) => "Kind::Bytes".to_owned(),
        (false, _) => "Kind::List".to_owned(),
    }
}

/// Whether it is bytes of any number, which a value of `tracing` can be.
fn is_bytes(argument: &Argument<'_>) -> bool {
    let element = argument.shape.element;
    argument.is_slice() && element.kind == NumberKind::Unsigned && element.width == Width::W8
}

fn unit(argument: &Argument<'_>) -> String {
    let unit = argument.time_unit().and_then(unit_name);
    unit.map(|unit| format!(".in_unit(lttng_provider::Unit::{unit})")).unwrap_or_default()
}

/// Each label with its first value.
fn labels(enumeration: &Enumeration) -> String {
    let labels = enumeration.labels.iter();
    let labels: Vec<_> =
        labels.map(|label| format!("({}, {})", literal(&label.name), label.values.start())).collect();
    labels.join(", ")
}

/// The expression that takes an argument from the values of a span.
fn value(provider: &Provider<'_>, argument: &Argument<'_>, index: usize) -> String {
    let element = argument.shape.element;
    match (argument.shape.extent, element.kind) {
        _ if argument.is_text() => format!("values.text({index})"),
        (Extent::One, NumberKind::Bool) => format!("values.boolean({index})"),
        (Extent::One, NumberKind::Float) if element.width == Width::W32 => {
            format!("values.float({index}) as f32")
        }
        (Extent::One, NumberKind::Float) => format!("values.float({index})"),
        (Extent::One, _) if argument.is_enumeration() => {
            let (name, container) = (argument.rust_type(""), element.rust_type());
            format!("{}::{name}::from(values.integer::<{container}>({index}))", provider.module)
        }
        (Extent::One, _) => format!("values.integer({index})"),
        (Extent::Fixed(count), _) => format!("&[0; {count}]"),
        _ if is_bytes(argument) => format!("values.bytes({index})"),
        _ => "&[]".to_owned(),
    }
}
