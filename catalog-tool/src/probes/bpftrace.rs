//! Scripts for bpftrace: histograms of durations by group, and a line for each event.

use lttng_catalog::lowered::{Event, LowerError, ProbePart};
use lttng_catalog::{Catalog, EventName};

use super::{Argument, arguments, each_event, one_line, origin};

/// The most arguments that bpftrace reads.
const MOST_ARGUMENTS: usize = 6;

/// A script that shows how long things took in this program, by what groups them; a pair of events by its thread.
pub fn histograms(catalog: &Catalog, program: &str) -> Result<String, LowerError> {
    let mut text = format!("// {}\n", origin(catalog));
    each_event(catalog, |provider, event| {
        let name = &event.source.name;
        let all = arguments(event);
        let group: Vec<String> =
            event.source.meaning.group_by.iter().filter_map(|field| value_of(field, event, &all)).collect();
        let group = if group.is_empty() { String::new() } else { format!("[{}]", group.join(", ")) };
        let map = format!("@{provider}_{name}");
        let doc = one_line(&event.source.doc);
        if let Some(EventName { provider: start_provider, event: start }) = &event.source.meaning.started_by {
            let began = format!("@begin_{provider}_{name}[tid]");
            text.push_str(&format!(
                "\nusdt:{program}:{start_provider}:{start} {{ {began} = nsecs; }}\n\
                 // {doc} In microseconds.\n\
                 usdt:{program}:{provider}:{name} /{began}/ {{\n\
                 \t{map}_us{group} = hist((nsecs - {began}) / 1000);\n\tdelete({began});\n}}\n"
            ));
        } else if let Some((duration, value)) = event.source.meaning.duration.as_ref().and_then(|field| {
            Some((
                event.arguments.iter().find(|argument| argument.field.name == *field)?,
                value_of(field, event, &all)?,
            ))
        }) {
            let unit = duration.field.unit.map(|unit| format!("_{unit}")).unwrap_or_default();
            text.push_str(&format!(
                "\n// {doc}\nusdt:{program}:{provider}:{name} {{ {map}{unit}{group} = hist({value}); }}\n"
            ));
        }
    })?;
    Ok(text)
}

/// A script that prints a line for each event, with its arguments by name.
pub fn snoop(catalog: &Catalog, program: &str) -> Result<String, LowerError> {
    let mut text = format!("// {}\n", origin(catalog));
    each_event(catalog, |provider, event| {
        let name = &event.source.name;
        let (mut format, mut values) = (format!("{provider}:{name}"), String::new());
        let all = arguments(event);
        for (index, argument) in all.iter().enumerate().take(MOST_ARGUMENTS) {
            let shown = match argument.part {
                ProbePart::Text => "%s",
                _ if argument.is_address => "0x%lx",
                _ if argument.is_signed => "%ld",
                _ => "%lu",
            };
            format.push_str(&format!(" {}={shown}", argument.name));
            values.push_str(&format!(", {}", read(index, argument)));
        }
        let doc = one_line(&event.source.doc);
        text.push_str(&format!(
            "\n// {doc}\nusdt:{program}:{provider}:{name} {{ printf(\"{format}\\n\"{values}); }}\n"
        ));
    })?;
    Ok(text)
}

/// The first argument of a field, if bpftrace can read it.
fn value_of(field: &str, event: &Event<'_>, arguments: &[Argument]) -> Option<String> {
    let index =
        event.probe.arguments.iter().position(|probed| event.arguments[probed.index].field.name == field)?;
    (index < MOST_ARGUMENTS).then(|| read(index, &arguments[index]))
}

fn read(index: usize, argument: &Argument) -> String {
    match argument.part {
        ProbePart::Text if argument.is_counted && index + 1 < MOST_ARGUMENTS => {
            format!("str(arg{index}, arg{})", index + 1)
        }
        ProbePart::Text => format!("str(arg{index})"),
        _ => format!("arg{index}"),
    }
}
