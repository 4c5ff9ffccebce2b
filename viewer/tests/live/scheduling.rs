//! A real server that is stopped, preempted and throttled while it is recorded: what is said of it is what was done to it, by
//! the clock of the test and by the kernel's own counters.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ltt_analysis::samples::FOLDER;
use lttng_testing::{Daemon, Trace, need, not_allowed, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use super::record::{is_recording, ltt_top};
use super::server::{Server, commands};
use super::support::Running;

/// A server with a private daemon.
struct Traced {
    server: Server,
    daemon: Daemon,
}

impl Traced {
    fn start() -> Traced {
        let daemon = Daemon::start();
        Traced { server: Server::start(&daemon), daemon }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.server.process), signal).expect("it runs");
    }

    /// The time on a CPU and the time ready for one of its main thread, in microseconds, as the kernel counts them.
    fn times_us(&self) -> [f64; 2] {
        let text =
            fs::read_to_string(format!("/proc/{}/schedstat", self.server.process.id())).expect("it runs");
        let mut numbers =
            text.split_whitespace().map(|number| number.parse::<f64>().expect("a number") / 1e3);
        [(); 2].map(|()| numbers.next().expect("there are three"))
    }

    /// Records while clients are served and something is done; returns the folder and what is found in it.
    fn record(&self, options: &[&str], work: impl FnOnce()) -> (TempDir, Value) {
        let folder = TempDir::new().expect("a folder");
        let pid = self.server.process.id().to_string();
        let mut record =
            ltt_top(&self.daemon, &["record", "-e", "valkey_*", "--format", "json", "--pid", &pid]);
        record.args(options).arg("-o").arg(folder.path());
        let running = Running::start(record);
        wait_until("it records", || is_recording(&self.daemon));
        if options.is_empty() {
            wait_until("there are samples", || folder.path().join(FOLDER).join("samples_0").exists());
        }
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while !is_over.load(Ordering::Relaxed) {
                        commands(self.server.port, &["SET a 1", "GET a"], 2000);
                    }
                });
            }
            std::thread::sleep(Duration::from_millis(500));
            work();
            std::thread::sleep(Duration::from_millis(500));
            is_over.store(true, Ordering::Relaxed);
        });
        running.signal(Signal::INT);
        let ended = running.end();
        assert_eq!(ended.status, Some(0), "{ended:?}");
        (folder, serde_json::from_str(&ended.out).expect("it is JSON"))
    }
}

fn incidents(found: &Value) -> &Vec<Value> {
    found["incidents"].as_array().expect("a list")
}

/// The sum of a figure of the scheduler over all incidents.
fn total(found: &Value, figure: &str) -> f64 {
    incidents(found).iter().filter_map(|incident| incident["scheduler"][figure]["most_us"].as_f64()).sum()
}

#[test]
fn a_process_that_was_stopped_is_said_to_have_been() {
    let traced = Traced::start();
    let mut stopped = Duration::ZERO;
    let (folder, found) = traced.record(&[], || {
        traced.signal(Signal::STOP);
        let begin = Instant::now();
        // Long enough to be looked at on the busiest machine.
        std::thread::sleep(Duration::from_secs(1));
        stopped = begin.elapsed();
        traced.signal(Signal::CONT);
    });
    // It is reported whoever comes back after it, because the samples prove it.
    let did = stopped.as_secs_f64() * 1e6;
    for incident in incidents(&found).iter().filter(|one| one["held_us"].as_f64() > Some(did * 0.8)) {
        let said = incident["scheduler"]["stopped"]["most_us"].as_f64().unwrap_or(0.0);
        assert!(said > did * 0.5 && said < did * 1.5 + 50_000.0, "{did}: {incident:#}");
    }
    // The samples are a trace that others read, too, with the clock of the events.
    let samples = Trace::open(&folder.path().join(FOLDER));
    let thread = |event: &&lttng_testing::Event| event.name == "ltt_top_samples:thread";
    let [first, second] = ["babeltrace", "babeltrace2"].map(|reader| samples.events_read_by(reader));
    assert!(first.len() == second.len() && first.iter().filter(thread).count() > 10, "{}", first.len());
    // 84 is T.
    assert!(first.iter().filter(thread).any(|event| event.field("state") == "84"));
    let pid = traced.server.process.id().to_string();
    assert!(first.iter().filter(thread).all(|event| event.field("vpid") == pid));
    let clock = |text: String| {
        let (_, rest) = text.split_once("clock {").expect("it has a clock");
        let lines = rest.lines().take_while(|line| !line.contains("};")).map(str::trim);
        let facts = lines.filter(|line| ["uuid", "offset", "freq"].iter().any(|fact| line.starts_with(fact)));
        facts.map(str::to_owned).collect::<Vec<_>>()
    };
    let events = Trace::open(&folder.path().join("ust"));
    let described = fs::read_to_string(folder.path().join(FOLDER).join("metadata")).expect("it is text");
    assert_eq!(clock(described), clock(events.metadata()));
}

#[test]
fn samples_can_be_left_out() {
    let traced = Traced::start();
    let (folder, found) = traced.record(&["--no-samples"], || {});
    assert!(!folder.path().join(FOLDER).exists());
    assert!(incidents(&found).iter().all(|incident| incident.get("scheduler").is_none()));
}

