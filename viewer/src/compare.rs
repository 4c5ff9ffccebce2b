//! `ltt-top compare`: two recordings side by side.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use crate::view::{gate, progress};
use ctf_reader::Progress;
use ltt_analysis::compare::{CompareRule, Gate};
use ltt_analysis::finding::Span;
use ltt_analysis::source::Source;
use ltt_analysis::text::escape;
use ltt_analysis::{Finding, IncidentRule, Question, SourceWindow};

use crate::cli::CompareOptions;
use crate::invocation::Invocation;
use crate::opening;
use crate::outcome::{Outcome, Trouble, warn};

/// A script that records two builds in turns, in either order, so that what the machine does meanwhile is in both.
const PLAN: &str = include_str!("plan.sh");

/// Compares two recordings.
pub fn run(options: &CompareOptions) -> Result<Outcome, Trouble> {
    if options.plan {
        io::stdout().lock().write_all(PLAN.as_bytes())?;
        return Ok(Outcome::Complete);
    }
    let [before, after] = sides(options)?;
    let whole = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
    if let Some(same) = before.iter().find(|path| after.iter().any(|other| whole(other) == whole(path))) {
        warn(&format!(
            "both recordings have {}: name two different ones",
            escape::text(&same.to_string_lossy())
        ));
    }
    let traces = [before, after].concat();
    let invocation = Invocation { traces, ..Invocation::live(&options.common) };
    let selection = Arc::new(invocation.selection(options.by.as_deref(), options.common.all)?);
    let [mut earlier, mut later] =
        [opening::open(&options.common, before)?, opening::open(&options.common, after)?];
    let windows = [invocation.window(&mut earlier)?, invocation.window(&mut later)?];
    let state = Progress::default();
    let rule = CompareRule {
        error_rate: options.error_rate,
        incidents: IncidentRule {
            threshold_ns: options.rule.longer_than_ns,
            in_isolation: false,
            shows_each: false,
        },
        limit: invocation.limit(20, usize::MAX),
        gate: Gate {
            limits: options.fail_if.clone(),
            allowed: options.allow.iter().map(|allow| allow.0).collect(),
        },
        names: [before, after].map(named),
        recorded: [recorded(options, before)?, recorded(options, after)?],
    };
    let question = Question::Compare { before: earlier.readers(), window: windows[0], rule };
    let mut input = SourceWindow { source: &mut later, window: windows[1], progress: &state };
    let finding = progress::shown(&state, || question.answer(&mut input, &selection))?;
    let Finding::Compare(found) = &finding else { unreachable!("a comparison was asked for") };
    let has_failed = !found.failures.is_empty();
    // GitHub reads both; a program that reads the output wants nothing else there.
    match (options.annotate, options.common.format.0.is_for_people) {
        (true, true) => gate::annotations(found, &mut io::stdout().lock())?,
        (true, false) => gate::annotations(found, &mut io::stderr().lock())?,
        (false, _) => {}
    }
    let outcome = invocation.write(&finding)?;
    // A file that cannot be written does not take the result along.
    options.report.iter().try_for_each(|file| file.write(&finding, &invocation.screen))?;
    Ok(if has_failed { Outcome::Exceeded } else { outcome })
}

/// When each of several recordings of a side was made.
fn recorded(options: &CompareOptions, traces: &[PathBuf]) -> Result<Vec<Span>, Trouble> {
    let mut spans = Vec::new();
    for trace in traces.iter().filter(|_| traces.len() > 1) {
        let span = opening::open(&options.common, std::slice::from_ref(trace))?.span()?;
        spans.extend(span.map(|span| Span { begin_ns: *span.start(), end_ns: *span.end() }));
    }
    Ok(spans)
}

/// What a recording is called.
fn named(traces: &[PathBuf]) -> String {
    traces.iter().map(|path| path.to_string_lossy()).collect::<Vec<_>>().join(", ")
}

/// The traces of both sides.
fn sides(options: &CompareOptions) -> Result<[&[PathBuf]; 2], Trouble> {
    match (&options.common.traces[..], &options.before[..], &options.after[..]) {
        ([before, after], [], []) => Ok([std::slice::from_ref(before), std::slice::from_ref(after)]),
        ([], before @ [_, ..], after @ [_, ..]) => Ok([before, after]),
        _ => Err(Trouble::Usage(
            "compare needs two recordings: BEFORE AFTER, or --before and --after for each trace".into(),
        )),
    }
}
