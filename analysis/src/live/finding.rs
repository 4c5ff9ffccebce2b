//! A snapshot of events that arrive.

use serde::Serialize;

use super::slices::LookBack;
use super::steps::{STEPS, step_start};
use crate::durations::hist::HistGroup;
use crate::finding::{EventFinding, GroupName, Ns};
use crate::groups::top::Top;
use crate::incidents::Incident;

/// A snapshot.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LiveFinding {
    /// Whether it is the last one.
    pub is_last: bool,
    /// The time up to which events have been merged: nanoseconds since 1970.
    pub time_ns: Option<i64>,
    /// How long ago that was.
    pub lag_ns: Option<u64>,
    /// The sessions.
    pub sessions: Vec<SessionFinding>,
    /// How far back the groups' figures go.
    pub window: LookBack,
    /// Events of all groups for each second of the window.
    pub rate_per_s: Option<f64>,
    /// The number of groups whose figures do not go back to the beginning of the window: there were too many groups.
    pub incomplete_groups: u64,
    /// The groups.
    #[serde(flatten)]
    pub top: Top,
    /// Whether a session has buffers for each process, so that events of processes that have ended may be missing.
    pub has_process_buffers: bool,
    /// Incidents, those settled last first.
    pub incidents: Vec<Incident>,
    /// The number of incidents besides those.
    pub hidden_incidents: u64,
    /// A group with a name like the one that rows are narrowed to, if no row has it.
    #[serde(skip)]
    pub meant: Option<String>,
    /// Why the selection does not fit what has arrived.
    #[serde(skip)]
    pub misfit: Option<String>,
    /// For each group the number of events in each slice of the window, the oldest first.
    #[serde(skip)]
    pub sparks: Vec<Vec<u64>>,
    /// Durations over time.
    #[serde(skip)]
    pub heat: HeatStrip,
    /// The group that was asked for.
    #[serde(skip)]
    pub detail: Option<Detail>,
}

impl LiveFinding {
    /// The number of streams that relays did not show because their process had ended.
    pub fn unseen_streams(&self) -> u64 {
        self.sessions.iter().map(|session| session.unseen_streams).sum()
    }
}

/// A session that is received.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SessionFinding {
    /// Where it is.
    pub url: String,
    /// The host that is traced, where that is known.
    pub host: Option<String>,
    /// How it is doing: `waiting`, `connecting`, `attached`, `lost`, `ended`, `interrupted` or `failed`.
    pub state: &'static str,
    /// Why, if it is lost, interrupted or failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The time up to which its host's events have been merged, while some are awaited: nanoseconds since 1970.
    pub time_ns: Option<i64>,
    /// The number of streams that the relay did not show because their process had ended.
    pub unseen_streams: u64,
}

impl SessionFinding {
    /// A session that does not exist yet.
    pub fn awaited(url: &str) -> SessionFinding {
        let (url, host) = (url.to_owned(), None);
        SessionFinding { url, host, state: "waiting", reason: None, time_ns: None, unseen_streams: 0 }
    }
}

/// One group in detail.
#[derive(Clone, Debug)]
pub struct Detail {
    /// Which.
    pub name: GroupName,
    /// Its durations in the window.
    pub durations: HistGroup,
    /// Its slowest events, from the beginning.
    pub slowest: Vec<EventFinding>,
}

/// The number of events in each slice of time, by how long they took.
#[derive(Clone, Debug, Default)]
pub struct HeatStrip {
    /// How long a slice is.
    pub slice_ns: u64,
    /// The shortest duration of each row, in ascending order: only those that occurred.
    pub rows_from: Vec<Ns>,
    /// For each slice, the oldest first, the number of events in each row.
    pub columns: Vec<Vec<u64>>,
    /// The largest of these numbers.
    pub densest: u64,
}

impl HeatStrip {
    pub(super) fn new(slice_ns: u64, columns: &[[u64; STEPS]]) -> HeatStrip {
        let is_used = |row: &usize| columns.iter().any(|column| column[*row] > 0);
        let rows: Vec<usize> = (0..STEPS).filter(is_used).collect();
        HeatStrip {
            slice_ns,
            rows_from: rows.iter().map(|&row| Ns(step_start(row).into())).collect(),
            columns: columns.iter().map(|column| rows.iter().map(|&row| column[row]).collect()).collect(),
            densest: columns.iter().flatten().copied().max().unwrap_or(0),
        }
    }
}
