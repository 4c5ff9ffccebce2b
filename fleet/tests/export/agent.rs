//! The agent of a host: what it records is in the tables once, however often it is killed.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use lttng_testing::{
    ChildInTime as _, CommandInTime as _, Daemon, Program, Random, need_namespaces, wait_until,
};

use crate::run::{rows, said};

/// A machine with a session daemon, and the configuration of an agent.
struct Machine {
    daemon: Daemon,
    emit_all: PathBuf,
}

impl Machine {
    fn new() -> Machine {
        let emit_all = Program::example("valkey-trace", "emit-all").traced().build();
        let machine = Machine { daemon: Daemon::start(), emit_all };
        let [traces, tables, metrics] =
            ["traces", "disk/tables", "agent.prom"].map(|name| machine.path(name));
        let text = format!(
            "traces = {traces:?}\noutput = {tables:?}\nmetrics = {metrics:?}\nevents = [\"valkey_*\"]\nrotate = \"3s\"\n"
        );
        fs::write(machine.path("agent.toml"), text).expect("it can be written");
        fs::create_dir(machine.path("disk")).expect("it can be created");
        machine
    }

    fn path(&self, name: &str) -> PathBuf {
        self.daemon.folder().join(name)
    }

    fn agent(&self) -> Command {
        let mut agent = self.daemon.command(env!("CARGO_BIN_EXE_ltt-parquet"));
        agent.arg("agent").arg(self.path("agent.toml")).stderr(Stdio::null());
        agent
    }

    /// Emits 350 events.
    fn emit(&self) {
        self.daemon.run(&self.emit_all, ["10"]);
    }

    fn says(&self, metric: &str) -> bool {
        fs::read_to_string(self.path("agent.prom")).is_ok_and(|text| text.contains(metric))
    }

    /// Emits 350 events, and waits until they are in finished chunks that cannot be exported.
    fn wait_for_failure(&self) {
        wait_until("the agent records", || self.says("ltt_agent_recording 1\n"));
        self.emit();
        wait_until("failures are counted", || !self.says("ltt_agent_failures_total 0\n"));
        // A rotation may have split them; chunks in which nothing was recorded have no metadata.
        let mut find = Command::new("find");
        find.arg(self.path("traces")).args(["-path", "*/archives/*", "-name", "metadata"]);
        // It may complain of what is removed meanwhile.
        let mut count =
            || find.output_in_time().expect("it runs").stdout.split(|&byte| byte == b'\n').count() - 1;
        wait_until("two chunks are finished", || count() >= 2);
    }
}

/// An agent that runs, until it is killed; also if the test fails, or it would start a session daemon of its own.
struct Agent(Child);

impl Agent {
    fn start(machine: &Machine) -> Agent {
        Agent(machine.agent().spawn().expect("it runs"))
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.0.kill().expect("it was started");
        self.0.wait_in_time().expect("it ends");
    }
}

#[test]
#[ignore = "make check: an agent that is killed again and again; AGENT_SECONDS says for how long"]
fn an_agent_loses_nothing_and_repeats_nothing_however_often_it_is_killed() {
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970").as_nanos() as u64;
    println!("seed {seed}");
    let mut random = Random::new(seed);
    let seconds = std::env::var("AGENT_SECONDS").map_or(12, |seconds| seconds.parse().expect("a number"));
    let machine = Machine::new();
    let tables = machine.path("disk/tables");
    // No table can be written at first, as without a network.
    fs::write(&tables, "").expect("it can be written");
    let mut agent = Agent::start(&machine);
    machine.wait_for_failure();
    let mut events = 350;
    fs::remove_file(&tables).expect("it can be removed");
    let deadline = Instant::now() + Duration::from_secs(seconds);
    let mut kills = 0;
    while Instant::now() < deadline {
        machine.emit();
        events += 350;
        sleep(Duration::from_millis(random.below(1500)));
        drop(agent);
        kills += 1;
        agent = Agent::start(&machine);
    }
    // The timer rotates the session once more: `lttng rotate` is refused while a rotation is under way.
    wait_until("all is exported", || rows(&tables, "events") >= events);
    wait_until("nothing waits", || machine.says("ltt_agent_waiting_chunks 0\n"));
    // It leaves the session alone when it ends, and a second agent of the same folder is refused.
    let (status, refused) = said(machine.agent().stderr(Stdio::piped()));
    assert!(status == 1 && refused.contains("another process holds this lock"), "{refused}");
    drop(agent);
    assert_eq!(rows(&tables, "events"), events, "after {kills} kills");
    println!("{events} events after {kills} kills");
    assert!(machine.daemon.lttng(["list", "ltt-agent"]).contains("[active]"));
    machine.daemon.lttng(["destroy", "ltt-agent"]);
}

