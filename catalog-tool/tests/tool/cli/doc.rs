//! `doc`: Markdown and HTML.

use std::fs;

use lttng_testing::assert_golden;

use super::run::{case, catalog, said, text};

#[test]
fn markdown_is_what_the_project_shows() {
    let said = said(["doc", text(&catalog("valkey.toml"))]);
    assert_eq!((said.status, &*said.err), (0, ""));
    let shown = fs::read_to_string(case("../../../docs/events.md")).expect("it is there");
    assert!(shown.ends_with(&said.out), "docs/events.md is that text");
}

#[test]
fn html_is_one_page_and_its_links_lead_somewhere() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("events.html");
    let said = said(["doc", text(&catalog("valkey.toml")), "--out", text(&out)]);
    assert_eq!((said.status, &*said.out, &*said.err), (0, "", ""));
    let page = fs::read_to_string(&out).expect("it was written");
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    for link in page.split("href=\"#").skip(1) {
        let anchor = link.split('"').next().unwrap_or_default();
        assert!(page.contains(&format!("id=\"{anchor}\"")), "{anchor}");
    }
    for (provider, event) in lttng_catalog::valkey().events() {
        assert!(page.contains(&format!("id=\"{}\"", provider.name)), "{}", provider.name);
        assert!(page.contains(&format!("<code>{}</code>", event.name)), "{}", event.name);
    }
}

#[test]
fn a_page_is_as_reviewed_and_obeys_nothing_that_a_catalog_says() {
    let said = said(["doc", "--format", "html", text(&case("cli/doc/hostile.toml"))]);
    assert_eq!((said.status, &*said.err), (0, ""));
    for wrong in ["<script", "<img", "<b>", "<u>", "javascript:"] {
        assert!(!said.out.contains(wrong), "{wrong}: {}", said.out);
    }
    assert_golden(case("cli/doc/hostile.html"), &said.out);
}
