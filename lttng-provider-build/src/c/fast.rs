//! The faster way to record for C: a function for each class of events that packs them on the stack and writes them with one
//! call. It leaves to LTTng's own probe, which the caller then calls, what it cannot do: filters, triggers, large events.

use std::collections::BTreeSet;

use lttng_catalog::lowered::{Argument, Event, PACKED_MAX, Provider};
use lttng_catalog::{Content, Extent};

/// A class of events, or the only event of one.
pub(super) struct Class<'c> {
    provider: &'c str,
    event: &'c Event<'c>,
}

/// The classes that events of a provider have.
pub(super) fn classes<'c>(provider: &'c Provider<'c>) -> Vec<Class<'c>> {
    let mut seen = BTreeSet::new();
    let first = provider.events.iter().filter(|event| seen.insert(event.class));
    first.map(|event| Class { provider: &provider.name, event }).collect()
}

/// The call that records an event, or is false.
pub(super) fn call(provider: &str, event: &Event<'_>, arguments: &[String]) -> String {
    let given: String = arguments.iter().map(|argument| format!(", {argument}")).collect();
    format!("lttng_fast_{provider}___{}(&{}{given})", event.class, event.tracepoint())
}

/// What a provider's C file has for LTTng-UST after the provider.
pub(super) fn source(provider: &Provider<'_>) -> String {
    let keep = provider.events.first();
    let keep = keep.map(|event| format!("\nLTTNG_FAST_KEEP({}, {})\n", provider.name, event.source.name));
    let classes = classes(provider);
    keep.unwrap_or_default() + &classes.iter().map(Class::definition).collect::<String>()
}

impl Class<'_> {
    pub(super) fn declaration(&self, upper: &str) -> String {
        format!("extern bool {} {upper}_HIDDEN;\n", self.head())
    }

    /// `lttng_fast_valkey_db___valkey_db_class(const struct lttng_ust_tracepoint *lttng_tracepoint, uint64_t duration)`
    fn head(&self) -> String {
        let mut parameters = vec!["const struct lttng_ust_tracepoint *lttng_tracepoint".to_owned()];
        let own = self.event.arguments.iter().flat_map(Argument::c_parameters);
        parameters.extend(own.map(|parameter| parameter.declaration()));
        format!("lttng_fast_{}___{}({})", self.provider, self.event.class, parameters.join(", "))
    }

    fn definition(&self) -> String {
        let Class { provider, event } = self;
        let recorded = || event.arguments.iter().filter(|argument| argument.recorded());
        let unused: String = event
            .arguments
            .iter()
            .filter(|argument| !argument.recorded())
            .flat_map(Argument::c_parameters)
            .map(|parameter| format!("\t(void) {};\n", parameter.name))
            .collect();
        let lengths: String = recorded().filter_map(measured).collect();
        let sizes: String = recorded().map(size).collect();
        let check = match event.fixed_capacity() {
            Some(_) => String::new(),
            None => {
                format!("\tif ({}{sizes} > sizeof(lttng_packed))\n\t\treturn false;\n", event.fixed_size())
            }
        };
        let packs: String = recorded().map(pack).collect();
        let capacity = event.fixed_capacity().unwrap_or(PACKED_MAX.into());
        let (buffer, payload) = match capacity {
            0 => (String::new(), "NULL, 0"),
            _ => (
                format!("\tchar lttng_packed[{capacity}], *lttng_end = lttng_packed;\n{lengths}\n"),
                "lttng_packed, (size_t) (lttng_end - lttng_packed)",
            ),
        };
        format!(
            "
LTTNG_FAST_FUNCTION bool {head};
bool {head}
{{
{buffer}{unused}{check}{packs}\treturn lttng_fast_record(lttng_tracepoint, (void (*)(void)) lttng_ust__event_probe__{provider}___{class},
\t\t{payload}, __builtin_return_address(0));
}}
",
            head = self.head(),
            class = event.class,
        )
    }
}

fn name(argument: &Argument<'_>, index: usize) -> String {
    argument.c_parameters().get(index).map(|parameter| parameter.name.clone()).unwrap_or_default()
}

/// The length of a string, with its NUL.
fn measured(argument: &Argument<'_>) -> Option<String> {
    let name = name(argument, 0);
    (argument.shape.extent == Extent::Terminated)
        .then(|| format!("\tconst size_t lttng_size_{name} = strlen(lttng_fast_text({name})) + 1;\n"))
}

/// ` + lttng_fast_room(length, 8)`, for what has no fixed size.
fn size(argument: &Argument<'_>) -> String {
    match argument.shape.extent {
        // The NUL is of fixed size.
        Extent::Terminated => format!(" + lttng_size_{} - 1", name(argument, 0)),
        Extent::Counted(_) => {
            format!(" + lttng_fast_room({}, {})", name(argument, 1), argument.shape.element.width.bytes())
        }
        Extent::One | Extent::Fixed(_) => String::new(),
    }
}

fn pack(argument: &Argument<'_>) -> String {
    let (start, length) = (name(argument, 0), name(argument, 1));
    let bytes = argument.shape.element.width.bytes();
    let (before, count) = match argument.shape.extent {
        Extent::Counted(width) => {
            (format!("\tLTTNG_FAST_NUMBER(lttng_end, uint{}_t, {length});\n", width.bits()), length)
        }
        Extent::Fixed(count) => (String::new(), count.to_string()),
        Extent::One | Extent::Terminated => (String::new(), String::new()),
    };
    let value = match (argument.shape.content, argument.shape.extent) {
        (_, Extent::One) => {
            format!("LTTNG_FAST_NUMBER(lttng_end, {}, {start});", argument.shape.element.c_type())
        }
        (_, Extent::Terminated) => {
            format!("lttng_end = lttng_fast_bytes(lttng_end, lttng_fast_text({start}), lttng_size_{start});")
        }
        (Content::Text, _) => format!("lttng_end = lttng_fast_padded(lttng_end, {start}, {count});"),
        _ => format!("lttng_end = lttng_fast_bytes(lttng_end, {start}, {count} * {bytes});"),
    };
    format!("{before}\t{value}\n")
}
