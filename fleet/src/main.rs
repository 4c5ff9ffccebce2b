//! `ltt-parquet`: the traces of any number of hosts as Parquet, with what their events mean, for DuckDB, Spark and others.
//!
//! ```text
//! hosts: which traces are whose ──> events (in time order) ──> rows ──┬─> encode ──> folder: three tables
//!                                         └──> incidents, histograms ─┘
//! ```

use std::process::ExitCode;

mod chunk;
mod cli;
mod column;
mod encode;
mod export;
mod folder;
mod groups;
mod hosts;
mod hybrid;
mod incidents;
mod interner;
mod man;
mod metadata;
mod plan;
mod row_group;
mod rows;
mod table;
mod text;

use export::Outcome;

/// The exit statuses, those of `ltt-top`.
const FAILED: u8 = 1;
const USAGE: u8 = 2;
const DAMAGED: u8 = 3;

fn main() -> ExitCode {
    let options = match cli::parse() {
        Ok(options) => options,
        Err(status) => return ExitCode::from(status),
    };
    match export::run(&options) {
        Ok(Outcome::Complete) => ExitCode::SUCCESS,
        Ok(Outcome::Damaged) => ExitCode::from(DAMAGED),
        Ok(Outcome::Incomplete) => ExitCode::from(FAILED),
        Err(message) => {
            cli::tell(&format!("error: {message}"));
            ExitCode::from(FAILED)
        }
    }
}
