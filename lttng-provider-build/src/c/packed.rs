//! Events with strings, packed into one buffer and recorded with one write.
//!
//! Strings from Rust must be copied in any case, to get a NUL. Copied to where they lie in a trace, with the other
//! fields around them, they need not be measured and copied one by one again: the event then costs less than with
//! LTTng-UST's probe, which remains for filters, triggers and several sessions.

use lttng_catalog::{ByteOrder, Event, Field, FieldType};

use super::list;
use crate::generate::Source;

/// Whether an event is worth it, and made only of what is recorded as it stands.
pub(super) fn applies(event: &Event) -> bool {
    let plain = |field: &Field| match &field.kind {
        FieldType::Integer(integer) => integer.order == ByteOrder::Native,
        // Recorded as a byte, which a C `bool` is on every platform of LTTng.
        FieldType::Float | FieldType::Double | FieldType::Bool | FieldType::Enum(_) | FieldType::String => {
            true
        }
        _ => false,
    };
    event.fields.iter().all(|field| field.recorded && plain(field)) && event.fields.iter().any(is_string)
}

pub(super) fn body(source: &Source<'_>, event: &Event) -> String {
    let (provider, name) = (&source.lttng_name, &event.name);
    let class = event.class.as_ref().unwrap_or(name);
    let mut sizes = String::new();
    let mut packing = String::new();
    let mut terms = Vec::new();
    let mut arguments = vec![provider.clone(), name.clone()];
    for field in &event.fields {
        let argument = &field.argument;
        if is_string(field) {
            let (local, size) = (format!("lttng_string_{argument}"), format!("lttng_size_{argument}"));
            sizes.push_str(&format!("\tsize_t {size} = lttng_provider_string_size({argument});\n"));
            packing.push_str(&format!(
                "\tconst char *{local} = lttng_end;\n\
                 \tlttng_end = lttng_provider_pack_string(lttng_end, {argument}, {size});\n"
            ));
            terms.push(size);
            arguments.push(local);
        } else {
            packing.push_str(&format!("\tlttng_end = lttng_provider_pack(lttng_end, {argument});\n"));
            terms.push(format!("sizeof({argument})"));
            arguments.push(argument.clone());
        }
    }
    let total = terms.join(if terms.len() > 4 { "\n\t\t+ " } else { " + " });
    let call = list("\t\t", "lttng_ust_do_tracepoint(", &arguments, ");");
    format!(
        "{sizes}\tchar *lttng_payload = alloca({total});
\tchar *lttng_end = lttng_payload;

{packing}
\tif (!LTTNG_PROVIDER_RECORD({provider}, {name}, {class}, lttng_payload, lttng_end))
{call}
"
    )
}

fn is_string(field: &Field) -> bool {
    field.kind == FieldType::String
}
