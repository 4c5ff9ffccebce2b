//! The function that emits an event for C: packs it on the stack, and writes it to every session.

use lttng_catalog::lowered::{Argument, CParameter, Event, PACKED_MAX, Packing, PackingKind, Shape};

/// The part of the function that is for LTTng-UST.
pub(super) fn record(event: &Event<'_>) -> String {
    let symbol = &event.symbol;
    let capacity = event.fixed_capacity().unwrap_or(PACKED_MAX.into());
    let parameters = event.sized_c_parameters();
    let each = || event.arguments.iter().zip(&parameters);
    let sizes: String = each().map(|(argument, p)| size(&argument.packing(), p)).collect();
    let packs: String = each().map(|(argument, p)| pack(argument, p)).collect();
    let parts: String = each().map(|(argument, p)| format!("\t\t\t{},\n", part(argument, p))).collect();
    let parts = if parts.is_empty() { "\t\t\t{ 0 },\n".to_owned() } else { parts };
    format!(
        "\tchar lttng_packed[{room}];
\tchar *lttng_end = lttng_packed;
\tconst char *lttng_payload = lttng_packed;
\tstruct lttng_provider_rest lttng_rest;

\tif ({fixed}{sizes} <= {capacity}) {{
{packs}\t}} else {{
\t\tlttng_payload = NULL;
\t}}
\tlttng_rest = lttng_provider_record(&lttng_ust_tracepoint_{symbol}, lttng_provider_event_{symbol}.probe,
\t\tlttng_payload, (size_t) (lttng_end - lttng_packed), __builtin_return_address(0));
\tif (caa_unlikely(lttng_rest.probe)) {{
\t\tconst struct lttng_provider_part lttng_parts[] = {{
{parts}\t\t}};

\t\tlttng_provider_deliver(&lttng_provider_event_{symbol}, lttng_rest,
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
        let most = match &argument.shape {
            Shape::Text { length } if length.bits() <= 16 => format!("UINT{}_MAX", length.bits()),
            Shape::Text { .. } => "LTTNG_APPLICATION_TEXT_MAX".to_owned(),
            Shape::Characters { count } => count.to_string(),
            Shape::Stack => return None,
            Shape::Sequence { length, .. } if length.bits() < 64 => format!("UINT{}_MAX", length.bits()),
            _ => return None,
        };
        Some(format!("\t{name} = lttng_provider_least({name}, {most});\n"))
    });
    each.collect()
}

/// ` + lttng_provider_room(length, 8)`, for what has no fixed size.
fn size(packing: &Packing, parameters: &[CParameter]) -> String {
    match (packing.varies(), parameters) {
        (true, [_, length]) => format!(" + lttng_provider_room({}, {})", length.name, packing.size),
        _ => String::new(),
    }
}

fn pack(argument: &Argument<'_>, parameters: &[CParameter]) -> String {
    let packing = argument.packing();
    if !packing.recorded {
        return String::new();
    }
    let name = &parameters[0].name;
    let length = parameters.get(1).map(|parameter| parameter.name.as_str()).unwrap_or_default();
    let before = match packing.length_size {
        0 => String::new(),
        size => format!("\t\tlttng_end = lttng_provider_pack_number(lttng_end, {length}, {size});\n"),
    };
    let (size, count) = (packing.size, packing.count);
    let value = match packing.kind {
        PackingKind::Number => match argument.number() {
            Some(number) if number.swapped => {
                let bits = 8 * number.size;
                format!("LTTNG_PROVIDER_PACK(lttng_end, uint{bits}_t, htobe{bits}((uint{bits}_t) {name}));")
            }
            number => {
                let kind = number.map_or("uint64_t", |number| number.c_type);
                format!("LTTNG_PROVIDER_PACK(lttng_end, {kind}, {name});")
            }
        },
        PackingKind::String => {
            format!("lttng_end = lttng_provider_pack_string(lttng_end, {name}, {length});")
        }
        PackingKind::Text => {
            format!("lttng_end = lttng_provider_pack_text(lttng_end, {name}, {length}, {length});")
        }
        PackingKind::Characters => {
            format!("lttng_end = lttng_provider_pack_text(lttng_end, {name}, {length}, {count});")
        }
        PackingKind::Array => {
            format!(
                "lttng_end = lttng_provider_pack_list(lttng_end, {name}, {count}, {size}, {});",
                packing.swapped
            )
        }
        PackingKind::Sequence => {
            format!(
                "lttng_end = lttng_provider_pack_list(lttng_end, {name}, {length}, {size}, {});",
                packing.swapped
            )
        }
    };
    format!("{before}\t\t{value}\n")
}

/// The value where packed bytes are not enough.
fn part(argument: &Argument<'_>, parameters: &[CParameter]) -> String {
    let name = &parameters[0].name;
    match (argument.number(), argument.packing().count, parameters) {
        (Some(number), ..) if number.is_float() => {
            format!("{{ .value = lttng_provider_bits_of_{}({name}) }}", number.c_type)
        }
        (Some(_), ..) => format!("{{ .value = (uint64_t) {name} }}"),
        (None, _, [_, length]) => format!("{{ .start = {name}, .length = {} }}", length.name),
        (None, count, _) => format!("{{ .start = {name}, .length = {count} }}"),
    }
}
