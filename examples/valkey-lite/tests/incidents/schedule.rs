//! What the operating system does to a server: stops it, or gives its CPU to another.

use std::fs;
use std::process::Command;
use std::time::Duration;

use crate::support::Server;

/// Sends a signal, e.g. `STOP`.
pub fn signal(server: &Server, name: &str) {
    run("kill", &["-s", name, &server.pid().to_string()]);
}

/// The CPUs that this process may run on, e.g. `0-1`.
fn allowed_cpus() -> String {
    let status = fs::read_to_string("/proc/self/status").expect("the status of this process");
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    list.expect("a list").trim().to_owned()
}

/// Makes two servers run on the same CPU, and the second one only while the CPU is idle otherwise.
pub fn share_a_cpu(first: &Server, second: &Server) {
    let allowed = allowed_cpus();
    let cpu = allowed.split([',', '-']).next().expect("a CPU");
    for server in [first, second] {
        run("taskset", &["--all-tasks", "--cpu-list", "--pid", cpu, &server.pid().to_string()]);
    }
    run("chrt", &["--idle", "--pid", "0", &second.pid().to_string()]);
}

/// Lets a server run as it did before [`share_a_cpu`].
pub fn release(server: &Server) {
    run("chrt", &["--other", "--pid", "0", &server.pid().to_string()]);
    run("taskset", &["--all-tasks", "--cpu-list", "--pid", &allowed_cpus(), &server.pid().to_string()]);
}

/// How long the main thread of a server has run so far.
pub fn cpu_time(server: &Server) -> Duration {
    let path = format!("/proc/{0}/task/{0}/schedstat", server.pid());
    let text = fs::read_to_string(path).expect("the kernel keeps statistics of its scheduler");
    let nanoseconds = text.split_whitespace().next().and_then(|number| number.parse().ok());
    Duration::from_nanos(nanoseconds.expect("a number"))
}

fn run(program: &str, arguments: &[&str]) {
    let output = Command::new(program).args(arguments).output();
    let output = output.unwrap_or_else(|error| panic!("cannot run {program}: {error}"));
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
}
