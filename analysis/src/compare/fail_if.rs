//! Changes that are to be reported as failures: `p99>+10%`.

use std::fmt;
use std::str::FromStr;

use super::finding::{FIGURES, FailureFinding, GroupChange};

/// What the figures are called in conditions, in the order of [`FIGURES`].
const NAMES: [&str; FIGURES.len()] = ["rate", "p50", "p90", "p99", "p99.9", "max", "time"];

/// A figure that is not to change by more than this, in one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FailIf {
    /// The place of the figure in [`FIGURES`].
    figure: usize,
    is_above: bool,
    /// The change in per cent, with its sign.
    percent: f64,
}

impl FailIf {
    /// The groups that it applies to, whatever the true change is within its interval.
    pub(super) fn failures(&self, groups: &[GroupChange]) -> Vec<FailureFinding> {
        let limit = 1.0 + self.percent / 100.0;
        let failure = |group: &GroupChange| {
            let change = *group.changes.get(self.figure)?;
            let is_met = match self.is_above {
                true => change.low.is_some_and(|low| low > limit),
                false => change.high.is_some_and(|high| high < limit),
            };
            is_met.then(|| FailureFinding { condition: self.to_string(), name: group.name.clone(), change })
        };
        groups.iter().filter_map(failure).collect()
    }
}

impl fmt::Display for FailIf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.is_above { '>' } else { '<' };
        write!(f, "{}{sign}{:+}%", NAMES[self.figure], self.percent)
    }
}

impl FromStr for FailIf {
    type Err = String;

    fn from_str(text: &str) -> Result<FailIf, String> {
        let refused = || {
            "write a figure (rate, p50, p90, p99, p99.9 or time), > or <, and a change in per cent: p99>+10%"
                .to_owned()
        };
        let at = text.find(['<', '>']).ok_or_else(refused)?;
        let (name, change) = (text[..at].trim(), text[at + 1..].trim());
        let figure = NAMES.iter().position(|known| *known == name && name != "max").ok_or_else(refused)?;
        let percent = change.strip_suffix('%').and_then(|percent| percent.trim().parse::<f64>().ok());
        let percent =
            percent.filter(|percent| percent.is_finite() && *percent > -100.0).ok_or_else(refused)?;
        Ok(FailIf { figure, is_above: text[at..].starts_with('>'), percent })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read_and_written() {
        for (text, written) in
            [("p99>+10%", "p99>+10%"), ("time > 5 %", "time>+5%"), ("p99.9<-2.5%", "p99.9<-2.5%")]
        {
            assert_eq!(text.parse::<FailIf>().unwrap().to_string(), written);
        }
        for text in ["", "p99", "p98>1%", "p99>10", "p99>x%", "max>1%", "p99>-100%", "p99>nan%"] {
            assert!(text.parse::<FailIf>().is_err(), "{text}");
        }
    }
}
