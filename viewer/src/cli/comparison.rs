//! The options of `compare`.

use std::path::PathBuf;

use clap::Args;
use ltt_analysis::compare::FailIf;

use super::common::Common;
use super::options::IncidentRule;
use super::values::{AllowChoice, ReportFile, error_rate};

#[derive(Args, Debug)]
pub struct CompareOptions {
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub rule: IncidentRule,

    /// Recordings of what was before, e.g. in turns with those of after: see --plan.
    ///
    /// Traces of the same time, such as those of several hosts, are one recording.
    #[arg(long, value_name = "TRACE", num_args = 1.., requires = "after", help_heading = "Reading")]
    pub before: Vec<PathBuf>,

    /// Recordings of what is compared with it.
    #[arg(long, value_name = "TRACE", num_args = 1.., requires = "before", help_heading = "Reading")]
    pub after: Vec<PathBuf>,

    /// Print a script that records two builds in turns and compares them, and do nothing else.
    #[arg(long, conflicts_with_all = ["before", "after", "traces"], help_heading = "Reading")]
    pub plan: bool,

    /// Group by these fields instead of the catalog's keys; `event` groups by the event only.
    #[arg(long, value_name = "FIELD", value_delimiter = ',', help_heading = "Grouping")]
    pub by: Option<Vec<String>>,

    /// The probability that any group is called slower or faster although it is not.
    #[arg(long, value_name = "P", default_value = "0.01", value_parser = error_rate, help_heading = "Rule")]
    pub error_rate: f64,

    /// Exit with status 4 if a figure of any group certainly changed by more, e.g. 'p99>+10%'; may be repeated.
    ///
    /// The figures are rate, p50, p90, p99, p99.9 and time (per second). A group fails if all changes that its data allow
    /// are beyond the limit, all groups and limits taken together; filters choose the groups. blocked (the share of the time) and
    /// incidents (per second) are compared as they were recorded. 'new>1%' and 'gone>1%' limit the share of the time of groups that
    /// only one recording has, by default 0.1%. Recordings that prove nothing fail, too: see --allow.
    #[arg(long, value_name = "CHANGE", help_heading = "Gate")]
    pub fail_if: Vec<FailIf>,

    /// What does not fail although limits prove nothing with it; may be repeated.
    #[arg(long, value_name = "WHAT", value_delimiter = ',', requires = "fail_if", help_heading = "Gate")]
    pub allow: Vec<AllowChoice>,

    /// Write the result to a file, too: .md, .xml (JUnit), .json, .csv or .html; may be repeated.
    ///
    /// Markdown is appended to a file that exists, and the others replace it.
    #[arg(long, value_name = "FILE", help_heading = "Gate")]
    pub report: Vec<ReportFile>,

    /// Print each failure as an annotation for GitHub Actions.
    #[arg(long, requires = "fail_if", help_heading = "Gate")]
    pub annotate: bool,
}
