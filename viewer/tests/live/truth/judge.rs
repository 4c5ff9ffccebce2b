//! What incidents say, against what clients saw.

use serde_json::Value;
use tempfile::TempDir;

use super::acts::{Act, Done};
use super::log::{AROUND, Bounds, Log};

pub const MS: i64 = 1_000_000;

/// A recording, and what is known about it.
pub struct Round {
    pub done: Vec<Done>,
    pub log: Log,
    pub incidents: Vec<Value>,
    /// Whether no event was lost: answers that are not recorded cannot be counted.
    pub is_whole: bool,
    /// From when to when it was recorded.
    pub recorded: (i64, i64),
    pub folder: TempDir,
}

/// How many of some checks are right.
#[derive(Debug, Default)]
pub struct Score {
    right: usize,
    all: usize,
}

impl Score {
    /// Adds a check, and returns whether it is right.
    fn add(&mut self, is_right: bool) -> bool {
        self.right += usize::from(is_right);
        self.all += 1;
        is_right
    }

    pub fn share(&self) -> f64 {
        if self.all == 0 { 1.0 } else { self.right as f64 / self.all as f64 }
    }
}

/// What incidents are right about, by the clients' logs.
#[derive(Debug, Default)]
pub struct Scores {
    /// Stalls that clients noticed for 20 ms or longer and that are reported.
    pub reported: Score,
    /// Those of a command that are said to be due to it.
    pub named: Score,
    /// Times without tracing that are not reported.
    pub untraced: Score,
    /// Incidents of 5 ms or longer that some client noticed, or that were for one.
    pub noticed: Score,
    /// How long clients waited: within the bounds, which are off by at most 1 ms or 10 %.
    pub waited: Score,
    /// The same, of the probable time: within 2 ms or 20 %.
    pub near: Score,
    /// How many of the bounds are apart by at most 2 ms or 40 %.
    pub narrow: Score,
    /// How many did: within 2 or 20 %.
    pub clients: Score,
    /// What was not served: within 2 requests or a factor of 1.5.
    pub not_served: Score,
}

pub fn times(incident: &Value) -> (i64, i64) {
    let time = |name: &str| incident[name].as_i64().expect("a time");
    (time("begin_ns"), time("end_ns"))
}

impl Scores {
    pub fn judge(&mut self, round: &Round, of: &str) {
        round.done.iter().for_each(|done| self.judge_act(round, done, of));
        round.incidents.iter().for_each(|incident| self.judge_incident(round, incident, of));
    }

    /// Whether something that was done is reported.
    fn judge_act(&mut self, round: &Round, done: &Done, of: &str) {
        let (waited, _) = round.log.waited(done.begin, done.end, None);
        // What it does may last longer than its answer takes: PUBLISH writes to subscribers after it.
        let until = match done.act {
            Act::Untraced => done.end,
            _ => done.end.max(done.begin + waited.least as i64),
        };
        let overlap = |incident: &&Value| {
            let (begin, end) = times(incident);
            (end.min(until) - begin.max(done.begin)).max(0)
        };
        let incident = round.incidents.iter().max_by_key(|incident| overlap(incident));
        let most = incident.map_or(0, |incident| overlap(&incident));
        if done.act == Act::Untraced {
            self.untraced.add(most < (done.end - done.begin) / 2);
            return;
        }
        // These make many shorter stalls.
        if waited.least < (20 * MS) as f64 || matches!(done.act, Act::Hog | Act::Large | Act::Replicate) {
            return;
        }
        if !self.reported.add(most > 10 * MS) {
            println!("{of}: {done:?} kept clients waiting for {} ns and is not reported", waited.least);
        }
        if let ([_, ..], Some(incident)) = (done.act.events(), incident) {
            let name = incident["cause"]["key"]["name"].as_str().unwrap_or_default();
            // A command that had no CPU is not the cause.
            let is_kept = incident["cause"].is_null() && incident["held_by"]["cause"] == "queued";
            if !self.named.add(done.act.events().contains(&name) || is_kept) {
                println!("{of}: {done:?} is named {name}: {incident}");
            }
        }
    }

    /// Whether the figures of an incident are right.
    fn judge_incident(&mut self, round: &Round, incident: &Value, of: &str) {
        let log = &round.log;
        let (begin, end) = times(incident);
        let culprit = incident["cause"]["client"].as_str();
        let port = culprit.and_then(|client| client.rsplit(':').next()?.parse().ok());
        let (waited, [sure, possible]) = log.waited(begin, end, port);
        self.noticed.add(possible > 0 || culprit.is_some() || incident["evidence"] == "scheduler");
        // A server that loads data refuses all requests, and no event says so.
        let loads = round.done.iter().filter(|done| done.act == Act::Replicate);
        let loads_within =
            |time: i64| loads.clone().any(|done| done.begin < end + time && done.end > begin - time);
        if loads_within(0) {
            return;
        }
        let said = &incident["waited"];
        let figure = |value: &Value| value.as_f64().unwrap_or(0.0);
        // Redis before 7.2 does not tell its clients.
        let tells_clients = round.incidents.iter().any(|incident| !incident["waited"].is_null());
        if possible > 0 && tells_clients {
            let longest = figure(&said["longest_us"]) * 1e3;
            let near = ((2 * MS) as f64).max(waited.most * 0.2);
            let is_near = longest >= waited.least - near && longest <= waited.most + near;
            let [least, most] = ["least_us", "most_us"].map(|name| figure(&said[name]) * 1e3);
            let is_within = least <= waited.most + near / 2.0 && most >= waited.least - near / 2.0;
            self.near.add(is_near);
            self.narrow.add(most - least <= ((2 * MS) as f64).max(most * 0.4));
            if !self.waited.add(is_within) {
                println!("{of}: waited {waited:?}, said {least} {longest} {most}: {incident}");
            }
            let count = figure(&said["clients"]);
            let [sure, possible] = [sure, possible].map(|clients| clients as f64);
            let is_near =
                count >= sure - (sure * 0.2).max(2.0) && count <= possible + (possible * 0.2).max(2.0);
            if !self.clients.add(is_near) {
                println!("{of}: {sure} to {possible} clients, said {count}: {incident}");
            }
        }
        if round.is_whole && !loads_within(AROUND) {
            let Bounds { least, most } = log.not_served((begin, end), round.recorded);
            let said = figure(&incident["not_served"]);
            if most.max(said) < 10.0 {
                return;
            }
            if !self
                .not_served
                .add(said <= (most * 1.5).max(most + 2.0) && said >= (least / 1.5).min(least - 2.0))
            {
                println!("{of}: not served {least} to {most}, said {said}: {incident}");
            }
        }
    }
}
