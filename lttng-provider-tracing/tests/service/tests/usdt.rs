//! The same layer with USDT probes in place of LTTng-UST.

use std::process::Command;

use lttng_testing::CommandInTime as _;
use lttng_testing::{Program, need_bpftrace};

#[test]
#[ignore = "make check: bpftrace and another build"]
fn spans_are_probes_for_bpftrace() {
    let program = Program::example("bridged-service", "layers").argument("--features=usdt").build();
    let path = program.display();
    let notes =
        Command::new("readelf").args(["--notes", "--wide"]).arg(&program).output().expect("readelf runs");
    assert!(String::from_utf8_lossy(&notes.stdout).contains("Name: waiting"), "{path} has no probes");
    if !need_bpftrace() {
        return;
    }
    let script = format!(
        r#"usdt:{path}:service:waiting {{ printf("> waiting %lu %d\n", arg0, arg2 <= arg1); }}
           usdt:{path}:service:message {{ printf("> %s %s\n", str(arg0), str(arg1)); }}"#
    );
    let mut bpftrace = Command::new("bpftrace");
    bpftrace.args(["-e", &script, "-c", &format!("{path} alone")]);
    let output = bpftrace.output_in_time().expect("bpftrace runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let output = String::from_utf8_lossy(&output.stdout);
    let mut lines: Vec<_> = output.lines().filter_map(|line| line.strip_prefix("> ")).collect();
    lines.sort_unstable();
    assert_eq!(lines, ["in a span debug", "in a span info", "waiting 1 1", "waiting 2 1"]);
}
