//! What `ltt-top incidents` says.

use std::path::Path;
use std::process::Command;

use lttng_testing::{CommandInTime as _, Program};
use serde_json::Value;

/// The report on a trace.
#[derive(Debug)]
pub struct Report {
    pub incidents: Vec<Incident>,
}

/// One incident; times in nanoseconds.
#[derive(Clone, Debug)]
pub struct Incident {
    pub begin: i64,
    pub end: i64,
    pub held: i64,
    pub kind: String,
    pub pid: i64,
    pub cause: Option<Link>,
    pub chain: Vec<Link>,
    pub explained_by: Vec<Link>,
    pub unexplained: i64,
    pub waited: (u64, u64, i64),
    /// The processes that ran at the same time, and the events that tell.
    pub meanwhile: Vec<(i64, Option<String>)>,
    pub advice: Option<String>,
    pub is_incomplete: bool,
}

/// An event of a chain.
#[derive(Clone, Debug)]
pub struct Link {
    /// The event without its provider, or the command.
    pub label: String,
    pub client: Option<String>,
    pub duration: i64,
    /// The same with what handling it took.
    pub spent: i64,
    pub count: u64,
}

impl Report {
    /// Has `ltt-top` look for what takes at least this number of microseconds.
    pub fn on(trace: &Path, microseconds: i64) -> Self {
        let program = Program::binary("ltt-top", "ltt-top").build();
        let mut command = Command::new(program);
        command.args(["incidents", "--format=json", "--limit=0"]);
        let said = command.arg(format!("--longer-than={microseconds}us")).arg(trace).succeed();
        let json: Value = serde_json::from_str(&said).expect("ltt-top writes JSON");
        assert_eq!(json["hidden_incidents"], 0);
        assert_eq!(json["trace"]["discarded_events"], 0, "the trace must be whole to compare");
        let incidents = json["incidents"].as_array().expect("a list").iter().map(incident).collect();
        Self { incidents }
    }
}

impl Incident {
    /// The labels of the chain, the outermost first.
    pub fn labels(&self) -> Vec<&str> {
        self.chain.iter().map(|link| link.label.as_str()).collect()
    }

    /// Whether it shares some time with the time from one moment to another.
    pub fn overlaps(&self, begin: i64, end: i64) -> bool {
        self.begin < end && begin < self.end
    }
}

fn incident(json: &Value) -> Incident {
    let time = |name: &str| json[name].as_i64().expect("a time");
    let links = |name: &str| json[name].as_array().expect("a list").iter().map(link).collect();
    let waited = &json["waited"];
    let count = |name: &str| waited[name].as_u64().expect("a count");
    let meanwhile = json["meanwhile"].as_array().expect("a list").iter();
    Incident {
        begin: time("begin_ns"),
        end: time("end_ns"),
        held: duration(&json["held_us"]),
        kind: text(&json["kind"]),
        pid: json["process"]["pid"].as_i64().expect("vpid was recorded"),
        cause: Some(&json["cause"]).filter(|cause| !cause.is_null()).map(link),
        chain: links("chain"),
        explained_by: links("explained_by"),
        unexplained: duration(&json["unexplained_us"]),
        waited: (count("clients"), count("of"), duration(&waited["longest_us"])),
        meanwhile: meanwhile
            .map(|other| {
                let event = Some(&other["event"]).filter(|event| !event.is_null());
                (
                    other["process"]["pid"].as_i64().expect("vpid was recorded"),
                    event.map(|event| link(event).label),
                )
            })
            .collect(),
        advice: json["advice"].as_str().map(str::to_owned),
        is_incomplete: json["is_incomplete"].as_bool().expect("yes or no"),
    }
}

fn link(json: &Value) -> Link {
    let event = text(&json["event"]);
    let short = event.split_once(':').map_or(event.as_str(), |(_, short)| short);
    let command = json["key"]["name"].as_str();
    Link {
        label: command.unwrap_or(short).to_owned(),
        client: json["client"].as_str().map(str::to_owned),
        duration: duration(&json["duration_us"]),
        spent: duration(&json["spent_us"]),
        count: json["count"].as_u64().expect("a number"),
    }
}

fn text(json: &Value) -> String {
    json.as_str().expect("a text").to_owned()
}

/// Microseconds with up to three decimals.
fn duration(json: &Value) -> i64 {
    (json.as_f64().expect("a duration") * 1000.0).round() as i64
}
