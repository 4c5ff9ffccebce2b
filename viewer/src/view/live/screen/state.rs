//! What the screen shows, and what keys change.

use crate::analysis::Sort;
use crate::analysis::finding::GroupName;
use crate::analysis::histogram::Quantile;
use crate::analysis::live::{LiveFinding, Question, Window};
use crate::filter::Condition;

/// A key that was pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A character.
    Char(char),
    /// The key for a new line.
    Enter,
    /// The key to get out of something.
    Escape,
    /// The key that takes the last character back.
    Backspace,
    /// An arrow.
    Up,
    /// An arrow.
    Down,
    /// A page.
    PageUp,
    /// A page.
    PageDown,
    /// Ctrl-C.
    Interrupt,
}

/// What a key asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// To draw again.
    Draw,
    /// To ask the analysis another question.
    Ask,
    /// To sum up other events, or by other keys, from now on.
    Select(Selecting),
    /// To end.
    Quit,
}

/// Which events are summed up, and by what.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selecting {
    /// Only events that fulfil all of these.
    pub conditions: Vec<Condition>,
    /// The fields that tell groups apart, if not those of the catalog.
    pub by: Option<Vec<String>>,
}

/// What is in front.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The groups.
    Groups,
    /// One group.
    Detail,
    /// The keys.
    Help,
    /// A filter that is being typed.
    Filter(String),
    /// Fields to group by that are being typed.
    By(String),
}

/// What the screen shows.
#[derive(Clone, Debug)]
pub struct State {
    /// What is asked of the analysis.
    pub question: Question,
    /// What is in front.
    pub mode: Mode,
    /// The row that is chosen.
    pub row: usize,
    /// Whether what is shown stays as it is.
    pub is_paused: bool,
    /// Which events are summed up.
    pub selecting: Selecting,
    /// The filter, as it was typed.
    pub filter: String,
    /// What is wrong with what was typed.
    pub complaint: Option<String>,
    /// The groups that are shown, in their order.
    names: Vec<GroupName>,
}

/// What the groups can be ranked by with a key.
const SORTS: [Sort; 5] =
    [Sort::Total, Sort::Count, Sort::Percentile(Quantile::P50), Sort::Percentile(Quantile::P99), Sort::Max];

impl State {
    /// The first screen.
    pub fn new(window: Window, sort: Sort, selecting: Selecting) -> State {
        let question = Question {
            window,
            sort,
            quantiles: vec![Quantile::P50, Quantile::P99],
            limit: 200,
            incidents: 50,
            is_drawn: true,
            detail: None,
        };
        let typed = |condition: &Condition| condition.given.trim_start_matches("--where ").to_owned();
        let filter = selecting.conditions.iter().map(typed);
        State {
            question,
            mode: Mode::Groups,
            row: 0,
            is_paused: false,
            filter: filter.collect::<Vec<_>>().join(" "),
            selecting,
            complaint: None,
            names: Vec::new(),
        }
    }

    /// Takes note of what is shown now. The chosen group stays chosen where it is another one's turn.
    pub fn show(&mut self, finding: &LiveFinding) {
        let chosen = self.names.get(self.row).cloned();
        self.names = finding.top.groups.iter().map(|group| group.name.clone()).collect();
        if self.row > 0
            && let Some(place) = chosen.and_then(|chosen| self.names.iter().position(|name| *name == chosen))
        {
            self.row = place;
        }
        self.row = self.row.min(self.names.len().saturating_sub(1));
    }

    /// Does what a key says.
    pub fn key(&mut self, key: Key) -> Effect {
        self.complaint = None;
        match (&mut self.mode, key) {
            (_, Key::Interrupt) => Effect::Quit,
            (Mode::Filter(text) | Mode::By(text), Key::Char(character)) => {
                text.push(character);
                Effect::Draw
            }
            (Mode::Filter(text) | Mode::By(text), Key::Backspace) => {
                text.pop();
                Effect::Draw
            }
            (Mode::Filter(text), Key::Enter) => {
                let text = text.clone();
                self.filter(&text)
            }
            (Mode::By(text), Key::Enter) => {
                let fields: Vec<String> =
                    text.split([',', ' ']).filter(|field| !field.is_empty()).map(str::to_owned).collect();
                self.mode = Mode::Groups;
                self.selecting.by = (!fields.is_empty()).then_some(fields);
                Effect::Select(self.selecting.clone())
            }
            (Mode::Groups, Key::Char('q')) => Effect::Quit,
            (Mode::Detail, Key::Char('q') | Key::Escape | Key::Backspace) => {
                self.mode = Mode::Groups;
                self.question.detail = None;
                Effect::Ask
            }
            (_, Key::Escape) | (Mode::Help, _) => {
                self.mode = match self.question.detail {
                    Some(_) => Mode::Detail,
                    None => Mode::Groups,
                };
                Effect::Draw
            }
            (_, key) => self.command(key),
        }
    }

    /// Does what a key says where nothing is being typed.
    fn command(&mut self, key: Key) -> Effect {
        let last = self.names.len().saturating_sub(1);
        match key {
            Key::Char('?' | 'h') => self.mode = Mode::Help,
            Key::Char('/') => self.mode = Mode::Filter(self.filter.clone()),
            Key::Char('g') => self.mode = Mode::By(self.selecting.by.clone().unwrap_or_default().join(",")),
            Key::Char('p' | ' ') => self.is_paused = !self.is_paused,
            Key::Char('w') => return self.look_back(self.question.window.next()),
            Key::Char('1') => return self.look_back(Window::Seconds),
            Key::Char('2') => return self.look_back(Window::Minute),
            Key::Char('3') => return self.look_back(Window::Minutes),
            Key::Char('4') => return self.look_back(Window::All),
            Key::Char('s') => {
                let place = SORTS.iter().position(|sort| *sort == self.question.sort);
                self.question.sort = SORTS[place.map_or(0, |place| (place + 1) % SORTS.len())];
                (self.row, self.is_paused) = (0, false);
                return Effect::Ask;
            }
            Key::Up | Key::Char('k') => self.row = self.row.saturating_sub(1),
            Key::Down | Key::Char('j') => self.row = (self.row + 1).min(last),
            Key::PageUp => self.row = self.row.saturating_sub(10),
            Key::PageDown => self.row = (self.row + 10).min(last),
            Key::Enter => {
                if let Some(name) = self.names.get(self.row) {
                    self.question.detail = Some(name.clone());
                    (self.mode, self.is_paused) = (Mode::Detail, false);
                    return Effect::Ask;
                }
            }
            _ => {}
        }
        Effect::Draw
    }

    fn look_back(&mut self, window: Window) -> Effect {
        (self.question.window, self.is_paused) = (window, false);
        Effect::Ask
    }

    /// Takes a filter that was typed: conditions with spaces between them.
    fn filter(&mut self, text: &str) -> Effect {
        let conditions: Result<Vec<Condition>, _> = text.split_whitespace().map(str::parse).collect();
        match conditions {
            Ok(conditions) => {
                self.filter = text.trim().to_owned();
                self.mode = Mode::Groups;
                self.selecting.conditions = conditions;
                Effect::Select(self.selecting.clone())
            }
            Err(error) => {
                self.complaint = Some(error.to_string());
                Effect::Draw
            }
        }
    }
}
