//! The instructions that ten readings take: what a change costs, however busy the machine is.

use lttng_testing::{Table, instructions, need};

use super::run::ltt_top;
use super::shared_trace::SharedTrace;

/// What is read of the first second, and at most how many million instructions that may take as tests are built, which is without
/// optimising the analyses: a tenth more than with Rust 1.95.
const READINGS: [(&str, f64); 10] = [
    ("info", 264.0),
    ("top", 265.0),
    ("top --by client", 257.0),
    ("outliers", 3032.0),
    ("slow", 535.0),
    ("incidents", 1434.0),
    ("events", 276.0),
    ("events --format json", 319.0),
    ("events --format csv", 356.0),
    ("export --to chrome-trace --output /dev/null --force", 2132.0),
];

#[test]
#[ignore = "make check: ten readings in valgrind"]
fn readings_take_no_more_instructions_than_their_ceilings() {
    if !need("valgrind") {
        return;
    }
    let shared = SharedTrace::unpack();
    let mut table = Table::new("Instructions of readings, in millions", &["ltt-top", "now", "ceiling"]);
    let mut above = Vec::new();
    for (reading, ceiling) in READINGS {
        let mut command = ltt_top(reading.split(' '));
        command.args(["--until", "+1.02s"]).arg(shared.folder());
        let millions = instructions(&command) / 1e6;
        table.row([reading.into(), format!("{millions:.0}"), format!("{ceiling:.0}")]);
        above.extend((millions > ceiling).then_some(reading));
    }
    println!("{table}");
    assert!(above.is_empty(), "above their ceilings: {above:?}");
}
