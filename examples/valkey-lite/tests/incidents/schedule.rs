//! What the operating system does to a server: stops it, or gives its CPU to another.

use std::fs;
use std::process::Command;
use std::time::Duration;

use crate::support::Server;

/// Sends a signal, e.g. `STOP`.
pub fn signal(server: &Server, name: &str) {
    run("kill", &["-s", name, &server.pid().to_string()]);
}

/// Has two servers run on the same CPU, and the second one only while the first leaves it idle.
pub fn share_a_cpu(first: &Server, second: &Server) {
    let status = fs::read_to_string("/proc/self/status").expect("the status of this process");
    let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).expect("a list");
    let cpu = allowed.trim().split([',', '-']).next().expect("a CPU");
    for server in [first, second] {
        run("taskset", &["--all-tasks", "--cpu-list", "--pid", cpu, &server.pid().to_string()]);
    }
    run("chrt", &["--idle", "--pid", "0", &second.pid().to_string()]);
}

/// How long the main thread of a server has run so far.
pub fn cpu_time(server: &Server) -> Duration {
    Duration::from_nanos(statistics(server)[0])
}

/// How long the main thread of a server has waited for a CPU so far, while it could have run.
pub fn waiting_time(server: &Server) -> Duration {
    Duration::from_nanos(statistics(server)[1])
}

/// Nanoseconds on a CPU and waiting for one, and how often it got one.
fn statistics(server: &Server) -> Vec<u64> {
    let path = format!("/proc/{0}/task/{0}/schedstat", server.pid());
    let text = fs::read_to_string(path).expect("the kernel keeps statistics of its scheduler");
    text.split_whitespace().map(|number| number.parse().expect("a number")).collect()
}

fn run(program: &str, arguments: &[&str]) {
    let output = Command::new(program).args(arguments).output();
    let output = output.unwrap_or_else(|error| panic!("cannot run {program}: {error}"));
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
}
