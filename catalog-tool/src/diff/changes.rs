//! The changes that were found, and who notices each.

use serde::Serialize;

/// One change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Where: `provider:event`, and a field after ` → `.
    pub place: String,
    /// What is different now.
    pub change: String,
    /// Whether a reader of traces notices.
    pub reader: bool,
    /// Whether a caller notices.
    pub caller: bool,
}

/// Who notices a change.
#[derive(Clone, Copy, Debug)]
pub(super) enum Notices {
    Nobody,
    Reader,
    Caller,
    Both,
}

/// The changes found so far.
#[derive(Default)]
pub(super) struct Changes {
    pub(super) list: Vec<Change>,
}

impl Changes {
    pub(super) fn add(&mut self, place: &str, change: impl Into<String>, notices: Notices) {
        self.list.push(Change {
            place: place.to_owned(),
            change: change.into(),
            reader: matches!(notices, Notices::Reader | Notices::Both),
            caller: matches!(notices, Notices::Caller | Notices::Both),
        });
    }

    /// Adds that a value differs; `none` stands for an empty one.
    pub(super) fn changed(&mut self, place: &str, what: &str, old: &str, new: &str, notices: Notices) {
        if old != new {
            let show = |text: &str| if text.is_empty() { "none".to_owned() } else { format!("`{text}`") };
            self.add(place, format!("{what}: {}, was {}", show(new), show(old)), notices);
        }
    }

    pub(super) fn documentation(&mut self, place: &str, old: &str, new: &str) {
        if old != new {
            self.add(place, "documented differently", Notices::Nobody);
        }
    }
}
