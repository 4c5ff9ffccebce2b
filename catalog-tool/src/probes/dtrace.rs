//! A DTrace provider file, for `dtrace -h` and for tools that read it.

use lttng_catalog::Catalog;
use lttng_catalog::lowered::LowerError;

use super::{arguments, each_event, one_line, origin};

/// The `.d` file of a catalog's probes.
pub fn provider_file(catalog: &Catalog) -> Result<String, LowerError> {
    let mut text = format!("/* {} */\n", origin(catalog));
    let mut open = None;
    each_event(catalog, |provider, event| {
        if open.as_deref() != Some(provider) {
            let end = if open.is_some() { "};\n" } else { "" };
            text.push_str(&format!("{end}\nprovider {provider} {{\n"));
            open = Some(provider.to_owned());
        }
        let declared: Vec<String> =
            arguments(event).iter().map(|argument| format!("{}{}", argument.kind, argument.name)).collect();
        let name = &event.source.name;
        if event.probe.has_start {
            text.push_str(&format!("\t/* Where `{name}` begins. */\n\tprobe {name}__start();\n"));
        }
        let doc = one_line(&event.source.doc);
        text.push_str(&format!("\t/* {doc} */\n\tprobe {name}({});\n", declared.join(", ")));
    })?;
    text.push_str("};\n");
    Ok(text)
}
