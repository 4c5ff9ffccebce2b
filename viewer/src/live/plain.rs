//! A table or an object every interval, for logs and monitors.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::intake::{Intake, Turn};
use crate::view::FORMATS;
use crate::view::live::PROCESS_BUFFERS;
use jiff::Timestamp;
use ltt_analysis::Finding;
use ltt_analysis::live::{LiveAnalysis, LiveFinding, LiveQuestion, Meter};
use ltt_analysis::samples::SampleQueue;
use lttng_live::Live;

use super::metrics::MetricsServer;
use super::sessions::{ending, window};
use crate::cli::LiveOptions;
use crate::invocation::Invocation;
use crate::outcome::{Outcome, Trouble, warn};
use crate::signals::StopSignal;

/// The longest pause before signals are looked at.
const PAUSE: Duration = Duration::from_millis(100);

/// Writes what is known every interval, and once more at the end.
pub fn run(
    options: &LiveOptions,
    invocation: &Invocation<'_>,
    sessions: Live,
    samples: SampleQueue,
    stop: &StopSignal,
    metrics: Option<&MetricsServer>,
) -> Result<Outcome, Trouble> {
    let selection =
        Arc::new(invocation.selection(options.top.grouping.by.as_deref(), options.top.common.all)?);
    let analysis = LiveAnalysis::new(&selection, options.rule.longer_than_ns).with_samples(samples);
    let (desk, mut meter) = (metrics.map(MetricsServer::desk), Meter::default());
    // A service has no reader.
    let is_quiet = desk.is_some() && !options.plain && options.top.common.format.0.name == FORMATS[0].name;
    let mut intake = Intake::new(sessions, window(&options.top.common, invocation)?, analysis);
    let question = LiveQuestion {
        window: options.window.unwrap_or_default(),
        sort: options.top.grouping.sort,
        quantiles: options.top.quantiles(),
        limit: invocation.limit(20, usize::MAX),
        incidents: usize::MAX,
        is_drawn: false,
        narrow: String::new(),
        detail: None,
    };
    let begin = Instant::now();
    let deadline = options.for_length.map(|length| begin + length);
    let mut next = begin + options.interval;
    loop {
        let until = deadline.map_or(next, |deadline| deadline.min(next));
        let turn = intake.turn(until.saturating_duration_since(Instant::now()).min(PAUSE));
        desk.iter().for_each(|desk| desk.answer(&mut meter, &intake));
        let is_late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let is_last = turn == Turn::Over || is_late || stop.is_set();
        if is_last {
            intake.with_audience(LiveAnalysis::finish);
        } else if Instant::now() < next {
            continue;
        }
        while next <= Instant::now() {
            next += options.interval;
        }
        let mut finding = finding(&intake, &question);
        finding.is_last = is_last;
        if !is_quiet {
            invocation.write(&Finding::Live(Box::new(finding.clone())))?;
        }
        // Each is written once, when it has been settled, which may be long after it ended.
        intake.with_audience(LiveAnalysis::mark_reported);
        if is_last {
            return end(&intake, &finding);
        }
    }
}

/// What is known now.
pub fn finding(intake: &Intake<'_, LiveAnalysis>, question: &LiveQuestion) -> LiveFinding {
    let (report, watermark) = (intake.report(), intake.watermark());
    let mut finding = intake.with_audience(|analysis| analysis.finding(question, report, watermark));
    finding.sessions = intake.sessions();
    finding.has_process_buffers = intake.has_process_buffers();
    let now = i64::try_from(Timestamp::now().as_nanosecond()).unwrap_or(i64::MAX);
    finding.lag_ns = finding.time_ns.map(|time| now.saturating_sub(time).max(0) as u64);
    finding
}

/// The outcome: whether sessions failed or were lost, and whether the trace is damaged.
fn end(intake: &Intake<'_, LiveAnalysis>, finding: &LiveFinding) -> Result<Outcome, Trouble> {
    let outcome = ending(&finding.sessions)?;
    if finding.has_process_buffers && finding.unseen_streams() == 0 {
        warn(PROCESS_BUFFERS);
    }
    intake.with_audience(|analysis| analysis.check())?;
    Ok(if finding.top.trace.damage.is_empty() { outcome } else { Outcome::Damaged })
}
