//! `ltt-top export`: a timeline as a file for another program.

use std::fs::Permissions;
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use ctf_reader::{Progress, Window};
use flate2::Compression;
use flate2::write::GzEncoder;
use ltt_top::analysis::timeline::{Timeline, timeline};
use ltt_top::analysis::{Finding, IncidentRule, SourceWindow};
use ltt_top::source;
use ltt_top::text::amount::counted;
use ltt_top::text::escape;
use ltt_top::view::export::{ChromeTrace, Written};
use ltt_top::view::{progress, warnings};

use crate::cli::{ExportFormat, ExportOptions};
use crate::invocation::Invocation;
use crate::outcome::{Outcome, Trouble, tell, warn};
use crate::parquet;

/// Writes a timeline.
pub fn run(options: &ExportOptions) -> Result<Outcome, Trouble> {
    let output = &*options.output;
    if options.to == ExportFormat::Parquet {
        return parquet::run(options);
    }
    refuse_existing(output, options.force)?;
    let invocation = Invocation::new(&options.common)?;
    let selection = Arc::new(invocation.selection(None, false)?);
    let mut source = source::open(&invocation.traces, options.common.threads.map(usize::from))?;
    let window = window(options, &invocation, &mut source)?;
    let state = Progress::default();
    let mut input = SourceWindow { source: &mut source, window, progress: &state };
    let rule =
        IncidentRule { threshold_ns: options.rule.longer_than_ns, in_isolation: false, shows_each: true };
    let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut trace = ChromeTrace::new(folder, options.max_size_mib << 20);
    let put = |part: ltt_top::analysis::timeline::Part<'_>| match trace.add(&part) {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => ControlFlow::Break(error),
    };
    let found = match progress::shown(&state, || timeline(&mut input, &selection, rule, put))? {
        ControlFlow::Continue(timeline) => timeline,
        ControlFlow::Break(error) => return Err(unwritable(output, &error)),
    };
    let written = write(output, options.force, |out| trace.finish(&found, out))?;
    let mut finding = Finding::Events(found.followed.clone());
    finding.explain(&mut input, &selection)?;
    warnings(&finding, &invocation.screen).iter().for_each(|note| warn(note));
    say(output, &found, &written);
    let is_damaged = !finding.trace().damage.is_empty();
    Ok(if is_damaged { Outcome::Damaged } else { Outcome::Complete })
}

/// The window that was asked for.
fn window(
    options: &ExportOptions,
    invocation: &Invocation<'_>,
    source: &mut impl source::Source,
) -> Result<Window, Trouble> {
    let [around] = invocation.moments([options.around], source)?;
    let Some(around) = around else { return invocation.window(source) };
    let within = i64::try_from(options.within).unwrap_or(i64::MAX);
    Ok(Window { since: Some(around.saturating_sub(within)), until: Some(around.saturating_add(within)) })
}

/// Writes a file under a temporary name beside it, and renames it when it is complete.
pub fn write<T>(
    output: &Path,
    force: bool,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<T>,
) -> Result<T, Trouble> {
    let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let failed = |error: io::Error| unwritable(output, &error);
    let mut builder = tempfile::Builder::new();
    // The user's mask applies to it.
    builder.prefix(".ltt-top-").permissions(Permissions::from_mode(0o666));
    let mut file = builder.tempfile_in(folder).map_err(failed)?;
    let mut out = BufWriter::with_capacity(1 << 16, file.as_file_mut());
    let is_compressed = output.extension().is_some_and(|extension| extension == "gz");
    let written = match is_compressed {
        false => fill(&mut out).map_err(failed)?,
        true => {
            let mut encoder = GzEncoder::new(&mut out, Compression::default());
            let written = fill(&mut encoder).map_err(failed)?;
            encoder.finish().map_err(failed)?;
            written
        }
    };
    out.flush().map_err(failed)?;
    drop(out);
    let persisted = if force { file.persist(output) } else { file.persist_noclobber(output) };
    match persisted {
        Ok(_) => Ok(written),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Err(exists(output)),
        Err(error) => Err(failed(error.error)),
    }
}

/// Says what the file contains.
fn say(output: &Path, found: &Timeline, written: &Written) {
    tell(&format!(
        "wrote {}: {} of {}, {}, {} MiB",
        shown(output),
        counted(found.followed.shown, "interval"),
        counted(found.threads.len() as u64, "thread"),
        counted(found.incidents, "incident"),
        written.bytes.div_ceil(1 << 20)
    ));
    if let Some(note) = written.note() {
        tell(&format!("note: {note}"));
    }
    if found.followed.notes.implausible > 0 {
        let durations = counted(found.followed.notes.implausible, "implausible duration");
        tell(&format!("note: {durations} (the clock stepped back) left out"));
    }
    if found.hidden_incidents > 0 {
        let hidden = counted(found.hidden_incidents, "shorter incident");
        tell(&format!("note: {hidden} left out; --longer-than chooses which count"));
    }
}

/// Refuses a file that exists, before traces are read for nothing.
pub fn refuse_existing(output: &Path, force: bool) -> Result<(), Trouble> {
    if !force && output.symlink_metadata().is_ok() { Err(exists(output)) } else { Ok(()) }
}

fn exists(output: &Path) -> Trouble {
    Trouble::Failed(format!("{}: it exists already; --force replaces it", output.display()))
}

fn unwritable(output: &Path, error: &io::Error) -> Trouble {
    Trouble::Failed(format!("{}: cannot write it: {error}", output.display()))
}

fn shown(path: &Path) -> String {
    escape::text(&path.to_string_lossy())
}
