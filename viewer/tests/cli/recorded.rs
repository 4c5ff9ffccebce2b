//! Traces recorded in the test, with Babeltrace 1 as the oracle.

use std::collections::BTreeMap;

use lttng_testing::{Daemon, Program};

use super::run::{copy, json, ltt_top, said};
use crate::tracee::Tracee;

#[test]
fn figures_of_recorded_events_are_those_of_babeltrace_1() {
    let emit_all = Program::example("valkey-trace", "emit-all").traced().build();
    let daemon = Daemon::start();
    let session = daemon.recording(&["valkey_*"]);
    daemon.run(emit_all, ["500"]);
    let trace = session.stop();
    let mut durations: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for event in trace.events() {
        durations.entry(event.name.clone()).or_default().push(event.field("duration").parse().unwrap());
    }
    assert_eq!(durations.len(), 35);
    let found = json(ltt_top(["top", "--all"]).arg(trace.folder()));
    assert_eq!(found["groups"].as_array().unwrap().len(), 35);
    for group in found["groups"].as_array().unwrap() {
        let exact = durations.get_mut(group["event"].as_str().unwrap()).expect("it was recorded");
        exact.sort_unstable();
        assert_eq!(group["count"], exact.len());
        assert_eq!(group["total_us"], exact.iter().sum::<u64>());
        assert_eq!((&group["min_us"], &group["max_us"]), (&exact[0].into(), &exact[exact.len() - 1].into()));
        for (figure, part) in [("p50_us", 500), ("p90_us", 900), ("p99_us", 990), ("p999_us", 999)] {
            let exact = exact[(exact.len() * part).div_ceil(1000) - 1] as f64;
            let told = group[figure].as_f64().unwrap();
            assert!((told - exact).abs() <= exact / 1000.0, "{figure}: {told} for {exact}");
        }
    }
}

#[test]
fn discarded_events_are_stated_beside_every_result() {
    let daemon = Daemon::start();
    let session = daemon.session();
    let smallest = ["--userspace", "--subbuf-size=4096", "--num-subbuf=2", "--switch-timer=0", "small"];
    session.lttng("enable-channel", smallest);
    session.enable_with("tracee:work", &["--channel=small"]);
    session.start();
    let mut tracee = Tracee::start(&daemon);
    tracee.emit("work", 1_000_000);
    drop(tracee);
    let trace = copy(session.stop().folder());
    let info = json(ltt_top(["info"]).arg(trace.path()));
    let discarded = info["trace"]["discarded_events"].as_u64().unwrap();
    assert!(discarded > 0, "a million events went through 8 kB");
    for command in ["top", "slow", "outliers", "hist", "info"] {
        let said = said(ltt_top([command]).arg(trace.path()));
        assert_eq!(said.status, 0, "the trace is sound");
        let warning = said.out.lines().find(|line| line.contains("discarded")).expect(command);
        assert!(warning.starts_with("warning: ") && warning.contains("--subbuf-size"), "{warning}");
    }
}
