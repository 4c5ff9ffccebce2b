//! `ltt-top` knows durations, units and groups of events that no catalog describes.

mod support;

use std::process::Command;

use lttng_testing::{Daemon, Program, need};
use support::{python, succeed};

#[test]
fn durations_and_groups_are_read_from_the_trace() {
    if !need("python3") {
        return;
    }
    let daemon = Daemon::start();
    let session = daemon.session();
    session.enable("shop:*");
    session.start();
    let code = r#"
sale = Provider("shop").event("sale", article="string group", took="u64 us")
for _ in range(3):
    sale("book", 2000)
sale("pen", 5)
"#;
    succeed(python(&daemon, code));
    let trace = session.stop();
    let mut top = Command::new(Program::binary("ltt-top", "ltt-top").build());
    top.args(["top", "--format", "csv"]).arg(trace.folder());
    let printed = succeed(top);
    let group = |name: &str| {
        let line = printed.lines().find(|line| line.contains(name)).unwrap_or_else(|| panic!("{printed}"));
        line.to_owned()
    };
    assert!(group("book").contains(",3,0,6000"), "three sales of 2,000 µs: {printed}");
    assert!(group("pen").contains(",1,0,5"), "{printed}");
}
