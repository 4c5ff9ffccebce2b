//! What is judged, and what is then selected of it.

use std::sync::Arc;

use ctf_reader::Window;

use crate::reading::selection::Selection;

/// From where a trace is looked at.
///
/// Verdicts rest on all that was recorded: a window and filters select from what was found, unless only what passes is to
/// be judged, as if nothing else had been recorded.
pub(crate) struct Angle {
    /// The window that is judged.
    pub judged: Window,
    /// Whether only what passes is judged.
    pub in_isolation: bool,
    /// Whether a window or a filter selects from what is found.
    pub selects: bool,
    /// Whether a window does.
    pub has_window: bool,
}

impl Angle {
    pub fn new(selection: &Selection, window: Window, in_isolation: bool) -> Self {
        let has_window = !in_isolation && (window.since, window.until) != (None, None);
        Angle {
            judged: if in_isolation { window } else { Window::default() },
            in_isolation,
            selects: has_window || (!in_isolation && selection.is_filter()),
            has_window,
        }
    }

    /// The events that are judged: all, or those that pass; `of_all` says what is left of a selection for all.
    pub fn selection(
        &self,
        selection: &Arc<Selection>,
        of_all: fn(&Selection) -> Selection,
    ) -> Arc<Selection> {
        if self.in_isolation { Arc::clone(selection) } else { Arc::new(of_all(selection)) }
    }
}
