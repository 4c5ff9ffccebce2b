//! `lttng-catalog`: parses the command line, runs the command, and reports the outcome.

use std::process::ExitCode;

mod cli;
mod commands;
mod files;
mod man;
mod outcome;
mod output;
mod refusal;

use cli::Command;
use outcome::{Outcome, Trouble};
use refusal::Refusal;

/// The exit statuses; `lttng-catalog --help` documents them.
const FAILED: u8 = 1;
const USAGE: u8 = 2;
const NOTICED: u8 = 3;

fn main() -> ExitCode {
    let command = match cli::parse() {
        Ok(command) => command,
        Err(Refusal::Help(help)) => {
            // The reader may be gone, as in `lttng-catalog --help | head -1`.
            _ = help.print();
            return ExitCode::SUCCESS;
        }
        Err(Refusal::Wrong(message)) => {
            outcome::complain(&message);
            return ExitCode::from(USAGE);
        }
    };
    let ended = match command {
        Command::C(options) => commands::c::run(&options),
        Command::Check(options) => commands::check::run(&options),
        Command::D(options) => commands::probes::provider_file(&options),
        Command::Stp(options) => commands::probes::tapset(&options),
        Command::Bpftrace(options) => commands::probes::script(&options),
        Command::Doc(options) => commands::doc::run(&options),
        Command::Diff(options) => commands::diff::run(&options),
        Command::Import(options) => commands::import::run(&options),
        Command::List(options) => commands::list::run(&options),
        Command::Completions { shell } => cli::completions(shell),
        Command::Man { folder } => cli::man(&folder),
    };
    match ended {
        Ok(Outcome::Fine) | Err(Trouble::BrokenPipe) => ExitCode::SUCCESS,
        Ok(Outcome::Noticed) => ExitCode::from(NOTICED),
        Err(Trouble::Failed(message)) => {
            outcome::complain(&message);
            ExitCode::from(FAILED)
        }
    }
}
