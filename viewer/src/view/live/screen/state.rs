//! What the screen shows, and what keys change.

use ratatui::layout::{Position, Rect};

use super::filter;
use ltt_analysis::filter::Condition;
use ltt_analysis::finding::GroupName;
use ltt_analysis::groups::Quantile;
use ltt_analysis::groups::Sort;
use ltt_analysis::incidents::Incident;
use ltt_analysis::live::{LiveFinding, LiveQuestion, LookBack};

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
    /// The key that moves to the next part of the screen.
    Tab,
    /// An arrow.
    Up,
    /// An arrow.
    Down,
    /// A page.
    PageUp,
    /// A page.
    PageDown,
    /// To the first row.
    Home,
    /// To the last row.
    End,
    /// Ctrl-Z.
    Suspend,
    /// Ctrl-C.
    Interrupt,
}

/// What a key asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// To draw again.
    Draw,
    /// To ask the analysis another question, or to freeze it or to let it go on.
    Ask,
    /// To aggregate other events, or by other keys, from now on.
    Select(Selecting),
    /// To write what is shown to a file.
    Export,
    /// To hand the terminal back to the shell.
    Suspend,
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
#[derive(Clone, Debug, PartialEq)]
pub enum Pane {
    /// Groups, heat map and incidents.
    Overview,
    /// One group.
    Detail,
    /// The heat map alone.
    Heat,
    /// One incident.
    Incident(Box<Incident>),
    /// The keys.
    Help,
    /// Conditions that are being typed.
    Filter(String),
    /// A name to narrow the rows to that is being typed.
    Narrow,
    /// Fields to group by that are being typed.
    By(String),
}

/// The part of the overview that keys move in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Focus {
    /// The groups.
    #[default]
    Groups,
    /// The heat map.
    Heat,
    /// The incidents.
    Incidents,
}

/// Where the parts of the overview are.
#[derive(Clone, Copy, Debug, Default)]
pub struct OverviewAreas {
    /// The groups.
    pub groups: Rect,
    /// The heat map.
    pub heat: Rect,
    /// The incidents.
    pub incidents: Rect,
}

impl OverviewAreas {
    fn at(&self, place: Position) -> Option<(Focus, Rect)> {
        let parts =
            [(Focus::Groups, self.groups), (Focus::Heat, self.heat), (Focus::Incidents, self.incidents)];
        parts.into_iter().find(|(_, area)| area.contains(place))
    }
}

/// The first row that is shown of a list with a heading, so that the chosen one is visible.
pub fn first_row(chosen: usize, height: u16) -> usize {
    (chosen + 1).saturating_sub(usize::from(height).saturating_sub(1).max(1))
}

/// What the screen shows.
#[derive(Clone, Debug)]
pub struct ScreenState {
    /// The current question to the analysis.
    pub question: LiveQuestion,
    /// The pane that is shown.
    pub pane: Pane,
    /// The part of the overview that keys move in.
    pub focus: Focus,
    /// The group that is chosen.
    pub row: usize,
    /// The incident that is chosen.
    pub incident: usize,
    /// Whether the display shows what was known when it was frozen.
    pub is_frozen: bool,
    /// Which events are aggregated.
    pub selecting: Selecting,
    /// The filter, as it was typed.
    pub filter: String,
    /// What is wrong with what was typed, or what a key has done.
    pub message: Option<String>,
    /// The groups that are shown, in their order.
    names: Vec<GroupName>,
    /// The incidents that are shown, in their order.
    incidents: Vec<Incident>,
}

/// The rankings that a key cycles through.
const SORTS: [Sort; 5] =
    [Sort::Total, Sort::Count, Sort::Percentile(Quantile::P50), Sort::Percentile(Quantile::P99), Sort::Max];

impl ScreenState {
    /// The first screen.
    pub fn new(window: LookBack, sort: Sort, selecting: Selecting) -> ScreenState {
        let mut quantiles = vec![Quantile::P50, Quantile::P99];
        if let Sort::Percentile(quantile) = sort
            && !quantiles.contains(&quantile)
        {
            quantiles.push(quantile);
        }
        let question = LiveQuestion {
            window,
            sort,
            quantiles,
            limit: 200,
            incidents: 200,
            is_drawn: true,
            narrow: String::new(),
            detail: None,
        };
        let filter = selecting.conditions.iter().map(filter::typed);
        ScreenState {
            question,
            pane: Pane::Overview,
            focus: Focus::Groups,
            row: 0,
            incident: 0,
            is_frozen: false,
            filter: filter.collect::<Vec<_>>().join(" "),
            selecting,
            message: None,
            names: Vec::new(),
            incidents: Vec::new(),
        }
    }

