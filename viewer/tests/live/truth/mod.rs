//! What `incidents` says of stalls that were made on purpose, against what the clients themselves saw.
//!
//! The server is valkey-lite, or the program that `TRUTH_SERVER` names, to which more can be done: a `valkey-server` with LTTng, or a
//! script that starts a stock server with the module. `TRUTH_ROUNDS` is the number of recordings, `TRUTH_CLIENTS` that of clients,
//! `TRUTH_REPLICAS` that of replicas, `TRUTH_SHAPE` says how all clients ask, `TRUTH_SEED` repeats what was done, and `TRUTH_KEEP` names a folder for the traces and the clients' logs.

mod acts;
mod judge;
mod load;
mod log;

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use lttng_testing::wait_until;
use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;

use acts::{Act, Done, Traced};
use judge::{Round, Scores};
use load::{Load, Shape, watching};
use log::Request;

use super::record::{is_recording, ltt_top};
use super::support::Running;

impl Traced {
    /// Records while clients ask and something is done to the server; returns what was done, what clients saw and what is found.
    fn round(&mut self, clients: usize, shape: Shape, acts: &[(Act, Duration)], seed: u64) -> Round {
        let folder = TempDir::new().expect("a folder");
        let pid = self.server.process.id().to_string();
        let arguments = ["record", "-e", "valkey_*", "--format", "json", "--pid", &pid, "-o"];
        let mut record = ltt_top(&self.daemon, &arguments);
        record.arg(folder.path());
        let running = Running::start(record);
        wait_until("it records", || is_recording(&self.daemon));
        let load = Load::start(self.server.port, clients, shape, seed);
        let mut random = fastrand::Rng::with_seed(seed);
        let mut pause = || std::thread::sleep(Duration::from_millis(600 + random.u64(..200)));
        pause();
        let done: Vec<Done> = acts
            .iter()
            .map(|&(act, length)| {
                let done = self.act(act, length);
                pause();
                done
            })
            .collect();
        let log = load.end();
        running.signal(Signal::INT);
        let ended = running.end();
        assert_eq!(ended.status, Some(0), "{ended:?}");
        let found = self.incidents(folder.path(), &["--longer-than", "5ms", "-n", "10000"]);
        let incidents = found["incidents"].as_array().expect("a list").clone();
        let recorded = judge::times(&found["trace"]);
        let is_whole = found["trace"]["discarded_events"] == 0;
        let round = Round { done, log, incidents, is_whole, recorded, folder };
        if let Some(kept) = std::env::var_os("TRUTH_KEEP") {
            keep(&round, &Path::new(&kept).join(seed.to_string()), &format!("{clients} {shape:?}"));
        }
        round
    }

    /// What is found in a recording.
    fn incidents(&self, folder: &Path, options: &[&str]) -> Value {
        let mut incidents = ltt_top(&self.daemon, &["incidents", "--format", "json"]);
        incidents.args(options).arg(folder);
        let found = Running::start(incidents).end();
        assert_eq!(found.status, Some(0), "{found:?}");
        serde_json::from_str(&found.out).expect("it is JSON")
    }
}

/// Keeps a recording and the clients' log.
fn keep(round: &Round, folder: &Path, of: &str) {
    std::fs::create_dir_all(folder).expect("a folder");
    let mut copy = std::process::Command::new("cp");
    copy.arg("-r").arg(round.folder.path()).arg(folder.join("trace"));
    assert!(copy.status().expect("it runs").success());
    let mut text = String::new();
    for request in &round.log.requests {
        let (from, to) = request.sent;
        let Request { client, answered, count, is_unsure, .. } = request;
        writeln!(text, "{client} {from} {to} {answered} {count} {}", u8::from(*is_unsure)).expect("a text");
    }
    std::fs::write(folder.join("log"), text).expect("it can be written");
    let done: String =
        round.done.iter().map(|one| format!("{:?} {} {}\n", one.act, one.begin, one.end)).collect();
    std::fs::write(folder.join("done"), format!("{of}\n{done}")).expect("it can be written");
}

/// The number that the environment has for a name.
fn number<T: std::str::FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok()?.parse().ok()
}

