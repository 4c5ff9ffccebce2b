//! The full screen: what it shows, and what keys do. It is drawn with ratatui; the state does not depend on a terminal.

mod detail;
mod draw;
mod filter;
mod groups;
mod heat;
mod incident;
mod keys;
mod palette;
mod state;

pub use draw::draw;
pub use state::{Effect, Key, OverviewAreas, ScreenState, Selecting};
