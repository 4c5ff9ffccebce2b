//! The fields to ask for, and where their values will be.

/// The fields to ask for, each once.
#[derive(Default)]
pub(crate) struct Slots(pub Vec<usize>);

impl Slots {
    /// The slot in which the field will be.
    pub fn of(&mut self, field: usize) -> usize {
        let known = self.0.iter().position(|&wanted| wanted == field);
        known.unwrap_or_else(|| {
            self.0.push(field);
            self.0.len() - 1
        })
    }
}
