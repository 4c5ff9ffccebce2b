//! The agent of a host: what it records is in the tables once, however often it is killed.

use std::fs;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use lttng_testing::{ChildInTime as _, Daemon, Program, Random, wait_until};

use crate::run::{rows, said};

#[test]
#[ignore = "make check: an agent that is killed again and again; AGENT_SECONDS says for how long"]
fn an_agent_loses_nothing_and_repeats_nothing_however_often_it_is_killed() {
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970").as_nanos() as u64;
    println!("seed {seed}");
    let mut random = Random::new(seed);
    let seconds = std::env::var("AGENT_SECONDS").map_or(12, |seconds| seconds.parse().expect("a number"));
    let emit_all = Program::example("valkey-trace", "emit-all").traced().build();
    let daemon = Daemon::start();
    let path = |name: &str| daemon.folder().join(name);
    let (config, tables, metrics) = (path("agent.toml"), path("tables"), path("agent.prom"));
    let text = format!(
        "traces = {:?}\noutput = {tables:?}\nmetrics = {metrics:?}\nevents = [\"valkey_*\"]\nrotate = \"1s\"\n",
        path("traces")
    );
    fs::write(&config, text).expect("it can be written");
    // No table can be written at first, as without a network.
    fs::write(&tables, "").expect("it can be written");
    let start = || {
        let mut agent = daemon.command(env!("CARGO_BIN_EXE_ltt-parquet"));
        agent.arg("agent").arg(&config).stderr(Stdio::null()).spawn().expect("it runs")
    };
    let says = |metric: &str| fs::read_to_string(&metrics).is_ok_and(|text| text.contains(metric));
    let mut agent = start();
    wait_until("the agent records", || says("ltt_agent_recording 1\n"));
    daemon.run(&emit_all, ["10"]);
    let mut rounds = 10;
    wait_until("a chunk cannot be exported", || says("ltt_agent_waiting_chunks 1\n"));
    wait_until("failures are counted", || !says("ltt_agent_failures_total 0\n"));
    fs::remove_file(&tables).expect("it can be removed");
    let deadline = Instant::now() + Duration::from_secs(seconds);
    let mut kills = 0;
    while Instant::now() < deadline {
        daemon.run(&emit_all, ["10"]);
        rounds += 10;
        sleep(Duration::from_millis(random.below(1500)));
        agent.kill().expect("it was started");
        agent.wait_in_time().expect("it ends");
        kills += 1;
        agent = start();
    }
    daemon.lttng(["rotate", "ltt-agent"]);
    wait_until("all is exported", || rows(&tables, "events") >= rounds * 35);
    wait_until("nothing waits", || says("ltt_agent_waiting_chunks 0\n"));
    // It leaves the session alone when it ends, and a second agent of the same folder is refused.
    let (status, refused) = said(daemon.command(env!("CARGO_BIN_EXE_ltt-parquet")).arg("agent").arg(&config));
    assert!(status == 1 && refused.contains("another process holds this lock"), "{refused}");
    agent.kill().expect("it was started");
    agent.wait_in_time().expect("it ends");
    assert_eq!(rows(&tables, "events"), rounds * 35, "after {kills} kills");
    println!("{} events after {kills} kills", rounds * 35);
    assert!(daemon.lttng(["list", "ltt-agent"]).contains("[active]"));
    daemon.lttng(["destroy", "ltt-agent"]);
}

#[test]
fn a_wrong_configuration_is_refused_in_one_line() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let cases = [
        ("", "missing field `traces`"),
        ("traces = \"t\"\noutput = \"o\"\nevents = []\n", "events: name at least one"),
        ("traces = \"t\"\noutput = \"o\"\nevents = [\"*\"]\nkeep = \"long\"\n", "keep: write a duration"),
        ("traces = \"t\"\noutput = \"o\"\nevents = [\"*\"]\nrotat = \"1h\"\n", "unknown field `rotat`"),
        ("traces = \"t\"\noutput = \"s3://b/o\"\nevents = [\"*\"]\n", "s3:// is not supported"),
    ];
    for (text, because) in cases {
        fs::write(folder.path().join("agent.toml"), text).expect("it can be written");
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_ltt-parquet"));
        let (status, said) = said(command.args(["agent", "agent.toml"]).current_dir(folder.path()));
        assert_eq!((status, said.lines().count()), (1, 1), "{text}: {said}");
        assert!(said.contains(because), "{text}: {said}");
    }
}
