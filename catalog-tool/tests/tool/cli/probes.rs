//! `d`, `stp` and `bpftrace`: every probe, under its name, with its arguments in order.

use std::fs;

use lttng_catalog::Catalog;
use lttng_catalog_cli::diff::diff;

use super::run::{catalog, said, text};

#[test]
fn a_provider_file_imports_as_the_catalog_that_it_came_from() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for name in ["memcached", "redis"] {
        let (path, out) = (catalog(&format!("{name}.toml")), folder.path().join(format!("{name}.d")));
        assert_eq!(said(["d", text(&path), "--out", text(&out)]).status, 0);
        let imported = said(["import", "-q", text(&out)]);
        assert_eq!((imported.status, &*imported.err), (0, ""));
        let imported = Catalog::parse(name, &imported.out).expect("it is a catalog");
        let original = Catalog::read(path).expect("it is a catalog");
        assert_eq!(imported.events().count(), original.events().count());
        for change in diff(&original, &imported).changes {
            // A provider file says nothing of the meaning.
            let unsaid = ["client:", "group-by:", "unit:"].iter().any(|word| change.change.starts_with(word));
            assert!(!change.caller && (!change.reader || unsaid), "{change:?}");
        }
    }
}

#[test]
fn a_tapset_names_the_arguments() {
    let tapset = said(["stp", text(&catalog("memcached.toml")), "--program", "/usr/bin/memcached"]);
    assert_eq!((tapset.status, &*tapset.err), (0, ""));
    let get = "probe memcached.command__get = process(\"/usr/bin/memcached\").provider(\"memcached\").mark(\"command__get\")\n\
               {\n\tconnid = $arg1\n\tkey = user_string_n($arg2, $arg3)\n\tkey_length = $arg3\n\tsize = $arg4\n\tcasid = $arg5\n}\n";
    assert!(tapset.out.contains(get), "{}", tapset.out);
    assert_eq!(tapset.out.matches("\nprobe ").count(), 31);
}

#[test]
fn scripts_of_bpftrace_time_pairs_and_durations_and_print_keys() {
    let redis = said(["bpftrace", text(&catalog("redis.toml")), "--program", "/srv/redis"]);
    assert_eq!((redis.status, &*redis.err), (0, ""));
    let timed = "@redis_call__end_us[arg0] = hist((nsecs - @begin_redis_call__end[tid]) / 1000);";
    assert!(redis.out.contains(timed), "{}", redis.out);
    let valkey = said(["bpftrace", text(&catalog("valkey.toml")), "--program", "/srv/valkey"]);
    let measured = "usdt:/srv/valkey:valkey_db:expire_del { @valkey_db_expire_del_us = hist(arg0); }";
    assert!(valkey.out.contains(measured), "{}", valkey.out);
    let snoop = said(["bpftrace", "--snoop", text(&catalog("memcached.toml"))]);
    let line = r#"printf("memcached:command__delete connid=%ld key=%s key_length=%ld\n", arg0, str(arg1, arg2), arg2);"#;
    assert!(snoop.out.contains(line), "{}", snoop.out);
}

#[test]
fn an_invalid_catalog_is_refused_by_each() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("bad.toml");
    fs::write(&path, "[catalog]\n").expect("a writable folder");
    for command in ["d", "stp", "bpftrace"] {
        let refused = said([command, text(&path)]);
        assert_eq!((refused.status, &*refused.out), (1, ""), "{command}");
        assert!(refused.err.contains("bad.toml:"), "{}", refused.err);
    }
}
