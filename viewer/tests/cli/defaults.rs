//! What need not be said on the command line: the catalog, and the trace.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::handwritten::{Handwritten, requests};
use super::run::{json, ltt_top, said};

/// A catalog in which the duration of `app:request` is a field that is not called so, in milliseconds.
fn catalog(field: &str) -> String {
    format!(
        r#"
[catalog]
name = "app"
version = 1
doc = "What the tests trace."

[provider.app]
doc = "A test's program."

[provider.app.event.request]
doc = "A request."
duration = "{field}"
fields = [{{ name = "{field}", type = "u64", unit = "ms", doc = "How long it took." }}]
"#
    )
}

fn request() -> Handwritten {
    let mut trace = Handwritten::new("alpha");
    let class = trace.class("app:request", "u64 _first; u64 _second;");
    trace.event(class, &[&1_u64.to_le_bytes(), &2_u64.to_le_bytes()]);
    trace
}

#[test]
fn catalogs_come_from_the_environment() {
    let (trace, other) = (request().write(), tempfile::tempdir().unwrap());
    let (first, second) = (other.path().join("first.toml"), other.path().join("second.toml"));
    fs::write(&first, catalog("first")).unwrap();
    fs::write(&second, catalog("second")).unwrap();
    let max = |catalogs: &[&Path]| {
        let catalogs = std::env::join_paths(catalogs).unwrap();
        json(ltt_top(["top"]).arg(trace.path()).env("LTT_TOP_CATALOG", catalogs))["groups"][0]["max_us"]
            .clone()
    };
    assert_eq!(max(&[]), serde_json::Value::Null);
    assert_eq!(max(&[&first]), 1000);
    assert_eq!(max(&[&second, &first]), 2000, "the first one holds");
    let given =
        json(ltt_top(["top", "--catalog"]).arg(&first).arg(trace.path()).env("LTT_TOP_CATALOG", &second));
    assert_eq!(given["groups"][0]["max_us"], 1000, "the command line comes before the environment");
    let missing = said(ltt_top(["top"]).arg(trace.path()).env("LTT_TOP_CATALOG", "/nowhere/app.toml"));
    assert_eq!(missing.status, 1);
    assert!(missing.err.contains("/nowhere/app.toml"), "{missing:?}");
}

/// The trace in a session's folder, as LTTng makes it.
fn session() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    request().write_to(&folder.path().join("ust/uid/0/64-bit"));
    folder
}

#[test]
fn a_catalog_beside_the_trace_is_found() {
    for name in ["catalog.toml", "app.catalog.toml"] {
        let trace = session();
        fs::write(trace.path().join(name), catalog("second")).unwrap();
        assert_eq!(json(ltt_top(["top"]).arg(trace.path()))["groups"][0]["max_us"], 2000, "{name}");
    }
}

#[test]
fn other_files_beside_the_trace_do_no_harm() {
    let trace = session();
    fs::write(trace.path().join("Cargo.toml"), catalog("second")).unwrap();
    fs::write(trace.path().join("catalog.toml"), "[package]\nname = 'not ours'\n").unwrap();
    fs::write(trace.path().join("x.catalog.toml"), "this is not TOML").unwrap();
    fs::create_dir(trace.path().join("folder.catalog.toml")).unwrap();
    let unrelated = said(ltt_top(["top"]).arg(trace.path()));
    assert_eq!((unrelated.status, &*unrelated.err), (0, ""));
    fs::write(trace.path().join("catalog.toml"), "[catalog]\nname = 1\n").unwrap();
    let broken = said(ltt_top(["top"]).arg(trace.path()));
    assert_eq!((broken.status, broken.err.lines().count()), (0, 1), "{broken:?}");
    assert!(
        broken.err.starts_with("ltt-top: warning: a catalog in the folder of the trace is ignored: "),
        "{broken:?}"
    );
}

#[test]
fn without_a_trace_the_newest_one_is_read() {
    let home = tempfile::tempdir().unwrap();
    let sessions = home.path().join("lttng-traces");
    for (name, age, latency) in [("z-old", 3000, 1), ("newest", 1000, 2), ("a-old", 2000, 3)] {
        let folder = sessions.join(name).join("ust/uid/0/64-bit");
        requests("alpha", &[("get", latency)]).write_to(&folder);
        let written = SystemTime::now() - Duration::from_secs(age);
        File::options().write(true).open(folder.join("metadata")).unwrap().set_modified(written).unwrap();
    }
    fs::create_dir(sessions.join("empty")).unwrap();
    for arguments in [&["--format", "json"][..], &["top", "--format", "json"]] {
        for (variable, other) in [("LTTNG_HOME", "HOME"), ("HOME", "LTTNG_HOME")] {
            let said = said(ltt_top(arguments).env_remove(other).env(variable, home.path()));
            assert_eq!(said.status, 0, "{said:?}");
            assert_eq!(said.err, format!("ltt-top: reading {}\n", sessions.join("newest").display()));
            let found: serde_json::Value = serde_json::from_str(&said.out).unwrap();
            assert_eq!(found["groups"][0]["max_us"], 2);
        }
    }
}
