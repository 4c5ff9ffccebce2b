//! Which filters an event passes.

/// Whether an event passes the filters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passes {
    /// Those on its duration.
    pub by_duration: bool,
    /// All others.
    pub otherwise: bool,
}

impl Passes {
    /// Without filters, every event passes.
    pub const ALL: Passes = Passes { by_duration: true, otherwise: true };

    /// Whether it passes all filters.
    pub fn all(self) -> bool {
        self.by_duration && self.otherwise
    }
}
