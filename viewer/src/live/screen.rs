//! The full screen: one thread draws and handles keys, another merges and analyses, so that neither waits for the other.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::intake::{Intake, Turn};
use crate::view::Screen;
use crate::view::live::screen::{Effect, Key, OverviewAreas, ScreenState, Selecting, draw};
use jiff::Zoned;
use ltt_analysis::Selection;
use ltt_analysis::live::{FrozenAnalysis, LiveAnalysis, LiveFinding, LiveQuestion, LookBack, Meter};
use ltt_analysis::samples::SampleQueue;
use lttng_live::Live;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{
    self, DisableMouseCapture, EnableMouseCapture, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers,
    MouseEvent, MouseEventKind,
};
use ratatui::crossterm::execute;
use ratatui::layout::Position;
use rustix::process::{Signal, getpid, kill_process};

use super::lock;
use super::metrics::{Desk, MetricsServer};
use super::plain::finding;
use super::sessions::{ending, window};
use crate::cli::LiveOptions;
use crate::invocation::Invocation;
use crate::outcome::{Outcome, Trouble};
use crate::signals::StopSignal;

/// How often figures are computed; less often, if that takes more than one part in `SHARE` of a core.
const REFRESH: Duration = Duration::from_millis(250);
const SHARE: u32 = 20;
const SLOWEST_REFRESH: Duration = Duration::from_secs(2);

/// The longest pause before keys, signals and new figures are looked at.
const PAUSE: Duration = Duration::from_millis(50);

/// What the two threads share.
struct Shared {
    request: Mutex<Request>,
    latest: Mutex<Option<Arc<LiveFinding>>>,
    is_closing: AtomicBool,
}

/// What the screen wants to know.
struct Request {
    question: LiveQuestion,
    /// The new selection, if it has changed.
    selection: Option<Arc<Selection>>,
    /// Whether to answer from what was known when this was set.
    is_frozen: bool,
    is_new: bool,
}

/// Shows the screen until the user quits, a signal arrives or the time is over.
pub fn run(
    options: &LiveOptions,
    invocation: &Invocation<'_>,
    live: Live,
    samples: SampleQueue,
    stop: &StopSignal,
    metrics: Option<&MetricsServer>,
) -> Result<Outcome, Trouble> {
    let base = invocation.selection(options.top.grouping.by.as_deref(), options.top.common.all)?;
    let selecting = Selecting { conditions: options.top.common.conditions.clone(), by: base.by.clone() };
    let look_back = options.window.unwrap_or(LookBack::Minute);
    let mut state = ScreenState::new(look_back, options.top.grouping.sort, selecting);
    let shared = Arc::new(Shared {
        request: Mutex::new(Request {
            question: state.question.clone(),
            selection: None,
            is_frozen: false,
            is_new: true,
        }),
        latest: Mutex::new(None),
        is_closing: AtomicBool::new(false),
    });
    let events = window(&options.top.common, invocation)?;
    let analyst = {
        let (shared, selection) = (Arc::clone(&shared), Arc::new(base.clone()));
        let (threshold, desk) = (options.rule.longer_than_ns, metrics.map(MetricsServer::desk));
        thread::spawn(move || {
            let mut analysis = LiveAnalysis::new(&selection, threshold).with_samples(samples);
            if desk.is_some() {
                analysis.meter();
            }
            analyse(Intake::new(live, events, analysis), desk.as_deref(), &shared);
        })
    };
    let deadline = options.for_length.map(|length| Instant::now() + length);
    let mut terminal = init()?;
    let select = |selecting: &Selecting| {
        let kept = base.conditions.iter().skip(options.top.common.conditions.len());
        let conditions = selecting.conditions.iter().chain(kept).cloned().collect();
        Arc::new(Selection { conditions, by: selecting.by.clone(), ..base.clone() })
    };
    let shown = show(&mut terminal, &mut state, &shared, &invocation.screen, &select, || {
        stop.is_set()
            || analyst.is_finished() && lock(&shared.latest).as_ref().is_none_or(|last| !last.is_last)
            || deadline.is_some_and(|deadline| Instant::now() >= deadline)
    });
    restore();
    shared.is_closing.store(true, Ordering::Relaxed);
    if analyst.join().is_err() {
        return Err(Trouble::Failed("the analysis ended unexpectedly; see the message above".into()));
    }
    shown?;
    lock(&shared.latest).as_ref().map_or(Ok(Outcome::Complete), |last| ending(&last.sessions))
}

