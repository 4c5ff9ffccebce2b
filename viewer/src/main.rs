//! `ltt-top`: reads the command line, reads the traces, writes what was found.

use std::process::ExitCode;

mod cli;
mod command;
mod compare;
mod events;
mod export;
mod html;
mod invocation;
mod live;
mod man;
mod newest;
mod opening;
mod outcome;
mod output_file;
mod parquet;
mod record;
mod refusal;
mod signals;
mod view;

use ltt_analysis::text::escape;
use outcome::{Outcome, Trouble};
use refusal::Refusal;

/// The exit statuses; `ltt-top --help` documents them.
const FAILED: u8 = 1;
const USAGE: u8 = 2;
const DAMAGED: u8 = 3;
const EXCEEDED: u8 = 4;

fn main() -> ExitCode {
    // Not for users: the process that outlives a recording.
    if std::env::args_os().nth(1).is_some_and(|first| first == record::KEEPER) {
        return record::keep();
    }
    let command = match cli::parse() {
        Ok(command) => command,
        Err(Refusal::Help(help)) => {
            // The pipe may be closed, as in `ltt-top --help | head -1`.
            _ = help.print();
            return ExitCode::SUCCESS;
        }
        Err(Refusal::Wrong(message)) => return complain(&message, USAGE),
    };
    match command::run(&command) {
        Ok(Outcome::Complete) | Err(Trouble::BrokenPipe) => ExitCode::SUCCESS,
        Ok(Outcome::Damaged) => ExitCode::from(DAMAGED),
        Ok(Outcome::Exceeded) => ExitCode::from(EXCEEDED),
        Err(trouble @ Trouble::Usage(_)) => complain(&trouble, USAGE),
        Err(trouble @ Trouble::Failed(_)) => complain(&trouble, FAILED),
    }
}

fn complain(message: &dyn std::fmt::Display, status: u8) -> ExitCode {
    // A message may quote a trace, which is untrusted.
    outcome::tell(&format!("error: {}", escape::text(&message.to_string())));
    ExitCode::from(status)
}