#[test]
#[ignore = "make check: an agent whose machine starts anew"]
fn what_was_recorded_before_a_reboot_is_exported_after_it() {
    let mut machine = Machine::new();
    let tables = machine.path("disk/tables");
    fs::write(&tables, "").expect("it can be written");
    let agent = Agent::start(&machine);
    machine.wait_for_failure();
    drop(agent);
    machine.daemon.kill();
    machine.daemon.restart();
    fs::remove_file(&tables).expect("it can be removed");
    fs::remove_file(machine.path("agent.prom")).expect("it can be removed");
    let agent = Agent::start(&machine);
    wait_until("the agent records", || machine.says("ltt_agent_recording 1\n"));
    wait_until("the past is exported", || rows(&tables, "events") == 350);
    machine.emit();
    wait_until("the present is exported", || rows(&tables, "events") == 700);
    drop(agent);
    machine.daemon.lttng(["destroy", "ltt-agent"]);
}

#[test]
#[ignore = "make check: an agent whose disk is full"]
fn what_does_not_fit_on_a_full_disk_waits_until_there_is_room() {
    if !need_namespaces() {
        return;
    }
    let machine = Machine::new();
    // A private file system, which is full until `room` appears; it is copied once `end` does.
    let script = r#"
        cd "$1" && mount -t tmpfs -o size=4m none disk && head -c 4190208 /dev/zero >disk/ballast || exit 99
        # LTTng looks elsewhere for the daemon of root.
        unshare --user --map-user=99999 --map-group=99999 "$0" agent agent.toml & agent=$!
        while [ ! -e room ]; do sleep 0.1; done; rm disk/ballast
        while [ ! -e end ]; do sleep 0.1; done; kill $agent; wait $agent
        cp -r disk/tables tables"#;
    let mut full = machine.daemon.command("unshare");
    full.args(["--user", "--map-root-user", "--mount", "sh", "-c", script]);
    full.arg(env!("CARGO_BIN_EXE_ltt-parquet")).arg(machine.daemon.folder()).stderr(Stdio::null());
    let mut full = full.spawn().expect("it runs");
    machine.wait_for_failure();
    fs::write(machine.path("room"), "").expect("it can be written");
    wait_until("all is exported", || machine.says("ltt_agent_exported_events_total 350\n"));
    fs::write(machine.path("end"), "").expect("it can be written");
    full.wait_in_time().expect("it ends");
    assert_eq!(rows(&machine.path("tables"), "events"), 350);
    machine.daemon.lttng(["destroy", "ltt-agent"]);
}

#[test]
fn a_wrong_configuration_is_refused_in_one_line() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let cases = [
        ("", "missing field `traces`"),
        ("traces = \"t\"\noutput = \"o\"\nevents = []\n", "events: name at least one"),
        ("traces = \"t\"\noutput = \"o\"\nevents = [\"*\"]\nkeep = \"long\"\n", "keep: write a duration"),
        ("traces = \"t\"\noutput = \"o\"\nevents = [\"*\"]\nrotat = \"1h\"\n", "unknown field `rotat`"),
        ("traces = \"t\"\noutput = \"ftp://b/o\"\nevents = [\"*\"]\n", "ftp:// is not supported"),
    ];
    for (text, because) in cases {
        fs::write(folder.path().join("agent.toml"), text).expect("it can be written");
        let mut command = Command::new(env!("CARGO_BIN_EXE_ltt-parquet"));
        let (status, said) = said(command.args(["agent", "agent.toml"]).current_dir(folder.path()));
        assert_eq!((status, said.lines().count()), (1, 1), "{text}: {said}");
        assert!(said.contains(because), "{text}: {said}");
    }
}
