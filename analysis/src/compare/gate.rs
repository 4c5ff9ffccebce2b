//! A gate for CI: what a comparison must not find, and what it must not be passed with.

use std::fmt;
use std::str::FromStr;

use super::finding::{Change, Compare, FIGURES, FailureFinding, GroupChange};
use crate::finding::TraceFinding;
use crate::text::amount::{counted, share};

/// What the figures are called in limits, in the order of [`FIGURES`].
const NAMES: [&str; FIGURES.len()] = ["rate", "p50", "p90", "p99", "p99.9", "max", "time"];

/// The share of the time that a group may take which only one recording has, if no limit says otherwise: rare groups come and go.
const NEW_OR_GONE: f64 = 0.1;

/// What a limit is on.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Limited {
    /// A figure of any group: its place in [`FIGURES`].
    Figure(usize),
    /// The share of the time in which a process was held up.
    Blocked,
    /// The number of incidents in a second.
    Incidents,
    /// The time of a group that only the later recording has.
    New,
    /// The time of a group that only the earlier one has.
    Gone,
}

/// A limit: a figure that is not to change by more than this, in one direction, or a group that is not to appear or to vanish.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FailIf {
    limited: Limited,
    is_above: bool,
    /// The change in per cent, with its sign; of groups that are new or gone, the share of the time.
    percent: f64,
}

/// Something that makes a gate fail, unless it is allowed by its name: limits that are kept prove nothing then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allowed {
    /// Nothing to compare.
    Empty,
    /// A recording that lost events.
    Lost,
    /// A later recording that is shorter than half of the earlier one.
    Short,
    /// A recording that is damaged.
    Damaged,
    /// Groups that only the later recording has.
    New,
    /// Groups that only the earlier recording has.
    Gone,
}

impl Allowed {
    /// All of them, with their names and what each means.
    pub const ALL: [(Allowed, &'static str, &'static str); 6] = [
        (Allowed::Empty, "empty", "Nothing to compare: no events, no durations, or no group in common"),
        (Allowed::Lost, "lost", "A recording that lost events"),
        (Allowed::Short, "short", "An AFTER that is shorter than half of BEFORE"),
        (Allowed::Damaged, "damaged", "A recording that is damaged"),
        (Allowed::New, "new", "Groups that only AFTER has"),
        (Allowed::Gone, "gone", "Groups that only BEFORE has"),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Allowed::ALL[self as usize].1
    }
}

/// What a comparison must pass; without limits it passes.
#[derive(Clone, Debug, Default)]
pub struct Gate {
    /// Changes that are reported as failures.
    pub limits: Vec<FailIf>,
    /// What is not.
    pub allowed: Vec<Allowed>,
}

impl Gate {
    /// The number of figures of each group that are looked at.
    pub(super) fn figures(&self) -> usize {
        self.limits.iter().filter(|limit| matches!(limit.limited, Limited::Figure(_))).count()
    }

    /// What the gate does not let pass, of a comparison with all of its groups.
    pub(super) fn failures(&self, found: &Compare) -> Vec<FailureFinding> {
        if self.limits.is_empty() {
            return Vec::new();
        }
        let is_allowed = |what: &Allowed| self.allowed.contains(what);
        let doubts = doubts(found).into_iter().filter(|(what, _)| !is_allowed(what));
        let mut failures: Vec<FailureFinding> =
            doubts.map(|(what, reason)| FailureFinding::of_all(what.name().to_owned(), reason)).collect();
        self.all_limits().iter().for_each(|limit| failures.extend(limit.failures(found)));
        failures
    }

    /// The limits that were given, and those on groups of one recording only that hold otherwise.
    fn all_limits(&self) -> Vec<FailIf> {
        let has = |limited: Limited| self.limits.iter().any(|limit| limit.limited == limited);
        let usual = [(Limited::New, Allowed::New), (Limited::Gone, Allowed::Gone)].into_iter();
        let usual = usual.filter(|(limited, allowed)| !has(*limited) && !self.allowed.contains(allowed));
        let usual = usual.map(|(limited, _)| FailIf { limited, is_above: true, percent: NEW_OR_GONE });
        self.limits.iter().copied().chain(usual).collect()
    }

