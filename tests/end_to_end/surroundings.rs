//! What else runs on a machine does not decide what a test says.

use std::process::{Command, Stdio};

use crate::support::scenario;
use lttng_testing::{ChildInTime as _, CommandInTime as _, Daemon, need_namespaces, wait_until};

const SCENE: &str = "TEST_BESIDE_MACHINE_WIDE_DAEMON";

/// A machine-wide daemon in a namespace, and a test beside it.
#[test]
fn machine_wide_daemon_does_not_see_programs_under_test() {
    if !need_namespaces() {
        return;
    }
    // Its group must be one that the namespace has.
    let script = r#"mount -t tmpfs none /run && mkdir /run/lttng /run/lock && mount -t tmpfs none /dev/shm || exit
        lttng-sessiond --no-kernel --group=root &
        daemon=$!
        until lttng --no-sessiond list || ! kill -0 $daemon; do sleep 0.1; done
        "$0" --exact surroundings::beside_a_machine_wide_daemon --ignored --nocapture
        status=$?
        kill $daemon
        wait
        exit $status"#;
    let mut scene = Command::new("unshare");
    scene.args(["--user", "--map-root-user", "--mount", "sh", "-c", script]);
    scene.arg(std::env::current_exe().expect("it runs")).env(SCENE, "1").env_remove("LTTNG_HOME");
    let printed = scene.succeed();
    assert!(printed.contains("1 passed"), "{printed}");
}

#[test]
#[ignore = "make check: runs in the scene of the test above only"]
fn beside_a_machine_wide_daemon() {
    if std::env::var_os(SCENE).is_none() {
        return;
    }
    let machine_wide = || {
        let mut list = Command::new("lttng");
        list.args(["--no-sessiond", "list", "--userspace"]).succeed()
    };
    let program = scenario();
    // Left to itself, it registers there.
    let start = |mut command: Command| {
        let command = command.arg("until-end-of-input").env("LTTNG_UST_REGISTER_TIMEOUT", "-1");
        command.stdin(Stdio::piped()).spawn().unwrap()
    };
    let mut seen = start(Command::new(&program));
    wait_until("the machine-wide daemon has a program", || machine_wide().contains("scenario"));
    assert!(seen.wait_in_time().unwrap().success());
    wait_until("the program is gone", || !machine_wide().contains("scenario"));

    let daemon = Daemon::start();
    let mut hidden = start(daemon.command(&program));
    wait_until("the private daemon has the program", || {
        daemon.lttng(["list", "--userspace"]).contains("scenario")
    });
    assert!(!machine_wide().contains("scenario"));
    assert!(hidden.wait_in_time().unwrap().success());
}
