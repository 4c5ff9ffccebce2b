//! What files and processes offer to tracers: plain data for any view.

use serde::Serialize;

/// What a file, or a process with all that it has loaded, offers.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Offer {
    /// The file or the process, as the user named it.
    pub target: String,
    /// The process, if it is one.
    pub pid: Option<u32>,
    /// The number of files that were looked into.
    pub searched: usize,
    /// The files that offer something, the program first.
    pub files: Vec<FileOffer>,
    /// What could not be read.
    pub problems: Vec<String>,
}

/// What one file offers.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FileOffer {
    /// Where the file is.
    pub path: String,
    /// Events of LTTng-UST.
    pub events: Vec<UstEvent>,
    /// USDT probes.
    pub probes: Vec<Probe>,
}

/// An event of an LTTng-UST provider.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UstEvent {
    /// The provider.
    pub provider: String,
    /// The event.
    pub name: String,
    /// The fields, where the file has the provider.
    pub fields: Option<Vec<UstField>>,
    /// The arguments as C has them, where the file has the tracepoint.
    pub signature: Option<String>,
    /// Whether code in this file emits it. A provider without that may belong to code in another file; if it does
    /// not, its events are listed by `lttng list` and never recorded.
    pub has_tracepoint: bool,
    /// Whether a session records it now; unknown for a file.
    pub enabled: Option<bool>,
    /// What a catalog says of it.
    pub said: Option<Said>,
}

/// A field of an event.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UstField {
    /// The name.
    pub name: String,
    /// The type as catalogs spell it.
    #[serde(rename = "type")]
    pub kind: String,
    /// False for a field that only filters see.
    pub recorded: bool,
}

/// A USDT probe.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Probe {
    /// The provider.
    pub provider: String,
    /// The probe.
    pub name: String,
    /// The arguments; at another place in the code they may lie elsewhere.
    pub arguments: Vec<Argument>,
    /// The number of places in the code.
    pub sites: usize,
    /// Whether it can tell if a tracer is attached.
    pub has_semaphore: bool,
    /// The number of tracers attached now; unknown for a file, or without a semaphore.
    pub attached: Option<u16>,
    /// What a catalog says of it.
    pub said: Option<Said>,
}

/// An argument of a probe.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Argument {
    /// `i32`, `u64` and the like; a pointer is a `u64`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Where it is, as an assembler writes it.
    pub operand: String,
}

/// What a catalog says of an event or probe.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Said {
    /// The catalog.
    pub catalog: String,
    /// The event in it.
    pub event: String,
    /// What the event says.
    pub doc: String,
    /// The names of its fields, in the order of a probe's arguments.
    pub fields: Vec<String>,
}