/// Processes that use a CPU as much as they can; ended when they are dropped.
struct Hogs(Vec<Child>);

impl Hogs {
    fn on_cpu_0(count: usize) -> Hogs {
        let hog = || {
            let mut command = Command::new("taskset");
            command.args(["-c", "0", "sh", "-c", "while :; do :; done"]).stdin(Stdio::null());
            command.spawn().expect("it is installed")
        };
        Hogs((0..count).map(|_| hog()).collect())
    }
}

impl Drop for Hogs {
    fn drop(&mut self) {
        for hog in &mut self.0 {
            _ = hog.kill();
            _ = hog.wait();
        }
    }
}

/// Fills the server, and has it do something that takes much of the CPU.
fn work_hard(port: u16, rounds: usize) {
    let sets: Vec<String> = (0..2_000).map(|key| format!("SET key-{key} 1")).collect();
    let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
    commands(port, &sets, rounds);
}

#[test]
#[ignore = "make check: keeps a CPU busy for some seconds"]
fn a_thread_that_others_keep_from_its_cpu_waited_as_long_as_the_kernel_says() {
    if !need("taskset") {
        return;
    }
    let traced = Traced::start();
    let pinned = Command::new("taskset")
        .args(["-a", "-c", "-p", "0", &traced.server.process.id().to_string()])
        .output();
    assert!(pinned.expect("it is installed").status.success());
    // Others may want that CPU before and after, too.
    let before = traced.times_us();
    let (_, found) = traced.record(&[], || {
        let _hogs = Hogs::on_cpu_0(3);
        work_hard(traced.server.port, 10);
    });
    let waited = traced.times_us()[1] - before[1];
    let queued = total(&found, "queued");
    assert!(waited > 10_000.0, "three others had the same CPU, and it waited {waited} µs");
    // Waits of less than a millisecond, and those between turns, are not incidents; how many those are is up to the scheduler.
    assert!(queued > 0.0 && queued < waited * 1.2 + 50_000.0, "{queued} of {waited}: {found:#}");
}

/// A control group that may use little of a CPU; removed when it is dropped.
struct Limited(PathBuf);

impl Limited {
    /// A group that may have 10 ms of each 100 ms, if this user may make one.
    fn new() -> Option<Limited> {
        let name = format!("ltt-top-test-{}", std::process::id());
        let quota = [
            ("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "10000"),
            ("/sys/fs/cgroup", "cpu.max", "10000 100000"),
        ];
        quota.iter().find_map(|(root, file, value)| {
            let folder = Path::new(root).join(&name);
            fs::create_dir(&folder).ok()?;
            let group = Limited(folder);
            fs::write(group.0.join(file), value).ok()?;
            Some(group)
        })
    }
}

/// How long a group was throttled, as the kernel counts it.
fn throttled_ns(group: &Limited) -> f64 {
    let stat = fs::read_to_string(group.0.join("cpu.stat")).expect("it is there");
    let number = |name: &str| stat.lines().find_map(|line| line.strip_prefix(name)?.parse::<f64>().ok());
    number("throttled_time ")
        .or_else(|| Some(number("throttled_usec ")? * 1e3))
        .expect("the kernel counts it")
}

impl Drop for Limited {
    fn drop(&mut self) {
        wait_until("the group is empty", || fs::remove_dir(&self.0).is_ok() || !self.0.exists());
    }
}

#[test]
#[ignore = "make check: some seconds at a tenth of a CPU"]
fn a_process_that_used_up_its_limit_is_said_to_have_been_throttled() {
    let Some(group) = Limited::new() else {
        return not_allowed("control groups", "no group with a limit on its CPU time can be made");
    };
    let traced = Traced::start();
    let root = group.0.parent().expect("it is in another one").to_owned();
    let move_to =
        |folder: &Path| fs::write(folder.join("cgroup.procs"), traced.server.process.id().to_string());
    let (_, found) = traced.record(&[], || {
        move_to(&group.0).expect("it may be moved");
        wait_until("it was throttled", || {
            work_hard(traced.server.port, 1);
            throttled_ns(&group) > 300e6
        });
        // Its limits are looked at a few times a second.
        std::thread::sleep(Duration::from_millis(500));
        move_to(&root).expect("it may be moved back");
    });
    let throttled = total(&found, "throttled");
    let outline = incidents(&found)
        .iter()
        .map(|incident| format!("{} {}\n", incident["held_us"], incident["scheduler"]));
    assert!(throttled > 10_000.0, "{}", outline.collect::<String>());
}

#[test]
#[ignore = "make check: takes some seconds"]
fn taking_samples_takes_little_of_a_core() {
    let traced = Traced::start();
    let begin = Instant::now();
    let (folder, _) = traced.record(&[], || std::thread::sleep(Duration::from_secs(2)));
    let elapsed = begin.elapsed().as_nanos() as f64;
    let samples = Trace::open(&folder.path().join(FOLDER)).events_named("ltt_top_samples:machine");
    let cost = samples.last().expect("there are some").field("sampler_ns").parse::<f64>().expect("a number");
    // Finding out which processes are traced is done once, and takes the longer the more there are.
    let processes = fs::read_dir("/proc").expect("this is Linux").count() as f64;
    assert!(cost < elapsed * 0.0135 + 30e6 + processes * 0.3e6, "{cost} of {elapsed}");
}
