//! The program `ltt-top`, run as its users run it.

mod angles;
mod archives;
mod bounds;
#[path = "../../../ctf/tests/support/case.rs"]
mod case;
mod compare;
mod csv;
mod damage;
mod defaults;
mod events;
mod export;
mod figures;
mod handwritten;
mod help;
mod hints;
mod hosts;
mod html;
mod incidents;
mod install;
mod instructions;
mod kernel_events;
mod output;
mod perfetto;
mod prefix;
mod recorded;
mod refused;
mod report;
pub mod run;
mod scheduling;
pub mod schema;
#[path = "../../../ctf/tests/support/shared_trace.rs"]
mod shared_trace;
mod speedscope;
mod stacks;
mod timeline;
mod usage;
mod valkey;
mod verdicts;
mod verdicts_in_context;