/// Merges and analyses events, and publishes a finding whenever one is due.
fn analyse(mut intake: Intake<'_, LiveAnalysis>, desk: Option<&Desk>, shared: &Shared) {
    let mut meter = Meter::default();
    let mut next = Instant::now();
    let mut frozen: Option<(FrozenAnalysis, LiveFinding)> = None;
    let mut is_last = false;
    while !shared.is_closing.load(Ordering::Relaxed) {
        let patience = next.saturating_duration_since(Instant::now()).min(PAUSE);
        if is_last {
            // The last finding stays on the screen and can be explored.
            thread::sleep(PAUSE);
        } else if intake.turn(patience) == Turn::Over {
            intake.with_audience(LiveAnalysis::finish);
            (is_last, next) = (true, Instant::now());
        }
        desk.iter().for_each(|desk| desk.answer(&mut meter, &intake));
        let (question, is_new, is_frozen) = {
            let mut request = lock(&shared.request);
            if let Some(selection) = request.selection.take() {
                intake.with_audience(|analysis| analysis.select(&selection));
            }
            (request.question.clone(), std::mem::take(&mut request.is_new), request.is_frozen)
        };
        let is_due = Instant::now() >= next && !is_frozen;
        if !is_new && !is_due {
            continue;
        }
        let begin = Instant::now();
        match (&frozen, is_frozen) {
            (None, true) => {
                let (report, watermark) = (intake.report(), intake.watermark());
                let analysis = intake.with_audience(|analysis| analysis.freeze(report, watermark));
                frozen = Some((analysis, finding(&intake, &question)));
            }
            (Some(_), false) => frozen = None,
            _ => {}
        }
        let mut latest = match &frozen {
            Some((analysis, then)) => LiveFinding {
                sessions: then.sessions.clone(),
                lag_ns: then.lag_ns,
                has_process_buffers: then.has_process_buffers,
                ..analysis.finding(&question)
            },
            None => finding(&intake, &question),
        };
        latest.is_last = is_last;
        let misfit = intake.with_audience(|analysis| analysis.check()).err();
        latest.misfit = misfit.map(|misfit| Trouble::from(misfit).to_string());
        *lock(&shared.latest) = Some(Arc::new(latest));
        next = match is_last {
            // Nothing changes by itself any more.
            true => begin + Duration::from_secs(3600),
            false => begin + REFRESH.max(begin.elapsed() * SHARE).min(SLOWEST_REFRESH),
        };
    }
}

/// Draws what is new, and does what keys say.
fn show(
    terminal: &mut DefaultTerminal,
    state: &mut ScreenState,
    shared: &Shared,
    screen: &Screen,
    select: &dyn Fn(&Selecting) -> Arc<Selection>,
    is_over: impl Fn() -> bool,
) -> io::Result<()> {
    let mut shown: Option<Arc<LiveFinding>> = None;
    let mut is_stale = true;
    let mut areas = OverviewAreas::default();
    while !is_over() {
        let latest = lock(&shared.latest).clone();
        let is_another = match (&latest, &shown) {
            (Some(latest), Some(shown)) => !Arc::ptr_eq(latest, shown),
            (latest, shown) => latest.is_some() != shown.is_some(),
        };
        if is_another {
            latest.iter().for_each(|finding| state.show(finding));
            (shown, is_stale) = (latest, true);
        }
        if std::mem::take(&mut is_stale) {
            terminal.draw(|frame| areas = draw(frame, state, shown.as_deref(), screen))?;
        }
        let mut patience = PAUSE;
        while event::poll(patience)? {
            patience = Duration::ZERO;
            is_stale = true;
            let effect = match event::read()? {
                Event::Key(pressed) => key(pressed).map(|key| state.key(key)),
                Event::Mouse(MouseEvent { kind, column, row, .. }) => {
                    let at = Position { x: column, y: row };
                    match kind {
                        MouseEventKind::Down(_) => Some(state.click(&areas, at)),
                        MouseEventKind::ScrollUp => Some(state.scroll(&areas, at, Key::Up)),
                        MouseEventKind::ScrollDown => Some(state.scroll(&areas, at, Key::Down)),
                        _ => None,
                    }
                }
                _ => None,
            };
            match effect.unwrap_or(Effect::Draw) {
                Effect::Draw => {}
                Effect::Ask => ask(shared, state, None),
                Effect::Select(selecting) => ask(shared, state, Some(select(&selecting))),
                Effect::Export => state.message = shown.as_deref().map(export),
                Effect::Suspend => {
                    restore();
                    _ = kill_process(getpid(), Signal::TSTP);
                    *terminal = init()?;
                    terminal.clear()?;
                }
                Effect::Quit => return Ok(()),
            }
        }
    }
    Ok(())
}

fn ask(shared: &Shared, state: &ScreenState, selection: Option<Arc<Selection>>) {
    let mut request = lock(&shared.request);
    (request.question, request.is_frozen, request.is_new) = (state.question.clone(), state.is_frozen, true);
    request.selection = selection.or(request.selection.take());
}

/// Takes the terminal over.
fn init() -> io::Result<DefaultTerminal> {
    let mut terminal = ratatui::try_init()?;
    execute!(io::stdout(), EnableMouseCapture)?;
    // A run that was killed has left its picture there, and only what changes is drawn.
    terminal.clear()?;
    Ok(terminal)
}

/// Hands the terminal back.
fn restore() {
    _ = execute!(io::stdout(), DisableMouseCapture);
    ratatui::restore();
}

/// Writes a finding to a new file in the current folder, and says so.
fn export(finding: &LiveFinding) -> String {
    let name = Zoned::now().strftime("ltt-top-%Y%m%d-%H%M%S%.3f.json").to_string();
    let written = File::create_new(&name)
        .and_then(|mut file| serde_json::to_writer(&mut file, finding).map_err(Into::into));
    match written {
        Ok(()) => format!("written to {name}"),
        Err(error) => format!("{name}: cannot write: {error}"),
    }
}

fn key(pressed: KeyEvent) -> Option<Key> {
    if pressed.kind == KeyEventKind::Release {
        return None;
    }
    let is_control = pressed.modifiers.contains(KeyModifiers::CONTROL);
    Some(match pressed.code {
        KeyCode::Char('c') if is_control => Key::Interrupt,
        KeyCode::Char('z') if is_control => Key::Suspend,
        KeyCode::Char(_) if is_control => return None,
        KeyCode::Char(character) => Key::Char(character),
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Escape,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Tab => Key::Tab,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        _ => return None,
    })
}
