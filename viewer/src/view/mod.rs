//! Views for people and for programs: each renders a [`Finding`](ltt_analysis::Finding) and computes nothing.
//!
//! ```text
//!  Finding, with its notes ──> output (the trait) ──> table/ · markdown · json · csv, listed below
//!  events, as they are read ─> events/: a form for each format
//!  live findings ────────────> live/: the full screen
//!  timelines, in parts ──────> export/: files for other programs
//!  what a gate refused ──────> gate: JUnit's XML, GitHub's annotations
//!  an overview ──────────────> report/: a page for a browser
//! ```

mod csv;
pub mod events;
pub mod export;
pub mod gate;
mod json;
pub mod live;
mod markdown;
mod notes;
mod output;
pub mod progress;
pub mod report;
mod screen;
mod sheet;
mod table;
pub mod width;

pub use notes::warnings;
pub use output::{EventStream, Format, Output};
pub use screen::Screen;
pub use table::HEAT_GUTTER;

/// The formats, the default first. A new one is a file with an [`Output`], and an entry here.
pub const FORMATS: &[Format] = &[
    Format { name: "table", about: "For people", is_for_people: true, output: table::output },
    Format {
        name: "json",
        about: "For programs; the keys are stable",
        is_for_people: false,
        output: json::output,
    },
    Format { name: "markdown", about: "For tickets", is_for_people: true, output: markdown::output },
    Format { name: "html", about: "For browsers", is_for_people: true, output: report::output },
    Format { name: "csv", about: "For spreadsheets", is_for_people: false, output: csv::output },
];
