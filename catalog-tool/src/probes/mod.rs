//! A catalog's USDT probes as the files that other tools read.

mod bpftrace;
mod dtrace;
mod systemtap;

pub use bpftrace::{histograms, snoop};
pub use dtrace::provider_file;
pub use systemtap::tapset;

use lttng_catalog::lowered::{Event, LowerError, ProbePart, Program};
use lttng_catalog::{Catalog, Number};

/// An argument of a probe.
struct Argument {
    name: String,
    part: ProbePart,
    /// The C type in a provider file, with its space: `int `, `char *`.
    kind: String,
    is_signed: bool,
    is_address: bool,
    /// Whether the next argument is its length.
    is_counted: bool,
}

/// The arguments of an event's probe, in the order in which tracers count them.
fn arguments(event: &Event<'_>) -> Vec<Argument> {
    let parameters = event.sized_c_parameters();
    let each = event.probe.arguments.iter().map(|probed| {
        let argument = &event.arguments[probed.index];
        let counted = argument.field.length_type().map(Number::from);
        let element = argument.shape.element.c_type();
        let kind = match probed.part {
            ProbePart::Value if argument.is_address() => "void *".to_owned(),
            ProbePart::Value => format!("{element} "),
            ProbePart::Text => "char *".to_owned(),
            ProbePart::Start => format!("{element} *"),
            ProbePart::Length => counted.map_or_else(String::new, |length| format!("{} ", length.c_type())),
        };
        let is_length = probed.part == ProbePart::Length;
        Argument {
            name: parameters[probed.index][usize::from(is_length)].name.clone(),
            part: probed.part,
            kind,
            is_signed: probed.size < 0,
            is_address: argument.is_address() || probed.part == ProbePart::Start,
            is_counted: counted.is_some() && !is_length,
        }
    });
    each.collect()
}

/// Calls a function with each provider's name and each of its events.
fn each_event(catalog: &Catalog, mut take: impl FnMut(&str, &Event<'_>)) -> Result<(), LowerError> {
    let program = Program::lower(std::slice::from_ref(catalog), "")?;
    for provider in &program.providers {
        provider.events.iter().for_each(|event| take(&provider.name, event));
    }
    Ok(())
}

/// The first line of each file.
fn origin(catalog: &Catalog) -> String {
    format!("From the catalog {}, version {}, by lttng-catalog.", catalog.name, catalog.version)
}

/// Documentation in one line that cannot end its comment.
fn one_line(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ").replace("*/", "* /")
}
