//! The command line.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::Shell;

use crate::commands;
use crate::man;
use crate::outcome::{Outcome, Trouble};
use crate::refusal::Refusal;

/// Works with catalogs of trace events, and shows what a program offers to tracers.
///
/// A catalog is a TOML file that says which events a program has. Providers for LTTng-UST and documents are
/// made from it, and ltt-top reads traces with it.
#[derive(Debug, Parser)]
#[command(
    name = "lttng-catalog",
    version = env!("VERSION_WITH_COMMIT"),
    disable_help_subcommand = true,
    arg_required_else_help = true,
    max_term_width = 100,
    after_help = "Options: lttng-catalog COMMAND --help. Examples and exit statuses: lttng-catalog --help.",
    after_long_help = EXAMPLES
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Each command has its own options: lttng-catalog COMMAND --help.

Examples:
  lttng-catalog import memcached_dtrace.d --out memcached.toml
      A catalog of the probes that memcached has.
  lttng-catalog import src/trace/trace_commands.h --type robj=u64
      A catalog of the events of an LTTng-UST header; robj is a type that it does not define.
  lttng-catalog check catalog/*.toml
      Validate catalogs; errors have line and column.
  lttng-catalog doc catalog.toml --out events.html
      The events as a page.
  lttng-catalog diff <(git show main:catalog.toml) catalog.toml --fail-on version
      In CI: did a change that readers of traces notice raise the version?
  lttng-catalog c catalog.toml --out src/trace
      Headers and sources for a C program that emits the events, for LTTng-UST and USDT.
  lttng-catalog list $(pidof memcached)
      What can be traced in a running memcached, and who traces it?

Exit status:
  0  success
  1  a file cannot be read or written, or is invalid
  2  the command line is wrong
  3  diff: a reader of traces or a caller notices a change (see --fail-on);
     import: something was left out;
     list: a result was given, but a library or the memory of the process could not be read

Environment:
  COLUMNS  the width of lines; by default that of the terminal, if any";

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Make a catalog from a DTrace provider file or an LTTng-UST header.
    #[command(
        after_help = "Comments become documentation, names and types are kept. A pointer with a length after it \
                      (char *key, int keylen) becomes a text. Of probes that end in __start and __end, __entry and \
                      __return and the like, the second names the first, so that readers show intervals. Without a \
                      comment the documentation is TODO. What a catalog cannot have is left out with a line that \
                      says why, the rest is imported, and the status is 3.\n\nExample:\n  lttng-catalog import memcached_dtrace.d --out memcached.toml"
    )]
    Import(commands::import::Options),
    /// Check catalogs.
    #[command(after_help = "Example:\n  lttng-catalog check catalog/*.toml")]
    Check(commands::check::Options),
    /// Write a document of a catalog, in Markdown or HTML.
    #[command(after_help = "Example:\n  lttng-catalog doc catalog.toml --out events.html")]
    Doc(commands::doc::Options),
    /// Show what changed between two versions of a catalog, and who would notice.
    #[command(
        after_help = "A reader of traces notices what it would no longer find, or would misread. A caller notices \
                      what no longer compiles, or what it would now pass wrongly.\n\n\
                      Example:\n  lttng-catalog diff old.toml new.toml --fail-on version"
    )]
    Diff(commands::diff::Options),
    /// Write headers and sources for C and C++ programs.
    #[command(
        after_help = "The program includes NAME-trace.h, where NAME is the catalog's, and compiles the .c files; \
                      NAME-dtrace.h has macros as `dtrace -h` makes them, and NAME-trace.mk, .cmake and .pc are for make, \
                      CMake and pkg-config. With neither USE_LTTNG nor \
                      USE_USDT defined, every call is empty. Files that would not change are not written, so that \
                      make does not rebuild them.\n\nExample:\n  lttng-catalog c catalog.toml --out src/trace"
    )]
    C(commands::c::Options),
    /// Write a DTrace provider file of a catalog's USDT probes.
    #[command(after_help = "Example:\n  lttng-catalog d memcached.toml --out memcached_dtrace.d")]
    D(commands::probes::ProviderFile),
    /// Write a tapset for SystemTap: an alias for each USDT probe, with named arguments.
    #[command(
        after_help = "Example:\n  lttng-catalog stp memcached.toml --program /usr/bin/memcached --out memcached.stp"
    )]
    Stp(commands::probes::Tapset),
    /// Write a bpftrace script: histograms of durations by group, or a line for each event.
    #[command(
        after_help = "An event with `started-by` is timed from its start in the same thread. bpftrace reads the first six \
                      arguments.\n\nExample:\n  lttng-catalog bpftrace memcached.toml --program /usr/bin/memcached --snoop --out snoop.bt"
    )]
    Bpftrace(commands::probes::Script),
    /// List what a program or a running process offers: LTTng-UST events and USDT probes.
    #[command(
        after_help = "Inspects the program and all its libraries; for a process, those that it has loaded. For a process \
                      it also shows which events a session records and how many tracers are attached to a probe, if \
                      the user may read its memory. SAYS is the catalog's description.\n\n\
                      Examples:\n  lttng-catalog list /usr/bin/memcached\n  lttng-catalog list $(pidof memcached) --format json"
    )]
    List(commands::list::Options),
    /// Write a completion script for a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Write man pages into a folder, one for each command.
    #[command(after_help = "Example:\n  lttng-catalog man ~/.local/share/man/man1")]
    Man {
        /// The folder; it is created if it does not exist.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
}

/// Reads the command line.
pub fn parse() -> Result<Command, Refusal> {
    Ok(Cli::try_parse()?.command)
}

/// Writes a completion script.
pub fn completions(shell: Shell) -> Result<Outcome, Trouble> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "lttng-catalog", &mut script);
    std::io::stdout().lock().write_all(&script)?;
    Ok(Outcome::Fine)
}

/// Writes the man pages.
pub fn man(folder: &Path) -> Result<Outcome, Trouble> {
    man::write(Cli::command(), folder)
        .map(|()| Outcome::Fine)
        .map_err(|error| Trouble::file(folder, "cannot write man pages", &error))
}