    /// The limits, and what must be allowed by name and is not.
    pub(super) fn checked(&self) -> Vec<String> {
        if self.limits.is_empty() {
            return Vec::new();
        }
        // Those on groups have limits.
        let doubts = [Allowed::Empty, Allowed::Lost, Allowed::Short, Allowed::Damaged].into_iter();
        let doubts = doubts.filter(|what| !self.allowed.contains(what)).map(|what| what.name().to_owned());
        doubts.chain(self.all_limits().iter().map(ToString::to_string)).collect()
    }
}

/// Why limits that are kept prove nothing.
fn doubts(found: &Compare) -> Vec<(Allowed, String)> {
    let sides = [("BEFORE", &found.before), ("AFTER", &found.trace)];
    let mut doubts = Vec::new();
    let is_in_both = |group: &GroupChange| group.figures.iter().all(Option::is_some);
    if let Some((side, _)) = sides.iter().find(|(_, trace)| trace.events == 0) {
        doubts.push((Allowed::Empty, format!("nothing to compare: {side} has no events")));
    } else if !found.groups.iter().any(is_in_both) {
        let reason = "nothing to compare: no group with durations is in both recordings";
        doubts.push((Allowed::Empty, reason.to_owned()));
    }
    for (side, trace) in sides {
        if trace.discarded_events > 0 || trace.lost_packets > 0 {
            doubts.push((Allowed::Lost, format!("{side} lost {}", lost(trace))));
        }
        if let Some(damage) = trace.damage.first() {
            doubts.push((Allowed::Damaged, format!("{side} is damaged: {}", damage.reason)));
        }
    }
    let [before, after] = sides.map(|(_, trace)| trace.length_ns.unwrap_or(0));
    if after < before / 2 {
        let part = share(after as f64 / before as f64);
        doubts.push((Allowed::Short, format!("AFTER has {part} of the length of BEFORE")));
    }
    doubts
}

/// By what a limit is exceeded.
struct Exceeded {
    change: Option<Change>,
    reason: String,
}

fn lost(trace: &TraceFinding) -> String {
    let parts = [(trace.discarded_events, "event"), (trace.lost_packets, "packet")];
    let parts = parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| counted(*count, what));
    parts.collect::<Vec<_>>().join(" and ")
}

impl FailIf {
    /// What it is exceeded by. Of figures with an interval, whatever the true change is within it.
    fn failures(&self, found: &Compare) -> Vec<FailureFinding> {
        let condition = || self.to_string();
        let of_groups = |failure: &dyn Fn(&GroupChange) -> Option<Exceeded>| {
            let failure = |group: &GroupChange| {
                let Exceeded { change, reason } = failure(group)?;
                Some(FailureFinding {
                    condition: condition(),
                    name: Some(group.name.clone()),
                    change,
                    reason,
                })
            };
            found.groups.iter().filter_map(failure).collect()
        };
        match self.limited {
            Limited::Figure(figure) => of_groups(&|group| {
                let change = *group.surely.get(figure)?;
                self.is_met(change.low, change.high)
                    .then(|| Exceeded { change: Some(change), reason: change.in_words() })
            }),
            Limited::New => of_groups(&|group| self.only_side(group, 1)),
            Limited::Gone => of_groups(&|group| self.only_side(group, 0)),
            Limited::Blocked | Limited::Incidents => {
                let reason = match (&found.incidents, self.limited) {
                    (None, _) => Some("incidents cannot be told from this source".to_owned()),
                    (Some(incidents), Limited::Blocked) => self.of_figures(
                        [incidents.blocked_share_before, incidents.blocked_share_after]
                            .map(Option::unwrap_or_default),
                        share,
                    ),
                    (Some(incidents), _) => {
                        let counts =
                            [(&found.before, incidents.count_before), (&found.trace, incidents.count_after)];
                        let rate = |(trace, count): (&TraceFinding, u64)| {
                            trace.per_ns(count as f64).unwrap_or(0.0) * 1e9
                        };
                        self.of_figures(counts.map(rate), |rate| format!("{rate:.2}/s"))
                    }
                };
                reason.into_iter().map(|reason| FailureFinding::of_all(condition(), reason)).collect()
            }
        }
    }

