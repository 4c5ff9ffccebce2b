//! Events, lowered.

use crate::{Extent, identifier};

use super::argument::{Argument, CParameter, Source};
use super::probe::Probe;

/// The largest event that is packed on the stack, in bytes; larger ones are written piece by piece.
pub const PACKED_MAX: u32 = 1536;

/// The largest event that is packed in the frame of the function that emits it, which it makes larger whether or not a
/// session records. Others are packed by a function that is called while one does.
const INLINE_MAX: u64 = 48;

/// An event.
#[derive(Clone, Debug, PartialEq)]
pub struct Event<'c> {
    /// The event in the catalog.
    pub source: &'c crate::Event,
    /// The name of the type in Rust.
    pub rust_name: String,
    /// The ending of all its C symbols: `valkey_db___expire_del`.
    pub symbol: String,
    /// The stem of its names in C: `valkey_db_expire_del`.
    pub c_name: String,
    /// Where LTTng's macros declare its fields: a class, or the event itself.
    pub class: &'c str,
    /// The arguments, in the order on the wire.
    pub arguments: Vec<Argument<'c>>,
    /// The duration, if the event has one in a unit of time.
    pub duration: Option<Duration>,
    /// The event as a USDT probe.
    pub probe: Probe,
}

/// The duration of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Duration {
    /// Its index among the arguments.
    pub index: usize,
    /// The unit that it is recorded in.
    pub unit: crate::Unit,
}

impl<'c> Event<'c> {
    pub(crate) fn lower(provider: &str, source: &'c crate::Event, arguments: Vec<Argument<'c>>) -> Event<'c> {
        let name = &source.name;
        let duration = source.meaning.duration.as_ref().and_then(|duration| {
            let index = arguments.iter().position(|argument| argument.field.name == *duration)?;
            Some(Duration { index, unit: arguments[index].time_unit()? })
        });
        Event {
            source,
            rust_name: identifier(name),
            symbol: format!("{provider}___{name}"),
            c_name: format!("{provider}_{name}"),
            class: source.class.as_ref().unwrap_or(name),
            probe: Probe::lower(source, &arguments),
            arguments,
            duration,
        }
    }

    /// The arguments that an application passes.
    pub fn passed(&self) -> impl Iterator<Item = &Argument<'c>> {
        self.arguments.iter().filter(|argument| argument.is_passed())
    }

    /// Whether return addresses are taken.
    pub fn has_stack(&self) -> bool {
        self.passed().count() < self.arguments.len()
    }

    /// The symbol of LTTng's tracepoint.
    pub fn tracepoint(&self) -> String {
        format!("lttng_ust_tracepoint_{}", self.symbol)
    }

    /// The symbol of the function that writes packed bytes for Rust.
    pub fn record_function(&self) -> String {
        format!("lttng_provider_record_{}", self.symbol)
    }

    /// The symbol of the function that delivers what packed bytes are not enough for.
    pub fn deliver_function(&self) -> String {
        format!("lttng_provider_deliver_{}", self.symbol)
    }

    /// The symbol of the function at whose start the USDT probe is.
    pub fn probe_function(&self) -> String {
        format!("lttng_provider_usdt_{}", self.symbol)
    }

    /// The symbol of the function at whose start the probe for the beginning is.
    pub fn start_function(&self) -> String {
        format!("lttng_provider_usdt_start_{}", self.symbol)
    }

    /// The symbol of the semaphore of the USDT probe, where LTTng's tracepoint has no room for it.
    pub fn semaphore(&self) -> String {
        format!("lttng_provider_semaphore_{}", self.symbol)
    }

    /// The parameters of each argument: as LTTng's macros have them, and with the length of every text.
    pub fn sized_c_parameters(&self) -> Vec<Vec<CParameter>> {
        let mut all: Vec<_> = self.arguments.iter().map(Argument::c_parameters).collect();
        let mut taken: Vec<String> = all.iter().flatten().map(|parameter| parameter.name.clone()).collect();
        for (argument, parameters) in self.arguments.iter().zip(&mut all) {
            if argument.is_text() && parameters.len() == 1 {
                let mut name = format!("{}_length", argument.field.argument);
                while taken.contains(&name) {
                    name.push('_');
                }
                taken.push(name.clone());
                parameters.push(CParameter { kind: "size_t".to_owned(), name, source: Source::Length });
            }
        }
        all
    }

    /// The bytes that the packed event takes, if they are always the same and fit on the stack.
    pub fn fixed_capacity(&self) -> Option<u64> {
        let size = self.fixed_size();
        let varies = self.arguments.iter().any(Argument::varies);
        (size <= u64::from(PACKED_MAX) && !varies).then_some(size)
    }

    /// Whether all values are numbers, and recorded.
    pub fn is_numbers(&self) -> bool {
        self.arguments.iter().all(|argument| argument.recorded() && argument.shape.extent == Extent::One)
    }

    /// The bytes that the packed event takes, if it is packed in the frame of the function that emits it.
    pub fn inline_size(&self) -> Option<u64> {
        (self.is_numbers() && self.fixed_size() <= INLINE_MAX).then(|| self.fixed_size())
    }

    /// The bytes that the event takes for any values.
    pub fn fixed_size(&self) -> u64 {
        self.arguments.iter().map(Argument::fixed_size).sum()
    }
}
