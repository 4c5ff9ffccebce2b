//! `docs/events.md` is made from `valkey.toml` and `valkey.advice.toml`. `OVERWRITE=1` makes it again.

use lttng_catalog::{markdown, valkey_with_advice};
use lttng_testing::{assert_golden, workspace};

const ORIGIN: &str =
    "<!-- Made from catalog/valkey.toml by `OVERWRITE=1 cargo test -p lttng-catalog`. -->\n\n";

#[test]
fn the_document_of_events_is_current() {
    let made = format!("{ORIGIN}{}", markdown(&valkey_with_advice()));
    assert_golden(workspace().join("docs/events.md"), &made);
}
