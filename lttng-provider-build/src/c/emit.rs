//! The function that emits an event for C: packs it on the stack, and writes it to every session.

use lttng_catalog::lowered::{Argument, CParameter, Event, PACKED_MAX};
use lttng_catalog::{Content, Extent};

/// The part of the function that is for LTTng-UST.
pub(super) fn record(event: &Event<'_>) -> String {
    let symbol = &event.symbol;
    let capacity = event.fixed_capacity().unwrap_or(PACKED_MAX.into());
    let parameters = event.sized_c_parameters();
    let each = || event.arguments.iter().zip(&parameters);
    let sizes: String = each().map(|(argument, p)| size(argument, p)).collect();
    let packs: String = each().map(|(argument, p)| pack(argument, p)).collect();
    let parts: String = each().map(|(argument, p)| format!("\t\t\t{},\n", part(argument, p))).collect();
    let parts = if parts.is_empty() { "\t\t\t{ 0, NULL, 0 },\n".to_owned() } else { parts };
    format!(
        "\tchar lttng_packed[{room}];
\tchar *lttng_end = lttng_packed;
\tconst char *lttng_payload = NULL;
\tstruct lttng_provider_rest lttng_rest = {{ __builtin_return_address(0), NULL }};

\tif ({fixed}{sizes} <= {capacity}) {{
{packs}\t\tlttng_payload = lttng_packed;
\t\tlttng_rest = lttng_provider_record(&lttng_ust_tracepoint_{symbol}, &lttng_provider_event_{symbol},
\t\t\tlttng_payload, (size_t) (lttng_end - lttng_packed), NULL, lttng_rest.ip);
\t}}
\tif (caa_unlikely(!lttng_payload || lttng_rest.probe)) {{
\t\tconst struct lttng_provider_part lttng_parts[] = {{
{parts}\t\t}};

\t\tlttng_provider_continue(&lttng_ust_tracepoint_{symbol}, &lttng_provider_event_{symbol}, lttng_rest,
\t\t\tlttng_payload, (size_t) (lttng_end - lttng_packed), lttng_parts);
\t}}
",
        room = capacity.max(1),
        fixed = event.fixed_size(),
    )
}

/// Limits lengths to what can be recorded; more elements than the recorded length can count would make the rest of a
/// packet unreadable.
pub(super) fn limits(event: &Event<'_>) -> String {
    let parameters = event.sized_c_parameters();
    let each = event.arguments.iter().zip(&parameters).filter_map(|(argument, parameters)| {
        let name = &parameters.get(1)?.name;
        let most = match (argument.shape.content, argument.shape.extent) {
            (Content::Stack, _) => return None,
            (Content::Text, Extent::Fixed(count)) => count.to_string(),
            (Content::Text, Extent::Counted(length)) if length.bits() > 16 => {
                "LTTNG_APPLICATION_TEXT_MAX".to_owned()
            }
            (_, Extent::Counted(length)) if length.bits() < 64 => format!("UINT{}_MAX", length.bits()),
            (_, Extent::Counted(_)) if argument.field.signed_length => "SIZE_MAX".to_owned(),
            _ => return None,
        };
        // What is negative where it comes from would be huge here.
        let negative = format!("(ssize_t) {name} < 0 ? 0 : ");
        let negative = if argument.field.signed_length { &negative } else { "" };
        Some(format!("\t{name} = {negative}lttng_provider_least({name}, {most});\n"))
    });
    each.collect()
}

/// ` + lttng_provider_room(length, 8)`, for what has no fixed size.
fn size(argument: &Argument<'_>, parameters: &[CParameter]) -> String {
    match (argument.varies(), parameters) {
        (true, [_, length]) => {
            format!(" + lttng_provider_room({}, {})", length.name, argument.shape.element.width.bytes())
        }
        _ => String::new(),
    }
}

fn pack(argument: &Argument<'_>, parameters: &[CParameter]) -> String {
    if !argument.recorded() {
        return String::new();
    }
    let element = argument.shape.element;
    let name = &parameters[0].name;
    let length = parameters.get(1).map(|parameter| parameter.name.as_str()).unwrap_or_default();
    let (before, count) = match argument.shape.extent {
        Extent::Counted(width) => {
            let size = width.bytes();
            let before =
                format!("\t\tlttng_end = lttng_provider_pack_number(lttng_end, {length}, {size});\n");
            (before, length.to_owned())
        }
        Extent::Fixed(count) => (String::new(), count.to_string()),
        Extent::One | Extent::Terminated => (String::new(), String::new()),
    };
    let value = match (argument.shape.content, argument.shape.extent) {
        (_, Extent::One) if argument.is_swapped() => {
            let bits = element.width.bits();
            format!("LTTNG_PROVIDER_PACK(lttng_end, uint{bits}_t, htobe{bits}((uint{bits}_t) {name}));")
        }
        (_, Extent::One) => format!("LTTNG_PROVIDER_PACK(lttng_end, {}, {name});", element.c_type()),
        (_, Extent::Terminated) => {
            format!("lttng_end = lttng_provider_pack_string(lttng_end, {name}, {length});")
        }
        (Content::Text, _) => {
            format!("lttng_end = lttng_provider_pack_text(lttng_end, {name}, {length}, {count});")
        }
        _ => format!(
            "lttng_end = lttng_provider_pack_list(lttng_end, {name}, {count}, {}, {});",
            element.width.bytes(),
            argument.is_swapped()
        ),
    };
    format!("{before}\t\t{value}\n")
}

/// The value where packed bytes are not enough.
fn part(argument: &Argument<'_>, parameters: &[CParameter]) -> String {
    let name = &parameters[0].name;
    match (argument.shape.extent, parameters) {
        (Extent::One, _) if argument.shape.is_float() => {
            format!("{{ lttng_provider_bits_of_{}({name}), NULL, 0 }}", argument.shape.element.c_type())
        }
        (Extent::One, _) => format!("{{ (uint64_t) {name}, NULL, 0 }}"),
        (_, [_, length]) => format!("{{ 0, {name}, {} }}", length.name),
        (Extent::Fixed(count), _) => format!("{{ 0, {name}, {count} }}"),
        _ => format!("{{ 0, {name}, 0 }}"),
    }
}
