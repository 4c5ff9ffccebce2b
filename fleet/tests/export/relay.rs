//! Hosts with networks and names of their own stream to one relay, and one of them is killed.

use std::process::Command;
use std::time::Duration;

use lttng_testing::{CommandInTime as _, need, need_namespaces, patience, workspace};

use crate::run::{files, metadata, rows};

#[test]
#[ignore = "make check: three hosts with session daemons"]
fn nothing_of_other_hosts_is_lost_when_one_is_killed() {
    if !["ip", "redis-benchmark", "lttng-relayd", "python3"].into_iter().all(need) || !need_namespaces() {
        return;
    }
    let folder = tempfile::Builder::new().prefix("fleet-").tempdir_in("/tmp").expect("a temporary folder");
    let fleet = folder.path().join("f");
    let mut command = Command::new(workspace().join("scripts/fleet.sh"));
    let said = command.arg(&fleet).arg("3").succeed_within(patience(Duration::from_secs(120)));
    for host in ["host-1: 20000 of 20000", "host-2: 20000 of 20000", "host-3: "] {
        assert!(said.contains(host), "{said}");
    }
    let tables = fleet.join("tables");
    assert_eq!(metadata(&tables, "events", "ltt.host"), ["host-1", "host-2", "host-3"]);
    assert_eq!(metadata(&tables, "events", "ltt.discarded_events"), ["0"]);
    assert!(files(&tables, "groups").len() >= 3 && rows(&tables, "events") > 40_000);
}
