//! `ltt-parquet`: the traces of any number of hosts as Parquet, with what their events mean, for DuckDB, Spark and others.
//!
//! ```text
//! hosts: which traces are whose ──> coverage: which packets are new ──> events (in time order) ──> rows ─┬─> encode ──> tables
//!                                                                             └──> incidents, histograms ─┘
//! ```

use std::process::ExitCode;

mod agent;
mod agent_config;
mod agent_metrics;
mod checkpoint;
mod chunk;
mod cli;
mod column;
mod compact;
mod coverage;
mod day;
mod delta;
mod encode;
mod escape;
mod export;
mod groups;
mod host_state;
mod hosts;
mod hybrid;
mod incidents;
mod interner;
#[cfg(feature = "man")]
mod man;
mod metadata;
mod plan;
mod prune;
mod refusal;
mod row_group;
mod rows;
mod store;
mod summary;
mod table;
mod tables;
mod text;

use cli::{Action, Options};
use store::Store;
use summary::Outcome;

/// The exit statuses, those of `ltt-top`.
const FAILED: u8 = 1;
const USAGE: u8 = 2;
const DAMAGED: u8 = 3;

fn main() -> ExitCode {
    let options = match cli::parse() {
        Ok(options) => options,
        Err(status) => return ExitCode::from(status),
    };
    match run(options) {
        Ok(Outcome::Complete) => ExitCode::SUCCESS,
        Ok(Outcome::Damaged) => ExitCode::from(DAMAGED),
        Ok(Outcome::Incomplete) => ExitCode::from(FAILED),
        Err(message) => {
            cli::tell(&format!("error: {message}"));
            ExitCode::from(FAILED)
        }
    }
}

fn run(options: Options) -> Result<Outcome, String> {
    match (options.command, options.export) {
        (Some(Action::Prune { tables, keep, grace }), _) => {
            prune::prune(&Store::open_tables(&tables)?, keep, grace).map(|said| cli::tell(&said))?;
        }
        (Some(Action::Compact { tables, grace }), _) => {
            let store = Store::open_tables(&tables)?;
            compact::compact(&store, &day::today(), grace).map(|said| cli::tell(&said))?;
        }
        (Some(Action::Agent { config }), _) => agent::run(&config)?,
        (Some(Action::Completions { shell }), _) => cli::completions(shell)?,
        #[cfg(feature = "man")]
        (Some(Action::Man { folder }), _) => {
            man::write(<Options as clap::CommandFactory>::command(), &folder)
                .map_err(|error| format!("{}: cannot write man pages: {error}", folder.display()))?;
        }
        (None, Some(export)) => return export::run(&export).map(|summary| summary.outcome),
        (None, None) => return Err("nothing to do".into()),
    }
    Ok(Outcome::Complete)
}
