//! `ltt-top export`: a timeline as a file for another program.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::view::export::{ChromeTrace, Written};
use crate::view::{progress, warnings};
use ctf_reader::{Progress, Window};
use ltt_analysis::source::Source;
use ltt_analysis::text::amount::counted;
use ltt_analysis::timeline::{Part, Timeline};
use ltt_analysis::{Finding, IncidentRule, Question, SourceWindow};

use crate::cli::{ExportFormat, ExportOptions};
use crate::invocation::Invocation;
use crate::opening;
use crate::outcome::{Outcome, Trouble, tell, warn};
use crate::output_file::OutputFile;
use crate::parquet;

/// Writes a timeline.
pub fn run(options: &ExportOptions) -> Result<Outcome, Trouble> {
    if options.to == ExportFormat::Parquet {
        return parquet::run(options);
    }
    let output = OutputFile::new(&options.output, options.force)?;
    let invocation = Invocation::new(&options.common)?;
    let selection = Arc::new(invocation.selection(None, false)?);
    let mut source = opening::open(&options.common, &invocation.traces)?;
    let window = window(options, &invocation, &mut source)?;
    let state = Progress::default();
    let mut input = SourceWindow { source: &mut source, window, progress: &state };
    let rule =
        IncidentRule { threshold_ns: options.rule.longer_than_ns, in_isolation: false, shows_each: true };
    let mut trace = ChromeTrace::new(&output.folder(), options.max_size_mib << 20);
    let mut failed = None;
    let mut put = |part: Part<'_>| match trace.add(&part) {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            failed = Some(error);
            ControlFlow::Break(())
        }
    };
    let question = Question::Timeline { rule, put: &mut put };
    let answer = progress::shown(&state, || question.answer(&mut input, &selection));
    if let Some(error) = failed {
        return Err(output.failed(&error));
    }
    let finding = answer?;
    let Finding::Timeline(found) = &finding else { unreachable!("a timeline was asked for") };
    let written = output.write(|out| trace.finish(found, out))?;
    warnings(&finding, &invocation.screen).iter().for_each(|note| warn(note));
    say(&output, found, &written);
    Ok(if finding.is_damaged() { Outcome::Damaged } else { Outcome::Complete })
}

/// The window that was asked for.
fn window(
    options: &ExportOptions,
    invocation: &Invocation<'_>,
    source: &mut impl Source,
) -> Result<Window, Trouble> {
    let [around] = invocation.moments([options.around], source)?;
    let Some(around) = around else { return invocation.window(source) };
    let within = i64::try_from(options.within).unwrap_or(i64::MAX);
    Ok(Window { since: Some(around.saturating_sub(within)), until: Some(around.saturating_add(within)) })
}

/// Says what the file contains.
fn say(output: &OutputFile, found: &Timeline, written: &Written) {
    tell(&format!(
        "wrote {output}: {} of {}, {}, {} MiB",
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
