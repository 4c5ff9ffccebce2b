//! `docs/events.md` is made from `valkey.toml`. `OVERWRITE=1` makes it again.

use std::fs;
use std::path::Path;

use lttng_catalog::{markdown, valkey};

const ORIGIN: &str =
    "<!-- Made from catalog/valkey.toml by `OVERWRITE=1 cargo test -p lttng-catalog`. -->\n\n";

#[test]
fn the_document_of_events_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/events.md");
    let made = format!("{ORIGIN}{}", markdown(&valkey()));
    if std::env::var_os("OVERWRITE").is_some_and(|value| value == "1") {
        fs::write(&path, made).expect("docs/ is writable");
        return;
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(made == kept, "docs/events.md is not what catalog/valkey.toml says; OVERWRITE=1 makes it again");
}
