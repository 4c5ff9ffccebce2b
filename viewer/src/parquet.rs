//! `ltt-top export --to parquet`: hands over to `ltt-parquet`, so that only those who need it pay for it.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use crate::cli::{Common, ExportOptions};
use crate::invocation::Invocation;
use crate::outcome::{Outcome, Trouble};

const PROGRAM: &str = "ltt-parquet";

/// Becomes `ltt-parquet`, which exports all traces.
pub fn run(options: &ExportOptions) -> Result<Outcome, Trouble> {
    let common = &options.common;
    let Common { event, conditions, since, until, pid, cpu, .. } = common;
    let is_filtered = !event.is_empty()
        || !conditions.is_empty()
        || [since, until, &options.around].iter().any(|moment| moment.is_some())
        || pid.or(*cpu).is_some();
    if is_filtered {
        return Err(Trouble::Usage("--to parquet exports all events: filter them in the query".into()));
    }
    if options.force {
        return Err(Trouble::Usage(
            "--to parquet adds to tables and replaces nothing: leave out --force".into(),
        ));
    }
    let invocation = Invocation::new(common)?;
    let mut arguments: Vec<OsString> = vec!["--output".into(), options.output.clone().into()];
    let mut add = |name: &str, value: OsString| arguments.extend([name.into(), value]);
    add("--longer-than", format!("{}ns", options.rule.longer_than_ns).into());
    common.catalog.iter().for_each(|catalog| add("--catalog", catalog.into()));
    common.duration.iter().for_each(|field| add("--duration", field.into()));
    common.unit.iter().for_each(|unit| add("--unit", unit.name().into()));
    common.threads.iter().for_each(|threads| add("--threads", threads.to_string().into()));
    let error = Command::new(program()).args(arguments).arg("--").args(invocation.traces).exec();
    Err(Trouble::Failed(match error.kind() {
        io::ErrorKind::NotFound => {
            format!(
                "{PROGRAM} is not installed: run `cargo install --path fleet` in the repository of ltt-top"
            )
        }
        _ => format!("cannot run {PROGRAM}: {error}"),
    }))
}

/// The one beside this program, or else the one in the path.
fn program() -> PathBuf {
    let beside = std::env::current_exe().ok().map(|program| program.with_file_name(PROGRAM));
    beside.filter(|program| program.is_file()).unwrap_or_else(|| PROGRAM.into())
}
