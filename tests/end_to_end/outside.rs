//! Programs outside of the workspace, one for each published library, do what the READMEs say with the crates' packages.

use std::process::Command;

use lttng_testing::{CommandInTime as _, Daemon, build_outside, workspace};

#[test]
#[ignore = "make check: builds a crate"]
fn programs_outside_of_the_workspace_work_with_the_packages() {
    let programs = build_outside("tests/outside");
    let daemon = Daemon::start();
    let recorded = [
        ("provider", "shop:*", &["shop:sold", "shop:sold", "shop:checkout"][..]),
        ("bridge", "shop:*", &["shop:delivery"]),
        ("runtime", "market:*", &["market:sale", "market:refund"]),
    ];
    for (program, events, expected) in recorded {
        let events = daemon.record(&[events], programs.join(program), [""; 0]).events();
        let names: Vec<&str> = events.iter().map(|event| event.name.as_str()).collect();
        assert_eq!(names, expected, "{program}");
    }

    let mut catalog = Command::new(programs.join("catalog"));
    assert_eq!(
        catalog.current_dir(workspace().join("tests/outside")).succeed(),
        "shop:sold(item, count)\nshop:checkout(duration)\nshop:delivery(street, duration)\n"
    );
}
