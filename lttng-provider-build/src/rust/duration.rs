//! What only events with a duration have: ways to measure, and `DurationEvent`.

use lttng_catalog::{Field, Unit};

use super::arguments::{Argument, lent_parameters, lifetime};
use super::context::Context;
use super::doc;
use super::layout::{indent, list};

/// The variant of `lttng_provider::Unit`, for a unit of time.
pub(super) fn unit_name(unit: Unit) -> Option<String> {
    unit.nanoseconds().map(|_| format!("{unit:?}"))
}

/// An event that has a duration.
pub(super) struct Duration<'c> {
    context: &'c Context<'c>,
    /// The index of the duration among the arguments.
    index: usize,
    unit: String,
}

impl<'c> Duration<'c> {
    /// `None` for an event without a duration in a unit of time.
    pub(super) fn of(context: &'c Context<'c>) -> Option<Self> {
        let lttng_catalog::lowered::Duration { index, unit } = context.event.duration?;
        let unit = unit_name(unit)?;
        Some(Duration { context, index, unit })
    }

    /// The arguments besides the duration, with their fields.
    fn details(&self) -> impl Iterator<Item = (&Argument, &Field)> {
        let fields = self.context.event.arguments.iter().map(|argument| argument.field);
        let all = self.context.arguments.iter().zip(fields).enumerate();
        all.filter(|(index, (a, _))| *index != self.index && a.is_passed).map(|(_, both)| both)
    }

    fn has_details(&self) -> bool {
        self.details().next().is_some()
    }

    /// The type of the details, e.g. `CommandCallDetails<'a>`.
    fn details_type(&self) -> String {
        if !self.has_details() {
            return "lttng_provider::NoDetails".to_owned();
        }
        format!("{}{}", self.context.event.source.details_name(), self.details_lifetime())
    }

    fn details_lifetime(&self) -> &'static str {
        lifetime(self.details().map(|(argument, _)| argument))
    }

    /// Functions of the event's type that measure.
    pub(super) fn functions(&self) -> String {
        let start = "
    /// Begins to measure if the event is enabled; does not read the clock otherwise.
    #[inline(always)]
    pub fn start() -> lttng_provider::Stopwatch<Self> {
        lttng_provider::Stopwatch::start()
    }
";
        if !self.has_details() {
            return format!(
                "{start}
    /// Measures until the guard is dropped, and emits the event then; does not read the clock unless the
    /// event is enabled now.
    #[inline(always)]
    pub fn guard() -> lttng_provider::Guard<Self> {{
        lttng_provider::Guard::start()
    }}

    /// Does the work, and emits the event with the time that it took; does not read the clock unless the
    /// event is enabled now.
    #[inline(always)]
    pub fn timed<R>(work: impl FnOnce() -> R) -> R {{
        let _guard = Self::guard();
        work()
    }}
"
            );
        }
        let details: Vec<_> = self.details().map(|(argument, _)| argument).collect();
        let field = |a: &&Argument| match a.to_field == a.name {
            true => a.name.clone(),
            false => format!("{}: {}", a.name, a.to_field),
        };
        let fields: Vec<_> = details.iter().map(field).collect();
        format!(
            "{start}
    /// What is recorded besides the duration, for [`Stopwatch::finish`](lttng_provider::Stopwatch::finish).
    #[inline(always)]
{signature}
        {name} {{ {fields} }}
    }}
",
            signature = list(
                "    ",
                &format!("pub fn details{}(", self.details_lifetime()),
                &lent_parameters(details.iter().copied()),
                &format!(") -> {} {{", self.details_type()),
            ),
            name = self.context.event.source.details_name(),
            fields = fields.join(", ")
        )
    }

    /// The struct of the details, if there are any, and `DurationEvent` for the event's type.
    pub(super) fn items(&self) -> String {
        let name = &self.context.event.rust_name;
        let mut text = String::new();
        if self.has_details() {
            let fields: String = self
                .details()
                .map(|(argument, field)| {
                    let doc = doc::comment(&field.doc, &format!("Recorded as `{}`.", field.name));
                    format!("{doc}pub {}: {},\n", argument.name, argument.field)
                })
                .collect();
            text = format!(
                "/// What [`{name}`] records besides the duration.\n#[derive(Clone, Copy, Debug)]\npub struct {} {{\n{}}}\n\n",
                self.details_type(),
                indent(&fields)
            );
        }
        let arguments: Vec<_> = self
            .context
            .arguments
            .iter()
            .enumerate()
            .filter(|(_, a)| a.is_passed)
            .map(|(index, a)| if index == self.index { self.count() } else { format!("details.{}", a.name) })
            .collect();
        let details = if self.has_details() { "details" } else { "_" };
        text.push_str(&format!(
            "impl lttng_provider::DurationEvent for {name} {{
    const UNIT: lttng_provider::Unit = lttng_provider::Unit::{unit};

    type Details<'a> = {kind};
{begin}
    #[inline(always)]
    fn record_duration(duration: ::core::time::Duration, {details}: Self::Details<'_>) {{
{record}
    }}
}}
",
            unit = self.unit,
            kind = self.details_type(),
            begin = self.begin(),
            record = list("        ", &format!("{name}::record("), &arguments, ");"),
        ));
        text
    }

    /// Fires the probe where a measurement begins, if there is one.
    fn begin(&self) -> String {
        let event = self.context.event;
        if !(self.context.back_ends.usdt && event.probe.has_start) {
            return String::new();
        }
        format!(
            "
    #[inline(always)]
    fn begin() {{
        lttng_provider::__private::start_probe!({});
    }}
",
            event.start_function()
        )
    }

    /// The duration as a number of the recorded type.
    fn count(&self) -> String {
        let count = "Self::UNIT.count(duration)";
        match self.context.arguments[self.index].field.as_str() {
            "u64" => count.to_owned(),
            integer => format!("{count}.try_into().unwrap_or({integer}::MAX)"),
        }
    }
}
