//! `import` as a command: where it writes, what it notes, how it refuses.

use std::fs;

use super::run::{case, said, text, text as text_of};

#[test]
fn a_catalog_goes_to_the_output_and_notes_to_the_terminal() {
    let source = case("import/memcached.d");
    let imported = said(["import", text(&source)]);
    assert_eq!(imported.status, 0);
    assert!(imported.out.starts_with("[catalog]\nname = \"memcached\"\n"), "{}", imported.out);
    let note = "`key` and `keylen` are the one text `key`";
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
        refused.err.contains("probes:1: argument 1 of `open`: unknown type `Oid`; `--type Oid=u32`"),
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
fn what_a_catalog_cannot_have_is_left_out_and_the_rest_is_imported() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("shop-tp.h");
    let text = "enum { CARD = 1 << 2, };\n\
        #define EVENT(name) TRACEPOINT_EVENT(lttng_shop, shop_##name, TP_ARGS(int, a), TP_FIELDS(ctf_integer(int, __cpu, a)))\n\
        EVENT(opened)\n\
        TRACEPOINT_EVENT(lttng_shop, bad, TP_ARGS(basket_t, a), TP_FIELDS(ctf_integer(basket_t, a, a)))\n\
        TRACEPOINT_LOGLEVEL(lttng_shop, bad, TRACE_INFO)\n\
        TRACEPOINT_ENUM(lttng_shop, paid, TP_ENUM_VALUES(ctf_enum_value(\"by: \\\"card\\\"\", CARD) ctf_enum_value(\"cash\", CASH)))\n\
        TRACEPOINT_EVENT(lttng_shop, sale, TP_ARGS(int, a), TP_FIELDS(ctf_enum(lttng_shop, paid, int, a, a)))\n";
    fs::write(&path, text).expect("a writable folder");
    let imported = said(["import", text_of(&path), "-q", "-D", "CASH=7"]);
    assert_eq!(imported.status, 3, "{}", imported.err);
    assert_eq!(imported.err.lines().count(), 1, "{}", imported.err);
    assert!(imported.err.contains("shop-tp.h:4: left out: unknown type `basket_t`"), "{}", imported.err);
    for part in ["[provider.lttng_shop.event.shop_opened]", "{ name = \"cpu\",", "value = 4 }", "value = 7 }"]
    {
        assert!(imported.out.contains(part), "{part}: {}", imported.out);
    }
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

#[test]
fn headers_become_one_catalog_with_what_they_include() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, content: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a writable folder");
        fs::write(&path, content).expect("a writable folder");
        path
    };
    let event = |provider: &str, name: &str, kind: &str| {
        format!(
            "TRACEPOINT_EVENT({provider}, {name}, TP_ARGS({kind}, x), TP_FIELDS(ctf_integer({kind}, x, x) LABELS))\n"
        )
    };
    write("inc/deep/types.h", "typedef unsigned short size;\ntypedef enum { A, B } mode;\n#define LABELS\n");
    let first = format!("#include <stdio.h>\n#include \"deep/types.h\"\n{}", event("shop", "sale", "size"));
    let first = write("a-tp.h", &first);
    let second = format!("{}{}", event("shop", "theft", "mode"), event("till", "open", "unknown_t"));
    let second = write("b-tp.h", &second);
    let include = folder.path().join("inc");
    let imported = said(["import", text(&first), text(&second), "-q", "-I", text(&include)]);
    assert_eq!(imported.status, 3);
    let line = "b-tp.h:2: left out: unknown type `unknown_t`";
    assert!(imported.err.contains(line) && imported.err.lines().count() == 1, "{}", imported.err);
    assert!(imported.out.contains("doc = \"Imported from a-tp.h, b-tp.h.\""), "{}", imported.out);
    for part in
        ["[provider.shop.event.sale]", "type = \"u16\"", "[provider.shop.event.theft]", "type = \"i32\""]
    {
        assert!(imported.out.contains(part), "{part}: {}", imported.out);
    }
    assert_eq!(imported.out.matches("[provider.shop]").count(), 1);

    let mixed = said(["import", text(&first), text(&case("import/redis.d"))]);
    assert_eq!((mixed.status, &*mixed.out), (1, ""));
    assert!(mixed.err.contains("redis.d: one catalog is of .d files or of .h files"), "{}", mixed.err);
}
