//! `ltt-top events`: single events in time order.

use std::io::{self, IsTerminal};
use std::rc::Rc;
use std::sync::Arc;

use crate::view::events::{Printer, Show, Stacks, Stop};
use crate::view::{EventStream, progress};
use ctf_reader::{Progress, Window};
use ltt_analysis::follow::{Followed, FollowedEvents, follow};
use ltt_analysis::source::Recording;
use ltt_analysis::symbols::Symbols;
use ltt_analysis::{Finding, Selection, SourceWindow};

use crate::cli::EventsOptions;
use crate::invocation::Invocation;
use crate::live;
use crate::opening;
use crate::outcome::{Outcome, Trouble};

/// The default number of events on each side of a moment.
const AROUND: usize = 20;

/// How far before a moment to look for events, in nanoseconds, before all of the trace is read.
const LOOK_BACK: [i64; 3] = [100_000_000, 10_000_000_000, 600_000_000_000];

/// Lists events.
pub fn run(options: &EventsOptions) -> Result<Outcome, Trouble> {
    if options.follow {
        return live::follow(options);
    }
    let invocation = Invocation::new(&options.common)?;
    let selection = Arc::new(invocation.selection(None, true)?);
    let mut recording = opening::open(&options.common, &invocation.traces)?;
    let window = invocation.window(&mut recording)?;
    let [moment] = invocation.moments([options.around], &mut recording)?;
    let show = match (moment, options.context) {
        (Some(moment), count) => Show::Around(moment, count.unwrap_or(AROUND)),
        (None, Some(count)) => Show::Context(count),
        (None, None) => Show::Matches,
    };
    let stacks = Rc::new(stacks(&mut recording, &selection)?);
    let windows = windows(window, show);
    let (last, narrower) = windows.split_last().unwrap_or((&window, &[]));
    let listing = Listing { invocation: &invocation, options, selection: &selection, stacks: &stacks, show };
    for window in narrower {
        if let Some(outcome) = listing.list(&mut recording, *window, false)? {
            return Ok(outcome);
        }
    }
    let outcome = listing.list(&mut recording, *last, true)?;
    Ok(outcome.unwrap_or(Outcome::Complete))
}

/// The names of the addresses in stacks. The trace is read for them only if it has any.
fn stacks(recording: &mut Recording, selection: &Selection) -> Result<Stacks, Trouble> {
    let dictionary = selection.dictionary.clone();
    let has_stacks = recording.events.classes().any(|class| !dictionary.look_up(class).stacks.is_empty());
    let state = Progress::default();
    let symbols = match has_stacks {
        true => progress::shown(&state, || Symbols::read(recording, &state))?,
        false => Symbols::default(),
    };
    Ok(Stacks::new(dictionary, symbols, &recording.events.traces()))
}

/// The windows to try in turn: around a moment, the trace need not be read from its beginning.
fn windows(window: Window, show: Show) -> Vec<Window> {
    let Show::Around(moment, _) = show else { return vec![window] };
    let since = LOOK_BACK.iter().map(|look_back| moment.saturating_sub(*look_back));
    let since = since.filter(|since| window.since.is_none_or(|earliest| *since > earliest));
    since.map(|since| Window { since: Some(since), ..window }).chain([window]).collect()
}

/// What all windows that are tried have in common.
struct Listing<'a> {
    invocation: &'a Invocation<'a>,
    options: &'a EventsOptions,
    selection: &'a Arc<Selection>,
    stacks: &'a Rc<Stacks>,
    show: Show,
}

impl Listing<'_> {
    /// Lists the events of a window. Unless the window is the last one to be tried, nothing is written if there are fewer
    /// events before the moment in it than are asked for.
    fn list(
        &self,
        recording: &mut Recording,
        window: Window,
        is_last: bool,
    ) -> Result<Option<Outcome>, Trouble> {
        let reader = &recording.events;
        let Listing { invocation, options, selection, stacks, show } = *self;
        let with_others = matches!(show, Show::Context(_));
        let stream = EventStream { stacks: Rc::clone(stacks), has_matches: with_others };
        let form = invocation.output().events(stream)?;
        let mut out = io::stdout().lock();
        let mut printer =
            Printer::new(form, show, is_last, invocation.limit(usize::MAX, usize::MAX), &mut out)
                .with_traces(&reader.traces())
                .with_fields(options.fields.clone());
        let state = Progress::default();
        let mut read = || follow(reader, window, selection, with_others, &mut printer, &state);
        // A progress bar would mix with the events.
        let followed = if io::stdout().is_terminal() { read() } else { progress::shown(&state, read) };
        let Followed { report, stopped } = followed?;
        match stopped {
            Some(Stop::Failed(error)) => return Err(error.into()),
            Some(Stop::TooFew) => return Ok(None),
            Some(Stop::Enough) | None => {}
        }
        if printer.is_short() && !is_last {
            return Ok(None);
        }
        let mut finding = Finding::Events(FollowedEvents::new(&report, printer.shown()));
        printer.finish()?;
        drop(out);
        finding.explain(&mut SourceWindow { source: recording, window, progress: &state }, selection)?;
        invocation.write(&finding).map(Some)
    }
}
