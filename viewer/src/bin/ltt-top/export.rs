//! `ltt-top export`: a timeline as a file for another program.

use std::ops::ControlFlow;
use std::sync::Arc;

use ctf_reader::{Progress, Window};
use ltt_top::analysis::timeline::{Timeline, timeline};
use ltt_top::analysis::{Finding, IncidentRule, SourceWindow};
use ltt_top::source;
use ltt_top::text::amount::counted;
use ltt_top::view::export::{ChromeTrace, Written};
use ltt_top::view::{progress, warnings};

use crate::cli::{ExportFormat, ExportOptions};
use crate::invocation::Invocation;
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
    let mut source = source::open(&invocation.traces, options.common.threads.map(usize::from))?;
    let window = window(options, &invocation, &mut source)?;
    let state = Progress::default();
    let mut input = SourceWindow { source: &mut source, window, progress: &state };
    let rule =
        IncidentRule { threshold_ns: options.rule.longer_than_ns, in_isolation: false, shows_each: true };
    let mut trace = ChromeTrace::new(&output.folder(), options.max_size_mib << 20);
    let put = |part: ltt_top::analysis::timeline::Part<'_>| match trace.add(&part) {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => ControlFlow::Break(error),
    };
    let found = match progress::shown(&state, || timeline(&mut input, &selection, rule, put))? {
        ControlFlow::Continue(timeline) => timeline,
        ControlFlow::Break(error) => return Err(output.failed(&error)),
    };
    let written = output.write(|out| trace.finish(&found, out))?;
    let mut finding = Finding::Events(found.followed.clone());
    finding.explain(&mut input, &selection)?;
    warnings(&finding, &invocation.screen).iter().for_each(|note| warn(note));
    say(&output, &found, &written);
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
