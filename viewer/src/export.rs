//! `ltt-top export`: a timeline as a file for another program.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::view::export::{TimelineFile, TimelineFormat, Written};
use crate::view::{progress, warnings};
use ctf_reader::{Nothing, Progress, Window};
use ltt_analysis::source::Source;
use ltt_analysis::text::amount::counted;
use ltt_analysis::timeline::{Part, Timeline};
use ltt_analysis::{Failure, Finding, IncidentRule, Question, Selection, SourceWindow};

use crate::cli::{ExportFormat, ExportOptions};
use crate::invocation::Invocation;
use crate::opening;
use crate::outcome::{Outcome, Trouble, tell, warn};
use crate::output_file::OutputFile;
use crate::parquet;

/// From how many bytes of a trace on the size of the file is estimated first.
const WORTH_AN_ESTIMATE: u64 = 8 << 20;

/// The number of samples for the estimate, and the share of the time that each is.
const SAMPLES: i64 = 10;
const SAMPLE_SHARE: i64 = 250;

/// Writes a timeline.
pub fn run(options: &ExportOptions) -> Result<Outcome, Trouble> {
    let (format, usual) = match options.to {
        ExportFormat::Parquet => return parquet::run(options),
        ExportFormat::ChromeTrace => (TimelineFormat::ChromeTrace, 512),
        // Its page takes three seconds for this.
        ExportFormat::Speedscope => (TimelineFormat::Speedscope, 32),
        ExportFormat::Perfetto => (TimelineFormat::Perfetto, 512),
    };
    let most_bytes = options.max_size_mib.unwrap_or(usual) << 20;
    let output = OutputFile::new(&options.output, options.force)?;
    let invocation = Invocation::new(&options.common)?;
    let selection = Arc::new(invocation.selection(None, false)?);
    let mut source = opening::open(&options.common, &invocation.traces)?;
    let window = window(options, &invocation, &mut source)?;
    let rule =
        IncidentRule { threshold_ns: options.rule.longer_than_ns, in_isolation: false, shows_each: true };
    if let Some(bytes) = estimate(format, &mut source, window, &selection, rule) {
        let mib = |bytes: u64| bytes.div_ceil(1 << 20);
        let more = format!(
            ", more than {}: the longest intervals and those around incidents will be written (--max-size)",
            mib(most_bytes)
        );
        let more = if bytes > most_bytes { more } else { String::new() };
        tell(&format!("about {} MiB{more}", mib(bytes)));
    }
    let mut file = TimelineFile::new(format, &output.folder(), most_bytes);
    let gathered = gather(&mut file, &mut source, window, &selection, rule)?;
    let finding = gathered.map_err(|error| output.failed(&error))?;
    let Finding::Timeline(found) = &finding else { unreachable!("a timeline was asked for") };
    let written = output.write(|out| file.finish(found, out))?;
    warnings(&finding, &invocation.screen).iter().for_each(|note| warn(note));
    say(&output, found, &written);
    Ok(if finding.is_damaged() { Outcome::Damaged } else { Outcome::Complete })
}

/// Reads the timeline into a file.
fn gather(
    file: &mut TimelineFile,
    source: &mut impl Source,
    window: Window,
    selection: &Arc<Selection>,
    rule: IncidentRule,
) -> Result<io::Result<Finding>, Failure> {
    let state = Progress::default();
    let mut failed = None;
    let mut put = |part: Part<'_>| match file.add(&part) {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            failed = Some(error);
            ControlFlow::Break(())
        }
    };
    let question = Question::Timeline { rule, put: &mut put };
    let mut input = SourceWindow { source, window, progress: &state };
    let finding = progress::shown(&state, || question.answer(&mut input, selection))?;
    Ok(failed.map_or(Ok(finding), Err))
}

/// About the number of bytes of a file of a whole trace: its events, and what those of some samples take. None for a trace that is
/// read at once.
fn estimate(
    format: TimelineFormat,
    source: &mut impl Source,
    window: Window,
    selection: &Arc<Selection>,
    rule: IncidentRule,
) -> Option<u64> {
    let state = Progress::default();
    drop(source.in_order()?.events.in_order(window, |_| None).with_progress(&state));
    if state.total() < WORTH_AN_ESTIMATE {
        return None;
    }
    let (_, report) = progress::shown(&state, || source.read(window, Nothing, &state)).ok()?;
    let span = report.span?;
    let length = span.end().saturating_sub(*span.start());
    let (mut bytes, mut events) = (0, 0);
    for sample in 0..SAMPLES {
        let since = span.start() + length / SAMPLES * sample + length / SAMPLES / 2;
        let window = Window { since: Some(since), until: Some(since + length / SAMPLE_SHARE) };
        let rule = IncidentRule { in_isolation: true, ..rule };
        let mut file = TimelineFile::new(format, &std::env::temp_dir(), u64::MAX);
        events += gather(&mut file, source, window, selection, rule).ok()?.ok()?.trace().events;
        bytes += file.bytes();
    }
    Some((bytes as f64 / events.max(1) as f64 * report.events as f64) as u64).filter(|_| events > 0)
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
    let events = found.followed.trace.events;
    if found.followed.shown == 0 && events > 0 && found.followed.notes.empty.is_none() {
        warn(&format!(
            "the timeline is empty: none of {} has a duration; name the field that is one by --duration and --unit, or \
             record events that have one",
            counted(events, "event")
        ));
    }
    tell(&format!(
        "wrote {output}: {} of {}, {}, {} MiB",
        counted(found.followed.shown.saturating_sub(written.left_out), "interval"),
        counted(found.threads.len() as u64, "thread"),
        counted(found.incidents, "incident"),
        written.bytes.div_ceil(1 << 20)
    ));
    for note in written.notes() {
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
