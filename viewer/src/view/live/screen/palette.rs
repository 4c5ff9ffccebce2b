//! How the screen looks: in colours, or without.

use ratatui::style::{Color, Modifier, Style};

/// How things are shown: in colours, or without.
#[derive(Clone, Copy, Debug)]
pub struct Palette {
    pub has_colours: bool,
}

impl Palette {
    fn colour(self, colour: Color) -> Style {
        if self.has_colours { Style::new().fg(colour) } else { Style::new() }
    }

    pub fn title(self) -> Style {
        self.colour(Color::Cyan).add_modifier(Modifier::BOLD)
    }

    pub fn warning(self) -> Style {
        self.colour(Color::Yellow).add_modifier(Modifier::BOLD)
    }

    pub fn faint(self) -> Style {
        self.colour(Color::DarkGray)
    }

    pub fn spark(self) -> Style {
        self.colour(Color::Green)
    }

    /// A chosen row, of the part that keys move in or of another.
    pub fn chosen(self, is_here: bool) -> Style {
        Style::new().add_modifier(if is_here { Modifier::REVERSED } else { Modifier::BOLD })
    }

    /// The colour of a cell of the heat map, by how dense it is: from 0 to 4.
    pub fn heat(self, level: usize) -> Style {
        let colours = [Color::DarkGray, Color::Blue, Color::Green, Color::Yellow, Color::Red];
        self.colour(colours[level.min(4)])
    }
}
