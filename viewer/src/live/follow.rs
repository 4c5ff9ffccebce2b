//! `ltt-top events --follow`: single events as they come.

use std::io;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use super::intake::{Intake, Turn};
use crate::view::EventStream;
use crate::view::events::{Printer, Show, Stacks, Stop};
use ctf_reader::{DigestedEvent, EventClass, Trace, Wanted};
use ltt_analysis::Finding;
use ltt_analysis::follow::{EventMatcher, FollowedEvents, Follower};
use ltt_analysis::live::Audience;
use ltt_analysis::symbols::Symbols;
use lttng_live::Options;

use super::sessions::{ending, receive, window};
use crate::cli::EventsOptions;
use crate::invocation::Invocation;
use crate::outcome::{Outcome, Trouble};
use crate::signals::StopSignal;

/// The longest pause before signals are looked at.
const PAUSE: Duration = Duration::from_millis(100);

/// Writes events as they come.
pub fn run(options: &EventsOptions) -> Result<Outcome, Trouble> {
    if options.around.is_some() {
        return Err(Trouble::Usage("--around needs a recorded trace: leave out --follow".into()));
    }
    let invocation = Invocation::live(&options.common);
    let Some(live) = receive(&options.common.traces, &Options::default(), &|| false)? else {
        return Ok(Outcome::Complete);
    };
    let selection = Arc::new(invocation.selection(None, true)?);
    let show = options.context.map_or(Show::Matches, Show::Context);
    // Mappings are recorded when a session starts, which may be long ago: addresses are not named.
    let stacks = Rc::new(Stacks::new(selection.dictionary.clone(), Symbols::default(), &[]));
    let has_matches = matches!(show, Show::Context(_));
    let form = invocation.output().events(EventStream { stacks, has_matches })?;
    let mut out = io::stdout().lock();
    let printer = Printer::new(form, show, true, invocation.limit(usize::MAX, usize::MAX), &mut out);
    let printer = printer.with_fields(options.fields.clone());
    let sieve = EventMatcher::new(&selection, has_matches);
    let audience = EventWriter { sieve, printer, stop: None };
    let mut intake = Intake::new(live, window(&options.common, &invocation)?, audience);
    let signal = StopSignal::listen()?;
    loop {
        let turn = intake.turn(PAUSE);
        // Show what has arrived, even if the buffer is not full.
        let stop =
            intake.with_audience(|snoop| snoop.stop.take().or(snoop.printer.flush().err().map(Stop::Failed)));
        match stop {
            Some(Stop::Failed(error)) => return Err(error.into()),
            Some(Stop::Enough | Stop::TooFew) => break,
            None if turn == Turn::Over || signal.is_set() => break,
            None => {}
        }
    }
    intake.with_audience(|snoop| snoop.sieve.check())?;
    let shown = intake.with_audience(|snoop| snoop.printer.shown());
    let finding = Finding::Events(FollowedEvents::new(&intake.report(), shown));
    let sessions = intake.sessions();
    drop(intake);
    drop(out);
    let outcome = invocation.write(&finding)?;
    Ok(match ending(&sessions)? {
        Outcome::Complete => outcome,
        missing => missing,
    })
}

/// Writes the events that are asked for.
struct EventWriter<'o> {
    sieve: EventMatcher,
    printer: Printer<'o>,
    stop: Option<Stop>,
}

impl Audience for EventWriter<'_> {
    fn class(&mut self, class: &Arc<EventClass>, host: Option<&str>) -> Option<Wanted> {
        let host = host.map(|host| ("hostname".to_owned(), host.to_owned()));
        let mut trace = Trace::default();
        trace.environment.extend(host);
        self.printer.trace(class.trace, &trace);
        self.sieve.class(class, &mut self.printer)
    }

    fn event(&mut self, event: DigestedEvent<'_>) -> ControlFlow<()> {
        let event = event.event();
        let Some(is_match) = self.sieve.judge(&event) else { return ControlFlow::Continue(()) };
        match self.printer.event(&event, is_match) {
            ControlFlow::Continue(()) => ControlFlow::Continue(()),
            ControlFlow::Break(stop) => {
                self.stop = Some(stop);
                ControlFlow::Break(())
            }
        }
    }
}
