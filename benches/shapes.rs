//! Instructions of recorded events of many shapes and sizes, beside LTTng-UST's own macros in C, with and without a filter.
//!
//! `cargo bench --bench shapes` prints a table. Callgrind counts within the loops of `tests/fixtures/src/bin/shapes.rs` and
//! `producer/shapes.c`, while one session records in memory.

mod support;

use std::path::{Path, PathBuf};

use lttng_testing::{Daemon, Program, Table, workspace};
use support::{collected, lttng_flags};

/// What is emitted, and the size of its texts and lists.
const SHAPES: [(&str, u32); 18] = [
    ("nothing", 0),
    ("numbers", 0),
    ("named", 12),
    ("named", 600),
    ("named", 4000),
    ("ten", 12),
    ("ten", 60),
    ("ten", 600),
    ("texts", 600),
    ("lists", 8),
    ("lists", 64),
    ("lists", 200),
    ("lists", 300),
    ("lists", 1000),
    ("network", 8),
    ("network", 64),
    ("network", 200),
    ("network", 600),
];

fn main() {
    let rust = Program::binary("lttng-fixtures", "shapes").release().traced().build();
    let c = compile(&rust.with_file_name("shapes-c"));
    let columns = ["event, size", "Rust", "C macro", "Rust/C", "Rust, filter", "C macro, filter", "Rust/C"];
    let mut table =
        Table::new("Instructions of a recorded event, without the kernel's and the vDSO's", &columns);
    for (event, size) in SHAPES {
        let mut cells = vec![format!("{event}, {size}")];
        for filter in [None, filter(event)] {
            let [ours, theirs] = [("twin", &rust), ("twin_c", &c)].map(|(provider, program)| {
                instructions(&format!("{provider}:*"), filter, program, event, size)
            });
            cells.extend([format!("{ours:.0}"), format!("{theirs:.0}"), format!("{:.2}", ours / theirs)]);
        }
        table.row(cells);
    }
    println!("{table}");
}

/// A filter that accepts the event.
fn filter(event: &str) -> Option<&'static str> {
    Some(match event {
        "nothing" => "$ctx.vpid > 0",
        "numbers" => "d >= 0",
        "named" | "texts" => "number >= 0",
        "ten" => "s0 != \"y\"",
        "lists" => "c[1] == 2",
        _ => "c == 3",
    })
}

fn instructions(events: &str, filter: Option<&str>, program: &Path, event: &str, size: u32) -> f64 {
    const COUNT: u32 = 2_000;
    let daemon = Daemon::start();
    let session = daemon.snapshot_session();
    let options: Vec<&str> = filter.into_iter().flat_map(|filter| ["--filter", filter]).collect();
    session.lttng("enable-channel", ["--userspace", "large", "--subbuf-size=1048576", "--num-subbuf=2"]);
    session.enable_with(events, &[&["--channel=large"], &options[..]].concat());
    session.start();
    let mut valgrind = daemon.command("valgrind");
    // The name of a function that takes a slice has a suffix in Rust, unless it is not mangled.
    valgrind.args(["--tool=callgrind", "--toggle-collect=loop_shape", "--callgrind-out-file=/dev/null"]);
    valgrind.arg(program).args([event, &size.to_string(), &COUNT.to_string()]);
    collected(valgrind) / f64::from(COUNT)
}

fn compile(program: &Path) -> PathBuf {
    let headers = workspace().join("tests/fixtures/c").display().to_string();
    let flags = [vec![format!("-I{headers}")], lttng_flags()].concat();
    support::compile("shapes.c", program, &flags)
}
