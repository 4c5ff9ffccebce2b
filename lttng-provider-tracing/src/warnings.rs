//! Warnings: each once, and not more than a few altogether.

use std::fmt;
use std::io::{self, Write};
use std::sync::atomic::{AtomicU32, Ordering};

use tracing_core::Metadata;

use crate::generated::Event;

/// The warnings of a layer that are given; a thousand call sites with one mistake are one mistake.
const MAX: u32 = 32;

/// Where warnings go.
pub(crate) struct Warnings {
    handler: Box<dyn Fn(&str) + Send + Sync>,
    given: AtomicU32,
}

/// The field of an event that does not get what it records, and from where.
pub(crate) struct Place<'a> {
    pub(crate) metadata: &'a Metadata<'a>,
    pub(crate) event: &'a Event,
    pub(crate) field: &'static str,
}

impl fmt::Debug for Warnings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Warnings").field("given", &self.given).finish_non_exhaustive()
    }
}

impl Warnings {
    pub(crate) fn new(handler: Box<dyn Fn(&str) + Send + Sync>) -> Warnings {
        Warnings { handler, given: AtomicU32::new(0) }
    }

    pub(crate) fn to_standard_error() -> Warnings {
        // Not `eprintln!`, which panics where nothing can be written.
        Warnings::new(Box::new(|warning| {
            let _ = writeln!(io::stderr(), "{warning}");
        }))
    }

    pub(crate) fn missing_field(&self, place: &Place<'_>) {
        let fields: Vec<_> =
            place.metadata.fields().iter().map(|field| format!("`{}`", field.name())).collect();
        let has = match &fields[..] {
            [] => "it has no fields".to_owned(),
            fields => format!("it has {}", fields.join(", ")),
        };
        self.warn(place, format_args!(
            "no such field ({has}), so 0 or nothing is recorded; add the field, or remove it from the catalog"
        ));
    }

    pub(crate) fn list(&self, place: &Place<'_>) {
        self.warn(
            place,
            format_args!(
                "`tracing` has no lists, so zeros or nothing is recorded; make it a `string` in the catalog"
            ),
        );
    }

    pub(crate) fn wrong_type(&self, place: &Place<'_>) {
        self.warn(place, format_args!(
            "a value is not of the catalog's type, so 0 or nothing is recorded; change the type in the catalog, for example \
             to `string`"
        ));
    }

    pub(crate) fn out_of_range(&self, place: &Place<'_>, min: i128, max: i128) {
        self.warn(place, format_args!(
            "a value is not between {min} and {max}, so the nearest limit is recorded; use a wider type in the catalog"
        ));
    }

    pub(crate) fn panicked(&self, place: &Place<'_>) {
        self.warn(place, format_args!(
            "formatting a value panicked, so only what it had written is recorded; fix its `Debug` or `Display` impl"
        ));
    }

    fn warn(&self, place: &Place<'_>, problem: fmt::Arguments<'_>) {
        let given = self.given.fetch_add(1, Ordering::Relaxed);
        if given == MAX {
            (self.handler)("lttng-provider-tracing: further warnings are not shown");
        }
        if given >= MAX {
            // Not to count on until the number wraps.
            self.given.store(MAX + 1, Ordering::Relaxed);
            return;
        }
        let Place { metadata, event, field } = place;
        let file = metadata.file().unwrap_or_else(|| metadata.target());
        let line = metadata.line().unwrap_or_default();
        let what = if metadata.is_span() { "span" } else { "event" };
        (self.handler)(&format!(
            "lttng-provider-tracing: {file}:{line}: field `{field}` of `{}:{}` from the {what} `{}`: {problem}",
            event.provider,
            event.name,
            metadata.name(),
        ));
    }
}
