//! `ltt-top html`: a report on traces as one page for a browser.

use std::path::PathBuf;
use std::sync::Arc;

use ctf_reader::Progress;
use ltt_top::analysis::overview::overview;
use ltt_top::analysis::{Finding, SourceWindow};
use ltt_top::source;
use ltt_top::text::escape;
use ltt_top::view::{progress, report, warnings};

use crate::cli::HtmlOptions;
use crate::invocation::Invocation;
use crate::outcome::{Outcome, Trouble, tell, warn};
use crate::output_file::OutputFile;

/// Writes a report.
pub fn run(options: &HtmlOptions) -> Result<Outcome, Trouble> {
    let output = OutputFile::new(&options.output, options.force)?;
    let invocation = Invocation::new(&options.common)?;
    let selection = Arc::new(invocation.selection(options.grouping.by(), options.common.all)?);
    let mut source = source::open(&invocation.traces, options.common.threads.map(usize::from))?;
    let window = invocation.window(&mut source)?;
    let state = Progress::default();
    let mut input = SourceWindow { source: &mut source, window, progress: &state };
    let rule = options.choice.rule(&options.rule);
    let found = progress::shown(&state, || overview(&mut input, &selection, rule, options.grouping.sort))?;
    let title = format!("Report on {}", names(&invocation.traces));
    output.write(|out| report::write(&found, &title, &invocation.screen, out))?;
    tell(&format!("wrote {output}"));
    let finding = Finding::Top(found.top);
    warnings(&finding, &invocation.screen).iter().for_each(|note| warn(note));
    Ok(if finding.is_damaged() { Outcome::Damaged } else { Outcome::Complete })
}

/// What the traces are called: the last parts of their paths.
fn names(traces: &[PathBuf]) -> String {
    const NAMED: usize = 3;
    let name = |path: &PathBuf| {
        let path = path.canonicalize().unwrap_or_else(|_| path.clone());
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        escape::text(name.split_once(".tar").map_or(&*name, |(stem, _)| stem))
    };
    let named = traces.iter().take(NAMED).map(name).collect::<Vec<_>>().join(", ");
    match traces.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}
