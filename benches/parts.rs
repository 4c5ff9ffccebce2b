//! Where the instructions of a recorded event go, ours beside the C macro's: the first table of `docs/cost.md`.
//!
//! `cargo bench --bench parts` prints it. Callgrind counts, while a session records in memory. The functions of
//! liblttng-ust have no names in the installed library; they are told by what they call, and by which of them an
//! event without fields does not need.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use lttng_testing::{Daemon, Program, Table};
use support::compile_baseline;

const COUNT: u32 = 20_000;

fn main() {
    let rust = Program::example("valkey-trace", "emit-loop").release().traced().build();
    let c = compile_baseline(&rust.with_file_name("baseline"));
    let daemon = Daemon::start();
    let session = daemon.snapshot_session();
    session.enable("valkey_*");
    session.enable("baseline:*");
    session.start();

    let floor = Profile::of(&daemon, &c, "nothing");
    let columns: Vec<(String, BTreeMap<&str, f64>)> = [("command_call", &c), ("command_call", &rust)]
        .into_iter()
        .chain([("duration", &c), ("duration", &rust)])
        .map(|(event, program)| {
            let whose = if program == &c { "C macro" } else { "Rust" };
            (format!("{event}, {whose}"), Profile::of(&daemon, program, event).parts(&floor))
        })
        .chain([("no field, C macro".to_owned(), floor.parts(&floor))])
        .collect();
    let headings: Vec<&str> =
        ["part"].into_iter().chain(columns.iter().map(|(name, _)| name.as_str())).collect();
    let mut table =
        Table::new("Instructions of a recorded event, without the kernel's and the vDSO's", &headings);
    for part in PARTS {
        let cells = columns.iter().map(|(_, parts)| format!("{:.0}", parts.get(part).unwrap_or(&0.0)));
        table.row([part.to_owned()].into_iter().chain(cells));
    }
    println!("{table}");
}

const PARTS: [&str; 9] = [
    "check, arguments",
    "probe",
    "string lengths",
    "RCU",
    "reserve",
    "CPU number",
    "clock",
    "write",
    "commit",
];

/// What callgrind saw, for one event.
struct Profile {
    /// Instructions in a function itself.
    own: BTreeMap<String, f64>,
    /// Instructions in what a function calls, by caller and called.
    calls: BTreeMap<(String, String), f64>,
}

impl Profile {
    fn of(daemon: &Daemon, program: &Path, event: &str) -> Profile {
        let file: PathBuf = daemon.folder().join("callgrind");
        let mut valgrind = daemon.command("valgrind");
        valgrind
            .args(["--tool=callgrind", &format!("--toggle-collect=loop_{event}")])
            .arg(format!("--callgrind-out-file={}", file.display()))
            .arg(program)
            .args([event, "1", &COUNT.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut process = valgrind.spawn().expect("valgrind is installed: run `make setup`");
        process.stdin.take().expect("it is piped").write_all(b"\n").expect("the program reads");
        assert!(process.wait().expect("valgrind ends").success());
        Profile::parse(&fs::read_to_string(file).expect("callgrind has written"))
    }

    /// Callgrind's format: `fn=(1) name` begins a function, `cfn=` and `calls=` a call whose cost the next line has.
    fn parse(text: &str) -> Profile {
        let mut names = BTreeMap::new();
        let mut name = |word: &str| {
            let (number, name) = word.split_once(' ').unwrap_or((word, ""));
            if !name.is_empty() {
                names.insert(number.to_owned(), name.to_owned());
            }
            names.get(number).cloned().unwrap_or_default()
        };
        let mut profile = Profile { own: BTreeMap::new(), calls: BTreeMap::new() };
        let (mut function, mut called, mut is_call) = (String::new(), String::new(), false);
        for line in text.lines() {
            if let Some(word) = line.strip_prefix("fn=") {
                function = name(word);
            } else if let Some(word) = line.strip_prefix("cfn=") {
                called = name(word);
            } else if line.starts_with("calls=") {
                is_call = true;
            } else if line.starts_with(|first: char| first.is_ascii_digit() || "+-*".contains(first)) {
                let cost = line.split(' ').next_back().and_then(|word| word.parse::<f64>().ok());
                let cost = cost.unwrap_or_default() / f64::from(COUNT);
                let sum = match is_call {
                    true => profile.calls.entry((function.clone(), called.clone())).or_default(),
                    false => profile.own.entry(function.clone()).or_default(),
                };
                *sum += cost;
                is_call = false;
            }
        }
        profile
    }

    /// The function that asks the library to reserve and so on.
    fn probe(&self) -> &str {
        let is_probe =
            |name: &&String| name.contains("event_probe__") || name.contains("lttng_provider_record_");
        self.own.keys().find(is_probe).expect("the event was recorded")
    }

    /// What a function calls, with what that takes.
    fn called_by<'p>(&'p self, function: &'p str) -> impl Iterator<Item = (&'p str, f64)> {
        let calls = self.calls.iter().filter(move |((caller, _), _)| caller == function);
        calls.map(|((_, called), cost)| (called.as_str(), *cost))
    }

    fn call(&self, caller: &str, part_of_name: &str) -> f64 {
        let calls = self.called_by(caller).filter(|(name, _)| name.contains(part_of_name));
        calls.map(|(_, cost)| cost).sum()
    }

    fn parts(&self, floor: &Profile) -> BTreeMap<&'static str, f64> {
        let probe = self.probe();
        let mut parts = BTreeMap::new();
        let mut add = |part, cost: f64| *parts.entry(part).or_insert(0.0) += cost;
        let own = |part_of_name: &str| -> f64 {
            self.own.iter().filter(|(name, _)| name.contains(part_of_name)).map(|(_, cost)| cost).sum()
        };
        add("check, arguments", own("loop_"));
        add("probe", self.own[probe]);
        // In C the loop holds the RCU lock, in ours the probe.
        let callers: Vec<&str> =
            self.own.keys().map(String::as_str).filter(|name| name.contains("loop_")).collect();
        for caller in callers.into_iter().chain([probe]) {
            add("RCU", self.call(caller, "_rcu_"));
        }
        for (name, cost) in self.called_by(probe).filter(|(name, _)| !name.contains("_rcu_")) {
            let (clock, processor) = (self.call(name, "clock_gettime"), self.call(name, "getcpu"));
            if clock > 0.0 {
                add("reserve", cost - clock - processor);
                add("clock", clock);
                add("CPU number", processor);
            } else if name.contains("strlen") {
                add("string lengths", cost);
            } else if floor.called_by(floor.probe()).any(|(needed, _)| needed == name) {
                add("commit", cost);
            } else {
                add("write", cost);
            }
        }
        parts
    }
}
