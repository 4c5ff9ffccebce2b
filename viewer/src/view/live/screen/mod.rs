//! The full screen: what it shows, and what keys do. It is drawn with ratatui; the state does not depend on a terminal.

mod detail;
mod draw;
mod filter;
mod groups;
mod heat;
mod help;
mod incident;
mod palette;
mod state;

pub use draw::draw;
pub use state::{Effect, Focus, Key, OverviewAreas, Pane, ScreenState, Selecting};
