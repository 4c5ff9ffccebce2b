//! What catalogs say of the events and probes that were found.

use lttng_catalog::{Catalog, Event, FieldType};

use super::model::{Offer, Said};

/// The last words of probes that a catalog may have as one event.
const ENDS: &[&str] = &["start", "end", "begin", "done", "stop", "entry", "return", "enter", "exit"];

/// Fills in what the first catalog that knows an event says of it.
pub fn explain(offer: &mut Offer, catalogs: &[Catalog]) {
    for file in &mut offer.files {
        for event in &mut file.events {
            event.said = said(catalogs, &event.provider, &event.name);
        }
        for probe in &mut file.probes {
            probe.said = said(catalogs, &probe.provider, &probe.name).or_else(|| {
                let (base, _) = ENDS.iter().find_map(|end| Some((probe.name.strip_suffix(end)?, end)))?;
                said(catalogs, &probe.provider, base.strip_suffix("__").or_else(|| base.strip_suffix('_'))?)
            });
        }
    }
}

fn said(catalogs: &[Catalog], provider: &str, name: &str) -> Option<Said> {
    catalogs.iter().find_map(|catalog| {
        let event = catalog.event(provider, name)?;
        Some(Said {
            catalog: catalog.name.clone(),
            event: format!("{provider}:{name}"),
            doc: event.doc.split_whitespace().collect::<Vec<_>>().join(" "),
            fields: arguments(event),
        })
    })
}

/// The names of the arguments as a probe passes them: a length comes after what it is the length of.
fn arguments(event: &Event) -> Vec<String> {
    let mut names = Vec::new();
    for field in &event.fields {
        names.push(field.name.clone());
        if field.length_name().is_some() && field.kind != FieldType::Stack {
            names.push(format!("{}_length", field.name));
        }
    }
    names
}
