//! What the screen shows, and what keys change.

use super::filter;
use crate::analysis::Sort;
use crate::analysis::finding::GroupName;
use crate::analysis::live::{LiveFinding, LiveQuestion, LookBack};
use crate::analysis::quantile::Quantile;
use crate::filter::Condition;

/// A key that was pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A character.
    Char(char),
    /// The key for a new line.
    Enter,
    /// The key to go back.
    Escape,
    /// The key that deletes the last character.
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
    /// To aggregate other events, or by other keys, from now on.
    Select(Selecting),
    /// To end.
    Quit,
}

/// Which events are aggregated, and by which fields.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selecting {
    /// Only events that meet all of these.
    pub conditions: Vec<Condition>,
    /// The fields to group by, if not those of the catalog.
    pub by: Option<Vec<String>>,
}

/// The pane that is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pane {
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
pub struct ScreenState {
    /// The current question to the analysis.
    pub question: LiveQuestion,
    /// The pane that is shown.
    pub pane: Pane,
    /// The row that is chosen.
    pub row: usize,
    /// Whether the display is paused.
    pub is_paused: bool,
    /// Which events are aggregated.
    pub selecting: Selecting,
    /// The filter, as it was typed.
    pub filter: String,
    /// What is wrong with what was typed.
    pub complaint: Option<String>,
    /// The groups that are shown, in their order.
    names: Vec<GroupName>,
}

/// The rankings that a key cycles through.
const SORTS: [Sort; 5] =
    [Sort::Total, Sort::Count, Sort::Percentile(Quantile::P50), Sort::Percentile(Quantile::P99), Sort::Max];

impl ScreenState {
    /// The first screen.
    pub fn new(window: LookBack, sort: Sort, selecting: Selecting) -> ScreenState {
        let question = LiveQuestion {
            window,
            sort,
            quantiles: vec![Quantile::P50, Quantile::P99],
            limit: 200,
            incidents: 50,
            is_drawn: true,
            detail: None,
        };
        let filter = selecting.conditions.iter().map(filter::typed);
        ScreenState {
            question,
            pane: Pane::Groups,
            row: 0,
            is_paused: false,
            filter: filter.collect::<Vec<_>>().join(" "),
            selecting,
            complaint: None,
            names: Vec::new(),
        }
    }

    /// Updates the groups. The chosen group stays chosen if its row changes.
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

    /// Handles a key.
    pub fn key(&mut self, key: Key) -> Effect {
        self.complaint = None;
        match (&mut self.pane, key) {
            (_, Key::Interrupt) => Effect::Quit,
            (Pane::Filter(text) | Pane::By(text), Key::Char(character)) => {
                text.push(character);
                Effect::Draw
            }
            (Pane::Filter(text) | Pane::By(text), Key::Backspace) => {
                text.pop();
                Effect::Draw
            }
            (Pane::Filter(text), Key::Enter) => {
                let text = text.clone();
                self.filter(&text)
            }
            (Pane::By(text), Key::Enter) => {
                let fields: Vec<String> =
                    text.split([',', ' ']).filter(|field| !field.is_empty()).map(str::to_owned).collect();
                self.pane = Pane::Groups;
                self.selecting.by = (!fields.is_empty()).then_some(fields);
                Effect::Select(self.selecting.clone())
            }
            (Pane::Groups, Key::Char('q')) => Effect::Quit,
            (Pane::Detail, Key::Char('q') | Key::Escape | Key::Backspace) => {
                self.pane = Pane::Groups;
                self.question.detail = None;
                Effect::Ask
            }
            (_, Key::Escape) | (Pane::Help, _) => {
                self.pane = match self.question.detail {
                    Some(_) => Pane::Detail,
                    None => Pane::Groups,
                };
                Effect::Draw
            }
            (_, key) => self.command(key),
        }
    }

    /// Handles a key where no text is being typed.
    fn command(&mut self, key: Key) -> Effect {
        let last = self.names.len().saturating_sub(1);
        match key {
            Key::Char('?' | 'h') => self.pane = Pane::Help,
            Key::Char('/') => self.pane = Pane::Filter(self.filter.clone()),
            Key::Char('g') => self.pane = Pane::By(self.selecting.by.clone().unwrap_or_default().join(",")),
            Key::Char('p' | ' ') => self.is_paused = !self.is_paused,
            Key::Char('w') => return self.look_back(self.question.window.next()),
            Key::Char('1') => return self.look_back(LookBack::Seconds),
            Key::Char('2') => return self.look_back(LookBack::Minute),
            Key::Char('3') => return self.look_back(LookBack::Minutes),
            Key::Char('4') => return self.look_back(LookBack::All),
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
                    (self.pane, self.is_paused) = (Pane::Detail, false);
                    return Effect::Ask;
                }
            }
            _ => {}
        }
        Effect::Draw
    }

    fn look_back(&mut self, window: LookBack) -> Effect {
        (self.question.window, self.is_paused) = (window, false);
        Effect::Ask
    }

    /// Applies a typed filter.
    fn filter(&mut self, text: &str) -> Effect {
        match filter::parse(text) {
            Ok(conditions) => {
                self.filter = text.trim().to_owned();
                self.pane = Pane::Groups;
                self.selecting.conditions = conditions;
                Effect::Select(self.selecting.clone())
            }
            Err(error) => {
                self.complaint = Some(error);
                Effect::Draw
            }
        }
    }
}
