//! What was read.

use std::collections::BTreeSet;

use serde::Serialize;

use ctf_reader::{Damage, Report};

/// What was read, and what is missing from it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TraceFinding {
    /// All events in the window, of groups shown or not.
    pub events: u64,
    /// Events that the tracer discarded because its buffers were full.
    pub discarded_events: u64,
    /// Packets that were overwritten before they were saved.
    pub lost_packets: u64,
    /// The time of the first event: nanoseconds since 1970.
    pub begin_ns: Option<i64>,
    /// The time of the last event.
    pub end_ns: Option<i64>,
    /// The time between them.
    pub length_ns: Option<u64>,
    /// Where clocks ran backwards.
    pub clock_steps: StepsFinding,
    /// The machines that the traces were recorded on, sorted.
    pub hosts: BTreeSet<String>,
    /// What could not be read.
    pub damage: Vec<DamageFinding>,
    /// The host of each trace.
    #[serde(skip)]
    host_of_trace: Vec<Option<String>>,
}

/// How often, and how far, clocks ran backwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StepsFinding {
    /// How often.
    pub count: u64,
    /// The largest step.
    pub largest_ns: u64,
}

/// Something that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DamageFinding {
    /// The file or folder.
    pub path: String,
    /// Where in the file, in bytes, if that is known.
    pub offset: Option<u64>,
    /// What is wrong, in words.
    pub reason: String,
}

impl TraceFinding {
    /// What a report says.
    pub fn new(report: &Report) -> Self {
        let host = |trace: &ctf_reader::Trace| trace.environment("hostname").map(str::to_owned);
        let host_of_trace: Vec<Option<String>> = report.traces.iter().map(host).collect();
        let damage = |damage: &Damage| DamageFinding {
            path: damage.path.to_string_lossy().into_owned(),
            offset: damage.offset,
            reason: damage.reason.clone(),
        };
        let span = report.span.as_ref();
        TraceFinding {
            events: report.events,
            discarded_events: report.discarded_events,
            lost_packets: report.lost_packets,
            begin_ns: span.map(|span| *span.start()),
            end_ns: span.map(|span| *span.end()),
            length_ns: span.map(|span| span.end().abs_diff(*span.start())),
            clock_steps: StepsFinding {
                count: report.clock_steps.count,
                largest_ns: report.clock_steps.largest_ns,
            },
            hosts: host_of_trace.iter().flatten().cloned().collect(),
            damage: report.damage.iter().map(damage).collect(),
            host_of_trace,
        }
    }

    /// Whether events come from more than one machine.
    pub fn has_several_hosts(&self) -> bool {
        self.hosts.len() > 1
    }

    /// The machine that a trace was recorded on, if there is more than one.
    pub(crate) fn host(&self, trace: usize) -> Option<String> {
        self.host_of_trace.get(trace)?.clone().filter(|_| self.has_several_hosts())
    }

    /// The same with another length.
    pub(crate) fn over(&self, length_ns: u64) -> TraceFinding {
        TraceFinding { length_ns: Some(length_ns), ..self.clone() }
    }

    /// The machine that a trace was recorded on, if that was recorded.
    pub(crate) fn recorded_on(&self, trace: usize) -> Option<&str> {
        self.host_of_trace.get(trace)?.as_deref()
    }

    /// An amount for each nanosecond of the trace.
    pub(crate) fn per_ns(&self, amount: f64) -> Option<f64> {
        self.length_ns.filter(|&length| length > 0).map(|length| amount / length as f64)
    }
}
