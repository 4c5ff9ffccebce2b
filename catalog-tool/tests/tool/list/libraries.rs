//! The libraries that a program needs are looked into as well.

use std::process::Command;

use lttng_testing::CommandInTime as _;

use super::built::list;

#[test]
#[ignore = "make check: sys/sdt.h"]
fn libraries_are_found_where_the_program_wants_them() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let library = "#include <sys/sdt.h>\nvoid deep(int a) { STAP_PROBE1(depths, reached, a); }\n";
    let between = "void deep(int);\nvoid middle(int a) { deep(a); }\n";
    let program = "void middle(int);\nint main(void) { middle(1); return 0; }\n";
    std::fs::create_dir(path("lib")).expect("a writable folder");
    for (name, text) in [("deep.c", library), ("middle.c", between), ("program.c", program)] {
        std::fs::write(path(name), text).expect("a writable folder");
    }
    let gcc = |arguments: &str| Command::new("gcc").args(arguments.split(' ')).current_dir(&folder).succeed();
    gcc("-shared -fPIC deep.c -o lib/libdeep.so");
    gcc("-shared -fPIC middle.c -o lib/libmiddle.so -Llib -ldeep -Wl,-rpath,$ORIGIN");
    gcc("program.c -o program -Llib -lmiddle -Wl,-rpath,$ORIGIN/lib -Wl,-rpath-link,lib");

    let (status, json, said) = list(&[&path("program")]);
    assert_eq!((status, &*said), (0, ""));
    let files = json["files"].as_array().expect("a list");
    let found =
        files.iter().find(|file| file["path"].as_str().is_some_and(|path| path.ends_with("lib/libdeep.so")));
    assert_eq!(found.expect("it is found")["probes"][0]["name"], "reached");
    let ldd = Command::new("ldd").arg(path("program")).succeed();
    // Without the one that the kernel provides.
    let loaded = ldd.lines().filter(|line| !line.contains("linux-vdso")).count();
    assert_eq!(json["searched"], loaded + 1, "{ldd}");

    std::fs::remove_file(path("lib/libdeep.so")).expect("it is there");
    let (status, _, said) = list(&[&path("program")]);
    assert_eq!(status, 3, "a result with a gap");
    assert!(said.contains("library libdeep.so, which") && said.lines().count() == 1, "{said}");
    assert_eq!(list(&[&path("program"), "--no-libraries"]).0, 0);
}