    /// Updates the groups and the incidents. What is chosen stays chosen if its row changes.
    pub fn show(&mut self, finding: &LiveFinding) {
        let chosen = self.names.get(self.row).cloned();
        self.names = finding.top.groups.iter().map(|group| group.name.clone()).collect();
        self.row = follow(self.row, self.names.len(), || {
            self.names.iter().position(|name| Some(name) == chosen.as_ref())
        });
        let place = |incident: &Incident| (incident.begin_ns, incident.end_ns);
        let chosen = self.incidents.get(self.incident).map(place);
        self.incidents = finding.incidents.clone();
        self.incident = follow(self.incident, self.incidents.len(), || {
            self.incidents.iter().position(|incident| Some(place(incident)) == chosen)
        });
    }

    /// Handles a key.
    pub fn key(&mut self, key: Key) -> Effect {
        self.message = None;
        match (&mut self.pane, key) {
            (_, Key::Interrupt) => Effect::Quit,
            (_, Key::Suspend) => Effect::Suspend,
            (Pane::Filter(text) | Pane::By(text), Key::Char(character)) => {
                text.push(character);
                Effect::Draw
            }
            (Pane::Filter(text) | Pane::By(text), Key::Backspace) => {
                text.pop();
                Effect::Draw
            }
            (Pane::Narrow, Key::Char(character)) => {
                self.question.narrow.push(character);
                Effect::Ask
            }
            (Pane::Narrow, Key::Backspace) => {
                self.question.narrow.pop();
                Effect::Ask
            }
            (Pane::Narrow, Key::Escape) => {
                self.question.narrow.clear();
                self.pane = Pane::Overview;
                Effect::Ask
            }
            (Pane::Narrow, Key::Enter) => {
                (self.pane, self.focus) = (Pane::Overview, Focus::Groups);
                Effect::Draw
            }
            (Pane::Filter(text), Key::Enter) => {
                let text = text.clone();
                self.filter(&text)
            }
            (Pane::By(text), Key::Enter) => {
                let fields: Vec<String> =
                    text.split([',', ' ']).filter(|field| !field.is_empty()).map(str::to_owned).collect();
                self.selecting.by = (!fields.is_empty()).then_some(fields);
                self.select()
            }
            (Pane::Overview, Key::Char('q')) => Effect::Quit,
            (Pane::Overview, Key::Escape) if !self.question.narrow.is_empty() => {
                self.question.narrow.clear();
                Effect::Ask
            }
            (Pane::Detail, Key::Char('q') | Key::Escape | Key::Backspace) => {
                self.pane = Pane::Overview;
                self.question.detail = None;
                Effect::Ask
            }
            (Pane::Incident(_) | Pane::Heat, Key::Char('q') | Key::Escape | Key::Backspace)
            | (_, Key::Escape)
            | (Pane::Help, _) => {
                self.pane = match self.question.detail {
                    Some(_) => Pane::Detail,
                    None => Pane::Overview,
                };
                Effect::Draw
            }
            (_, key) => self.command(key),
        }
    }

    /// Handles a click at a place on the screen: it chooses a row, and opens what is chosen already.
    pub fn click(&mut self, areas: &OverviewAreas, at: Position) -> Effect {
        let Some((focus, area)) = areas.at(at).filter(|_| self.pane == Pane::Overview) else {
            return Effect::Draw;
        };
        self.focus = focus;
        let (row, count) = match focus {
            Focus::Groups => (&mut self.row, self.names.len()),
            Focus::Incidents => (&mut self.incident, self.incidents.len()),
            Focus::Heat => return Effect::Draw,
        };
        // The first line is the heading.
        let Some(line) = usize::from(at.y - area.y).checked_sub(1) else { return Effect::Draw };
        let clicked = first_row(*row, area.height) + line;
        if clicked == *row {
            return self.open();
        }
        *row = clicked.min(count.saturating_sub(1));
        Effect::Draw
    }

