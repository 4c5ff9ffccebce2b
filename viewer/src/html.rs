//! `ltt-top html`: a report on traces as one page for a browser.

use std::path::PathBuf;
use std::sync::Arc;

use crate::view::{progress, report, warnings};
use ctf_reader::Progress;
use ltt_analysis::text::escape;
use ltt_analysis::{Finding, Question, SourceWindow};

use crate::cli::HtmlOptions;
use crate::invocation::Invocation;
use crate::opening;
use crate::outcome::{Outcome, Trouble, tell, warn};
use crate::output_file::OutputFile;

/// Writes a report.
pub fn run(options: &HtmlOptions) -> Result<Outcome, Trouble> {
    let output = OutputFile::new(&options.output, options.force)?;
    let invocation = Invocation::new(&options.common)?;
    let selection = Arc::new(invocation.selection(options.grouping.by(), options.common.all)?);
    let mut source = opening::open(&options.common, &invocation.traces)?;
    let window = invocation.window(&mut source)?;
    let state = Progress::default();
    let mut input = SourceWindow { source: &mut source, window, progress: &state };
    let rule = options.choice.rule(&options.rule);
    let question = Question::Overview { rule, sort: options.grouping.sort };
    let finding = progress::shown(&state, || question.answer(&mut input, &selection))?;
    let Finding::Overview(found) = &finding else { unreachable!("an overview was asked for") };
    let title = format!("Report on {}", names(&invocation.traces));
    output.write(|out| report::write(found, &title, &invocation.screen, out))?;
    tell(&format!("wrote {output}"));
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
