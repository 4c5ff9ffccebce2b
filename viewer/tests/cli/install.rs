//! `ltt-top` installs on a bare machine, and starts anywhere.

use std::path::Path;
use std::process::Command;

use lttng_testing::cargo;

use super::run::small_trace;

#[test]
fn nothing_that_it_is_made_of_needs_a_system_package() {
    let mut tree = cargo();
    tree.args(["tree", "--package", "ltt-top", "--edges", "normal,build", "--prefix", "none"]);
    let tree = tree.output().expect("cargo runs");
    let tree = String::from_utf8(tree.stdout).expect("it writes UTF-8");
    let crates: Vec<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(crates.contains(&"ctf-reader") && crates.contains(&"clap"), "{crates:?}");
    // All that compiles C or links a library of the system has one of these, or is called so.
    let needs_more = |name: &&&str| {
        ["bindgen", "cc", "cmake", "pkg-config"].contains(*name)
            || (name.ends_with("-sys") && **name != "linux-raw-sys")
    };
    assert_eq!(crates.iter().find(needs_more), None);
}

#[test]
#[ignore = "make check: builds a static program"]
fn a_static_binary_starts_without_any_library() {
    let version = Command::new("rustc").arg("-vV").output().expect("rustc runs");
    let version = String::from_utf8(version.stdout).expect("it writes UTF-8");
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).expect("it names its host");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("static");
    let mut build = cargo();
    // With a target named, the flag is not for build scripts and macros.
    build.args(["build", "--quiet", "--package", "ltt-top", "--target", host, "--target-dir"]).arg(&target);
    let built = build.env("RUSTFLAGS", "-Ctarget-feature=+crt-static").status().expect("cargo runs");
    assert!(built.success());
    let binary = target.join(host).join("debug/ltt-top");
    let libraries = Command::new("ldd").arg(&binary).output().expect("ldd runs");
    let libraries = [libraries.stdout, libraries.stderr].concat();
    let libraries = String::from_utf8_lossy(&libraries);
    assert!(libraries.contains("statically linked") || libraries.contains("not a dynamic"), "{libraries}");
    let ran = Command::new(&binary).env_clear().arg("info").arg(small_trace()).output().expect("it starts");
    assert!(ran.status.success(), "{ran:?}");
    assert!(String::from_utf8_lossy(&ran.stdout).starts_with("1,040 events"), "{ran:?}");
}