    /// Handles a turn of the mouse's wheel at a place on the screen.
    pub fn scroll(&mut self, areas: &OverviewAreas, at: Position, key: Key) -> Effect {
        if let Some((focus, _)) = areas.at(at).filter(|_| self.pane == Pane::Overview) {
            self.focus = focus;
            self.move_to(key);
        }
        Effect::Draw
    }

    /// Handles a key where no text is being typed.
    fn command(&mut self, key: Key) -> Effect {
        match key {
            Key::Char('?' | 'h') => self.pane = Pane::Help,
            Key::Char('/') => (self.pane, self.focus) = (Pane::Narrow, Focus::Groups),
            Key::Char('f') => self.pane = Pane::Filter(self.filter.clone()),
            Key::Char('g') => self.pane = Pane::By(self.selecting.by.clone().unwrap_or_default().join(",")),
            Key::Char('e') => return Effect::Export,
            Key::Char('p' | ' ') => {
                self.is_frozen = !self.is_frozen;
                return Effect::Ask;
            }
            Key::Char('w') => return self.look_back(self.question.window.next()),
            Key::Char('1') => return self.look_back(LookBack::Seconds),
            Key::Char('2') => return self.look_back(LookBack::Minute),
            Key::Char('3') => return self.look_back(LookBack::Minutes),
            Key::Char('4') => return self.look_back(LookBack::All),
            Key::Char('s') => {
                let place = SORTS.iter().position(|sort| *sort == self.question.sort);
                self.question.sort = SORTS[place.map_or(0, |place| (place + 1) % SORTS.len())];
                self.row = 0;
                return Effect::Ask;
            }
            Key::Tab if self.pane == Pane::Overview => {
                self.focus = match self.focus {
                    Focus::Groups => Focus::Heat,
                    Focus::Heat => Focus::Incidents,
                    Focus::Incidents => Focus::Groups,
                }
            }
            Key::Enter if self.pane == Pane::Overview => return self.open(),
            key => self.move_to(key),
        }
        Effect::Draw
    }

    /// Chooses another row of the part that has the focus.
    fn move_to(&mut self, key: Key) {
        let (row, count) = match self.focus {
            Focus::Groups => (&mut self.row, self.names.len()),
            Focus::Incidents => (&mut self.incident, self.incidents.len()),
            Focus::Heat => return,
        };
        *row = match key {
            Key::Up | Key::Char('k') => row.saturating_sub(1),
            Key::Down | Key::Char('j') => *row + 1,
            Key::PageUp => row.saturating_sub(10),
            Key::PageDown => *row + 10,
            Key::Home => 0,
            Key::End => usize::MAX,
            _ => *row,
        }
        .min(count.saturating_sub(1));
    }

    /// Shows what is chosen in full.
    fn open(&mut self) -> Effect {
        match self.focus {
            Focus::Groups => {
                if let Some(name) = self.names.get(self.row) {
                    self.question.detail = Some(name.clone());
                    self.pane = Pane::Detail;
                    return Effect::Ask;
                }
            }
            Focus::Heat => self.pane = Pane::Heat,
            Focus::Incidents => {
                let chosen = self.incidents.get(self.incident).cloned();
                chosen.into_iter().for_each(|incident| self.pane = Pane::Incident(Box::new(incident)));
            }
        }
        Effect::Draw
    }

    fn look_back(&mut self, window: LookBack) -> Effect {
        self.question.window = window;
        Effect::Ask
    }

    /// Aggregates other events from now on.
    fn select(&mut self) -> Effect {
        (self.pane, self.is_frozen) = (Pane::Overview, false);
        Effect::Select(self.selecting.clone())
    }

    /// Applies a typed filter.
    fn filter(&mut self, text: &str) -> Effect {
        match filter::parse(text) {
            Ok(conditions) => {
                self.filter = text.trim().to_owned();
                self.selecting.conditions = conditions;
                self.select()
            }
            Err(error) => {
                self.message = Some(error);
                Effect::Draw
            }
        }
    }
}

/// The row of what was chosen, where that is known; the first row stays the first.
fn follow(row: usize, count: usize, place: impl Fn() -> Option<usize>) -> usize {
    let row = if row > 0 { place().unwrap_or(row) } else { 0 };
    row.min(count.saturating_sub(1))
}
