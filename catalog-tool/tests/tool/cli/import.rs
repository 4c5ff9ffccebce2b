//! `import` as a command: where it writes, what it notes, how it refuses.

use std::fs;

use super::run::{case, said, text};

#[test]
fn a_catalog_goes_to_the_output_and_notes_to_the_terminal() {
    let source = case("import/memcached.d");
    let imported = said(["import", text(&source)]);
    assert_eq!(imported.status, 0);
    assert!(imported.out.starts_with("[catalog]\nname = \"memcached\"\n"), "{}", imported.out);
    let note = "are proposed as one interval event `process__command`; --keep-pairs keeps both";
    assert!(imported.err.contains(note), "{}", imported.err);
    assert!(imported.err.lines().all(|line| line.starts_with("lttng-catalog: note: ")), "{}", imported.err);

    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("memcached.toml");
    let written = said(["import", text(&source), "--quiet", "--out", text(&out)]);
    assert_eq!((written.status, &*written.out, &*written.err), (0, "", ""));
    assert_eq!(fs::read_to_string(&out).expect("it was written"), imported.out);
    assert_eq!(said(["check", text(&out)]).status, 0);
}

#[test]
fn options_name_the_catalog_and_unknown_types() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("probes");
    fs::write(&path, "provider pg { probe open(Oid relation, Name *name); };").expect("a writable folder");
    let refused = said(["import", text(&path)]);
    assert_eq!(refused.status, 1);
    assert!(
        refused.err.contains("neither a .d nor a .h file; say which it is with --kind"),
        "{}",
        refused.err
    );
    let refused = said(["import", text(&path), "--kind", "dtrace"]);
    assert_eq!(refused.status, 1);
    assert!(
        refused.err.contains("probes:1: argument 1: unknown type `Oid`; `--type Oid=u32`"),
        "{}",
        refused.err
    );
    assert_eq!(refused.err.lines().count(), 1, "a pointer is a pointer: {}", refused.err);
    let arguments = ["--kind", "dtrace", "--type", "Oid=u32", "--name", "postgres", "-q"];
    let accepted = said(["import", text(&path)].into_iter().chain(arguments));
    assert_eq!((accepted.status, &*accepted.err), (0, ""));
    assert!(accepted.out.contains("name = \"postgres\""), "{}", accepted.out);
    assert!(accepted.out.contains("{ name = \"relation\", type = \"u32\""), "{}", accepted.out);
    assert!(accepted.out.contains("{ name = \"name\", type = \"u64 hex\""), "{}", accepted.out);
}

#[test]
fn a_refused_file_leaves_the_output_as_it_was() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("kept.toml");
    fs::write(&out, "kept").expect("a writable folder");
    let source = folder.path().join("type_is_unknown.d");
    fs::write(&source, "provider shop {\n    probe sale(article_t what);\n};\n").expect("a writable folder");
    let said = said(["import", text(&source), "--out", text(&out)]);
    assert_eq!((said.status, &*said.out), (1, ""));
    assert!(said.err.contains("type_is_unknown.d:2: "), "{}", said.err);
    assert_eq!(fs::read_to_string(&out).expect("it is there"), "kept");
}
