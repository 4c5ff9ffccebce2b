//! The names that C headers define as macros are refused: LTTng-UST's macros would expand them.

use std::io::Write;
use std::process::{Command, Stdio};

use lttng_catalog::Catalog;

/// Everything that a provider's C file includes before its events are expanded.
const HEADERS: &str = "
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#include <lttng/tracepoint.h>
#include <lttng/ust-events.h>
#include <lttng/ust-ringbuffer-context.h>
#include <lttng/ust-endian.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>
#include <string.h>
";

/// The macros without parameters of those headers; none without a compiler or the headers.
fn macros() -> Option<Vec<String>> {
    let mut compiler = Command::new("cc")
        .args(["-dM", "-E", "-x", "c", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    compiler.stdin.take()?.write_all(HEADERS.as_bytes()).ok()?;
    let output = compiler.wait_with_output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| {
        text.lines()
            .filter_map(|line| line.strip_prefix("#define ")?.split_once(' '))
            .filter(|(name, value)| !name.contains('(') && name != value)
            .map(|(name, _)| name.to_owned())
            .collect()
    })
}

#[test]
fn no_field_or_event_is_named_as_a_macro_of_the_headers() {
    let Some(macros) = macros() else {
        lttng_testing::missing_tool("lttng/tracepoint.h");
        return;
    };
    assert!(macros.iter().any(|name| name == "EINVAL"), "these are not the macros of the headers");
    let accepted: Vec<String> = macros.into_iter().filter(|name| is_accepted(name)).collect();
    assert!(accepted.is_empty(), "macros that a catalog may use as names: {accepted:?}");
}

fn is_accepted(name: &str) -> bool {
    let text = format!(
        r#"
        [catalog]
        name = "macros"
        version = 1
        doc = "A macro as a name."

        [provider.names]
        doc = "Names."

        [provider.names.event.event]
        doc = "An event."
        fields = [{{ name = "{name}", arg = "other", type = "u8", doc = "A macro." }}]
        "#
    );
    Catalog::parse("macros.toml", &text).is_ok()
}