    fn is_met(&self, low: Option<f64>, high: Option<f64>) -> bool {
        let limit = 1.0 + self.percent / 100.0;
        match self.is_above {
            true => low.is_some_and(|low| low > limit),
            false => high.is_some_and(|high| high < limit),
        }
    }

    /// Of a group that is on this side only, if it takes too much of the time.
    fn only_side(&self, group: &GroupChange, side: usize) -> Option<Exceeded> {
        let figures = group.figures[side].filter(|_| group.figures[1 - side].is_none())?;
        let part = figures.time_us_per_s() / 1e6;
        let is_beyond = part * 100.0 > self.percent;
        let reason = || format!("{} of the time, only in {}", share(part), ["BEFORE", "AFTER"][side]);
        is_beyond.then(|| Exceeded { change: None, reason: reason() })
    }

    /// Of a figure without an interval, as it was recorded.
    fn of_figures(&self, [before, after]: [f64; 2], form: impl Fn(f64) -> String) -> Option<String> {
        let ratio = if before == after { 1.0 } else { after / before };
        self.is_met(Some(ratio), Some(ratio)).then(|| format!("{} → {}", form(before), form(after)))
    }
}

impl fmt::Display for FailIf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.is_above { '>' } else { '<' };
        match self.limited {
            Limited::Figure(figure) => write!(f, "{}{sign}{:+}%", NAMES[figure], self.percent),
            Limited::Blocked => write!(f, "blocked{sign}{:+}%", self.percent),
            Limited::Incidents => write!(f, "incidents{sign}{:+}%", self.percent),
            Limited::New => write!(f, "new>{}%", self.percent),
            Limited::Gone => write!(f, "gone>{}%", self.percent),
        }
    }
}

impl FromStr for FailIf {
    type Err = String;

    fn from_str(text: &str) -> Result<FailIf, String> {
        let refused = || {
            "write a figure (rate, p50, p90, p99, p99.9, time, blocked or incidents), > or <, and a change in per cent: p99>+10%; \
             or new> or gone> and a share of the time: new>1%"
                .to_owned()
        };
        let at = text.find(['<', '>']).ok_or_else(refused)?;
        let (name, change) = (text[..at].trim(), text[at + 1..].trim());
        let is_above = text[at..].starts_with('>');
        let limited = match name {
            "blocked" => Limited::Blocked,
            "incidents" => Limited::Incidents,
            "new" => Limited::New,
            "gone" => Limited::Gone,
            // A maximum has no interval: one event decides.
            name => {
                let figure = NAMES.iter().position(|known| *known == name && name != "max");
                Limited::Figure(figure.ok_or_else(refused)?)
            }
        };
        let least = if matches!(limited, Limited::New | Limited::Gone) { 0.0 } else { -99.999_999 };
        let percent = change.strip_suffix('%').and_then(|percent| percent.trim().parse::<f64>().ok());
        let percent =
            percent.filter(|percent| percent.is_finite() && *percent >= least).ok_or_else(refused)?;
        if least == 0.0 && !is_above {
            return Err(refused());
        }
        Ok(FailIf { limited, is_above, percent })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_and_written() {
        for (text, written) in [
            ("p99>+10%", "p99>+10%"),
            ("time > 5 %", "time>+5%"),
            ("p99.9<-2.5%", "p99.9<-2.5%"),
            ("blocked>+10%", "blocked>+10%"),
            ("incidents < -5%", "incidents<-5%"),
            ("new>1%", "new>1%"),
            ("gone > 0 %", "gone>0%"),
        ] {
            assert_eq!(text.parse::<FailIf>().unwrap().to_string(), written);
        }
        for text in
            ["", "p99", "p98>1%", "p99>10", "p99>x%", "max>1%", "p99>-100%", "p99>nan%", "new<1%", "gone>-1%"]
        {
            assert!(text.parse::<FailIf>().is_err(), "{text}");
        }
    }

    #[test]
    fn each_exception_has_its_own_name() {
        for (what, name, _) in Allowed::ALL {
            assert_eq!(what.name(), name);
        }
    }
}