/// Random loads and stalls.
fn rounds(traced: &mut Traced, rounds: usize, lengths_ms: std::ops::Range<u64>) -> Scores {
    let seed = number("TRUTH_SEED").unwrap_or_else(|| fastrand::u64(..));
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let mut scores = Scores::default();
    traced.client().ask("SET key 1").expect("it answers");
    for round in 0..rounds {
        let clients = number("TRUTH_CLIENTS").unwrap_or_else(|| random.usize(2..30));
        let ms = |random: &mut fastrand::Rng, range: std::ops::Range<u64>| {
            Duration::from_millis(random.u64(range))
        };
        let shape = match number("TRUTH_SHAPE").unwrap_or(round) % if traced.is_real { 8 } else { 7 } {
            0 => Shape::Bursts(ms(&mut random, 10..40)),
            1 => Shape::Steady(ms(&mut random, 5..40)),
            2 => Shape::Saturating,
            3 => Shape::Pipeline(
                random.usize(10..if clients < 30 && traced.is_real { 2000 } else { 300 }),
                ms(&mut random, 1..10),
            ),
            4 => Shape::Mixed,
            5 => Shape::Reconnecting(ms(&mut random, 2..20)),
            6 => Shape::Uneven(ms(&mut random, 10..60)),
            _ => Shape::Others(ms(&mut random, 2..20)),
        };
        let real: &[Act] = if traced.is_real { &Act::REAL } else { &[] };
        let acts = [Act::Stop].iter().chain(&Act::ALL).chain(real);
        let mut acts: Vec<(Act, Duration)> =
            acts.map(|act| (*act, ms(&mut random, lengths_ms.clone()))).collect();
        random.shuffle(&mut acts);
        let of = format!("{clients} clients, {shape:?}");
        let found = traced.round(clients, shape, &acts, random.u64(..));
        scores.judge(&found, &of);
    }
    println!("{scores:#?}");
    scores
}

#[test]
fn stalls_that_clients_notice_are_reported_and_times_without_tracing_are_not() {
    let mut traced = Traced::start();
    let scores = rounds(&mut traced, 1, 150..300);
    assert_eq!((scores.reported.share(), scores.untraced.share()), (1.0, 1.0), "{scores:#?}");
}

#[test]
#[ignore = "make check: some minutes under all kinds of load"]
fn stalls_under_all_kinds_of_load_are_reported_and_noticed() {
    let mut traced = Traced::start();
    let scores = rounds(&mut traced, number("TRUTH_ROUNDS").unwrap_or(12), 25..300);
    assert!(scores.reported.share() >= 0.95 && scores.untraced.share() == 1.0, "{scores:#?}");
    assert!(scores.noticed.share() >= 0.9, "{scores:#?}");
    // docs/verdicts.md has what these come to.
    assert!(scores.waited.share() >= 0.9 && scores.clients.share() >= 0.9, "{scores:#?}");
    assert!(scores.not_served.share() >= 0.9, "{scores:#?}");
}

/// A server that ended and another one in its place are said to be that, and the time between them is no silence.
#[test]
fn a_restarted_server_is_said_to_be_one() {
    let mut traced = Traced::start();
    let folder = TempDir::new().expect("a folder");
    let mut record = ltt_top(&traced.daemon, &["record", "-e", "valkey_*", "--no-samples", "-o"]);
    record.arg(folder.path());
    let running = Running::start(record);
    wait_until("it records", || is_recording(&traced.daemon));
    let load = |traced: &Traced| {
        let load = Load::start(traced.server.port, 4, Shape::Steady(Duration::from_millis(2)), 1);
        std::thread::sleep(Duration::from_millis(300));
        load.end();
    };
    load(&traced);
    let ended = traced.server.process.id();
    traced.restart();
    let began = traced.server.process.id();
    load(&traced);
    running.signal(Signal::INT);
    let report = running.end();
    assert_eq!(report.status, Some(0), "{report:?}");
    let line = report.out.lines().find(|line| line.contains(" began to serve: ")).expect("it is said");
    assert!(line.contains(&format!("{ended}")) && line.contains(&format!("{began}")), "{line}");
    let found = traced.incidents(folder.path(), &["-n", "0"]);
    let [restart] = &found["restarts"].as_array().expect("a list")[..] else { panic!("{found:#}") };
    assert_eq!((&restart["ended"]["pid"], &restart["began"]["pid"]), (&ended.into(), &began.into()));
    let (begin, end) = judge::times(restart);
    for incident in found["incidents"].as_array().expect("a list") {
        let (from, to) = judge::times(incident);
        assert!(
            to.min(end) - from.max(begin) < judge::MS,
            "nothing is said of the time between: {incident:#}"
        );
    }
}

/// What a healthy server gets, with a load or without any, but for what the machine did: what a thread of this process noticed that
/// slept meanwhile, or clients, or what the scheduler is known to have done.
#[test]
#[ignore = "make check: some seconds with nothing to find"]
fn healthy_servers_have_no_incidents_but_the_machine_s() {
    let mut traced = Traced::start();
    let mut found = None;
    for (clients, pause) in [(0, 1), (8, 5), (20, 2)] {
        let late = watching(|| {
            let shape = Shape::Steady(Duration::from_millis(pause));
            found = Some(traced.round(clients, shape, &[(Act::Nothing, Duration::from_secs(2))], 1));
        });
        let Round { incidents, log, .. } = found.take().expect("it was recorded");
        for incident in &incidents {
            let (begin, end) = judge::times(incident);
            let is_late =
                late.iter().any(|(from, to)| *from < end + 20 * judge::MS && *to > begin - 20 * judge::MS);
            let is_noticed = log.waited(begin, end, None).0.most > (end - begin) as f64 / 2.0;
            let is_proved = incident["evidence"] == "scheduler";
            assert!(is_late || is_noticed || is_proved, "{clients} clients: {incident}");
        }
        println!(
            "{clients} clients: {} incidents, the machine was late {} times",
            incidents.len(),
            late.len()
        );
    }
}
