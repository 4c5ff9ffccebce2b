//! The full screen: one thread draws and takes keys, another merges and sums up, so that neither waits for the other.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use ctf_reader::Window;
use ltt_top::analysis::Selection;
use ltt_top::analysis::live::{Intake, LiveAnalysis, LiveFinding, LiveQuestion, LookBack, Turn};
use ltt_top::view::Screen;
use ltt_top::view::live::screen::{Effect, Key, ScreenState, Selecting, draw};
use lttng_live::Live;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::plain::finding;
use super::signals::Ending;
use super::{length, window};
use crate::cli::{Command, LiveOptions};
use crate::job::{Invocation, Outcome, Trouble};

/// How often figures are worked out.
const REFRESH: Duration = Duration::from_millis(250);

/// The longest pause before keys, signals and new figures are looked at.
const PAUSE: Duration = Duration::from_millis(50);

/// How long a terminal that takes nothing may keep us after we were told to end.
const GRACE: Duration = Duration::from_secs(1);

/// What the two threads share.
struct Shared {
    orders: Mutex<Request>,
    latest: Mutex<Option<Arc<LiveFinding>>>,
    is_closing: AtomicBool,
}

/// What the screen wants to know.
struct Request {
    question: LiveQuestion,
    /// What to sum up from now on, if that has changed.
    selection: Option<Arc<Selection>>,
    is_new: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Fills the screen until the user, a signal or the time that was given ends it.
pub fn run(
    command: &Command,
    options: &LiveOptions,
    job: &Invocation<'_>,
    live: Live,
    ending: &Ending,
) -> Result<Outcome, Trouble> {
    let base = job.selection(command, options.top.grouping.by.as_deref())?;
    let selecting = Selecting { conditions: options.top.common.conditions.clone(), by: base.by.clone() };
    let look_back = options.window.unwrap_or(LookBack::Minute);
    let mut state = ScreenState::new(look_back, options.top.grouping.sort, selecting);
    let desk = Arc::new(Shared {
        orders: Mutex::new(Request { question: state.question.clone(), selection: None, is_new: true }),
        latest: Mutex::new(None),
        is_closing: AtomicBool::new(false),
    });
    let events = window(&options.top.common, job)?;
    let analyst = {
        let (desk, selection) = (Arc::clone(&desk), Arc::new(base.clone()));
        let threshold = options.rule.longer_than;
        thread::spawn(move || analyse(live, events, &selection, threshold, &desk))
    };
    let deadline = options.for_length.map(|nanoseconds| Instant::now() + length(nanoseconds));
    guard(ending, options.enable.is_empty());
    let mut terminal = ratatui::try_init()?;
    let select = |selecting: &Selecting| {
        let kept = base.conditions.iter().skip(options.top.common.conditions.len());
        let conditions = selecting.conditions.iter().chain(kept).cloned().collect();
        Arc::new(Selection { conditions, by: selecting.by.clone(), ..base.clone() })
    };
    let shown = show(&mut terminal, &mut state, &desk, &job.screen, &select, || {
        ending.is_asked_for()
            || analyst.is_finished() && lock(&desk.latest).as_ref().is_none_or(|last| !last.is_last)
            || deadline.is_some_and(|deadline| Instant::now() >= deadline)
    });
    ratatui::restore();
    desk.is_closing.store(true, Ordering::Relaxed);
    if analyst.join().is_err() {
        return Err(Trouble::Failed("the analysis ended unexpectedly; see the message above".into()));
    }
    shown?;
    let last = lock(&desk.latest).clone();
    let failed = last.iter().flat_map(|last| &last.sessions).find(|session| session.state == "failed");
    match failed {
        Some(session) => {
            let reason = session.reason.clone().unwrap_or_default();
            Err(Trouble::Failed(format!("{}: {reason}", session.url)))
        }
        None => Ok(Outcome::Complete),
    }
}

/// Merges and sums up, and lays out what is known whenever it is due.
fn analyse(live: Live, events: Window, selection: &Arc<Selection>, threshold: u64, desk: &Shared) {
    let mut intake = Intake::new(live, events, LiveAnalysis::new(selection, threshold));
    let mut next = Instant::now();
    loop {
        let turn = intake.turn(next.saturating_duration_since(Instant::now()).min(PAUSE));
        if desk.is_closing.load(Ordering::Relaxed) {
            return;
        }
        let (question, is_new) = {
            let mut orders = lock(&desk.orders);
            if let Some(selection) = orders.selection.take() {
                intake.with_audience(|analysis| analysis.select(&selection));
            }
            (orders.question.clone(), std::mem::take(&mut orders.is_new))
        };
        let is_last = turn == Turn::Over;
        if is_last {
            intake.with_audience(LiveAnalysis::finish);
        } else if !is_new && Instant::now() < next {
            continue;
        }
        next = Instant::now() + REFRESH;
        let mut finding = finding(&intake, &question);
        finding.is_last = is_last;
        *lock(&desk.latest) = Some(Arc::new(finding));
        if is_last {
            // What was seen stays, and can be looked at.
            while !desk.is_closing.load(Ordering::Relaxed) {
                thread::sleep(PAUSE);
                let question = {
                    let mut orders = lock(&desk.orders);
                    std::mem::take(&mut orders.is_new).then(|| orders.question.clone())
                };
                if let Some(question) = question {
                    let mut again = self::finding(&intake, &question);
                    again.is_last = true;
                    *lock(&desk.latest) = Some(Arc::new(again));
                }
            }
            return;
        }
    }
}

/// Draws what is new, and does what keys say.
fn show(
    terminal: &mut DefaultTerminal,
    state: &mut ScreenState,
    desk: &Shared,
    screen: &Screen,
    select: &dyn Fn(&Selecting) -> Arc<Selection>,
    is_over: impl Fn() -> bool,
) -> io::Result<()> {
    let mut shown: Option<Arc<LiveFinding>> = None;
    let mut is_stale = true;
    while !is_over() {
        let latest = lock(&desk.latest).clone();
        let is_another = match (&latest, &shown) {
            (Some(latest), Some(shown)) => !Arc::ptr_eq(latest, shown),
            (latest, shown) => latest.is_some() != shown.is_some(),
        };
        if is_another && !state.is_paused {
            latest.iter().for_each(|finding| state.show(finding));
            (shown, is_stale) = (latest, true);
        }
        if std::mem::take(&mut is_stale) {
            terminal.draw(|frame| draw(frame, state, shown.as_deref(), screen))?;
        }
        let mut patience = PAUSE;
        while event::poll(patience)? {
            patience = Duration::ZERO;
            is_stale = true;
            let Event::Key(pressed) = event::read()? else { continue };
            let Some(key) = key(pressed) else { continue };
            match state.key(key) {
                Effect::Draw => {}
                Effect::Ask => order(desk, state, None),
                Effect::Select(selecting) => order(desk, state, Some(select(&selecting))),
                Effect::Quit => return Ok(()),
            }
        }
    }
    Ok(())
}

fn order(desk: &Shared, state: &ScreenState, selection: Option<Arc<Selection>>) {
    let mut orders = lock(&desk.orders);
    (orders.question, orders.is_new) = (state.question.clone(), true);
    orders.selection = selection.or(orders.selection.take());
}

fn key(pressed: KeyEvent) -> Option<Key> {
    if pressed.kind == KeyEventKind::Release {
        return None;
    }
    let is_control = pressed.modifiers.contains(KeyModifiers::CONTROL);
    Some(match pressed.code {
        KeyCode::Char('c') if is_control => Key::Interrupt,
        KeyCode::Char(_) if is_control => return None,
        KeyCode::Char(character) => Key::Char(character),
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Escape,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        _ => return None,
    })
}

/// Ends the process if it was told to and cannot, because the terminal takes nothing.
fn guard(ending: &Ending, may_exit: bool) {
    let ending = ending.clone();
    thread::spawn(move || {
        while !ending.is_asked_for() {
            thread::sleep(PAUSE);
        }
        thread::sleep(GRACE);
        // The attributes of the terminal can be set even if nothing can be written to it.
        _ = ratatui::crossterm::terminal::disable_raw_mode();
        if may_exit {
            std::process::exit(0);
        }
    });
}
