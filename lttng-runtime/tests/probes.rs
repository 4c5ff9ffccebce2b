//! USDT tracers find and read events that are declared at run time.

mod support;

use std::process::Command;

use lttng_testing::{Daemon, need, need_bpftrace};
use support::{Steps, succeed};

#[test]
fn readelf_lists_the_probes_of_a_process() {
    if !["python3", "readelf"].into_iter().all(need) {
        return;
    }
    let daemon = Daemon::start();
    let code = r#"
events = Provider("shop").events({"sale": {"article": str, "took": "u32 us"}, "closing": {}})
other = Provider("other")
other.event("gone")
step()
other.close()
step()
"#;
    let mut program = Steps::start(&daemon, code);
    assert_eq!(listed(program.id()), ["shop sale", "shop closing", "other gone"]);
    program.step();
    assert_eq!(listed(program.id()), ["shop sale", "shop closing"]);
}

/// Providers and names of the probes in the process's file.
fn listed(process: u32) -> Vec<String> {
    let descriptors =
        std::fs::read_dir(format!("/proc/{process}/fd")).unwrap().flatten().map(|entry| entry.path());
    let is_ours = |path: &std::path::PathBuf| {
        std::fs::read_link(path).is_ok_and(|target| target.to_string_lossy().contains("memfd:lttng-runtime"))
    };
    let file = descriptors.into_iter().find(is_ours).expect("the process has the file open");
    let mut readelf = Command::new("readelf");
    readelf.arg("--notes").arg(file);
    let printed = succeed(readelf);
    let after = |line: &str, word| line.trim().strip_prefix(word).map(str::to_owned);
    let providers = printed.lines().filter_map(|line| after(line, "Provider: "));
    let names = printed.lines().filter_map(|line| after(line, "Name: "));
    providers.zip(names).map(|(provider, name)| format!("{provider} {name}")).collect()
}

#[test]
fn bpftrace_reads_values_while_it_is_attached() {
    if !need_bpftrace() {
        return;
    }
    let daemon = Daemon::start();
    let code = r#"
import time
sale = Provider("shop").event("sale", article=str, took="u64 us", small="i8", rate=float, long=str)
assert not sale.enabled
step()
deadline = time.monotonic() + 60
while not sale.enabled and time.monotonic() < deadline:
    time.sleep(0.01)
# A tracer counts itself before it is ready to read.
while sale.enabled and time.monotonic() < deadline:
    sale("book", 7, -7, 0.5, "x" * 1000)
    time.sleep(0.01)
step()
"#;
    let mut program = Steps::start(&daemon, code);
    let process = program.id().to_string();
    let tracer = std::thread::spawn(move || {
        let script = r#"usdt:*:shop:sale {
            printf("> %s %d %d %lx %s\n", str(arg0), arg1, arg2, arg3, str(arg4, 4));
            @seen++;
            if (@seen == 5) { exit(); }
        }"#;
        let mut bpftrace = Command::new("timeout");
        bpftrace.args(["90", "bpftrace", "-p", &process, "-e", script]);
        succeed(bpftrace)
    });
    program.step();
    let printed = tracer.join().expect("bpftrace runs");
    let lines: Vec<_> = printed.lines().filter_map(|line| line.strip_prefix("> ")).collect();
    assert!(lines.len() >= 5, "{printed}");
    assert!(lines.iter().all(|line| *line == "book 7 -7 3fe0000000000000 xxxx"), "{lines:?}");
}
