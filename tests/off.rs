//! Off means off, and a build that cannot be on says what to do.

use std::fs;
use std::process::Command;

use lttng_testing::{Program, cargo, workspace};

#[test]
fn program_with_tracing_off_has_no_lttng_symbol_and_no_lttng_library() {
    let program = Program::example("valkey-trace", "emit-all").release().build();
    assert_eq!(lines_with_lttng(Command::new("nm").arg(&program)), [""; 0]);
    assert_eq!(lines_with_lttng(Command::new("ldd").arg(&program)), [""; 0]);
    let output = Command::new(program).output().unwrap();
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("tracing is off"));
}

#[test]
fn program_with_tracing_on_has_lttng_symbols() {
    let program = Program::example("valkey-trace", "emit-all").release().traced().build();
    assert!(!lines_with_lttng(Command::new("nm").arg(&program)).is_empty());
}

#[test]
fn program_with_tracing_off_evaluates_no_argument() {
    let scenario = Program::binary("lttng-fixtures", "scenario").build();
    let output = Command::new(scenario).arg("side-effect").output().unwrap();
    assert_eq!(output.stdout, b"0\n");
}

#[test]
fn program_with_tracing_off_measures_and_forks() {
    let scenario = Program::binary("lttng-fixtures", "scenario").build();
    assert!(Command::new(&scenario).arg("durations").status().unwrap().success());
    assert!(Command::new(&scenario).arg("fork").output().unwrap().status.success());
}

#[test]
fn build_without_the_headers_names_the_packages() {
    // pkg-config looks nowhere.
    let program =
        Program::example("valkey-trace", "emit-all").traced().variable("PKG_CONFIG_LIBDIR", "/nowhere");
    let errors = program.try_build().unwrap_err();
    let expected = "tracing is on (feature `lttng` or USE_LTTNG=yes), but pkg-config finds no lttng-ust 2.13 or newer: \
                    install liblttng-ust-dev and pkg-config (Debian, Ubuntu), lttng-ust-devel and pkgconf (Fedora), \
                    or lttng-ust and pkgconf (Arch)";
    assert!(errors.contains(expected), "{errors}");
}

#[test]
fn build_with_tracing_off_needs_no_headers() {
    Program::example("valkey-trace", "emit-all").variable("PKG_CONFIG_LIBDIR", "/nowhere").build();
}

#[test]
fn unclear_use_lttng_is_refused() {
    let program = Program::example("valkey-trace", "emit-all").variable("USE_LTTNG", "maybe");
    let errors = program.try_build().unwrap_err();
    assert!(
        errors.contains("USE_LTTNG is `maybe`: set it to `yes` to turn tracing on, or to `no`"),
        "{errors}"
    );
}

#[test]
fn errors_of_a_catalog_are_errors_of_the_build() {
    let catalog = "[catalog]\nname = \"c\"\nversion = 1\ndoc = \"d\"\n\n[provider.p]\ndoc = \"d\"\n\n\
                   [provider.p.event.e]\ndoc = \"d\"\nfields = [{ name = \"f\", type = \"u46\", doc = \"d\" }]\n";
    let errors = build_crate("broken-catalog", "lttng-provider.workspace = true", catalog).unwrap_err();
    assert!(errors.contains("error: "), "{errors}");
    assert!(errors.contains("catalog.toml:11:"), "{errors}");
    assert!(errors.contains("p → e → f"), "{errors}");
}

#[test]
fn crate_without_the_runtime_is_told_so() {
    let errors = build_crate("no-runtime", "", "").unwrap_err();
    let expected = "a crate with a catalog needs `lttng-provider` among its [dependencies]";
    assert!(errors.contains(expected), "{errors}");
}

fn lines_with_lttng(command: &mut Command) -> Vec<String> {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().filter(|line| line.contains("lttng")).map(str::to_owned).collect()
}

/// Builds a crate as a user would write it, outside of this workspace.
fn build_crate(name: &str, dependencies: &str, catalog: &str) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    let write = |file: &str, text: &str| {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let path = |name: &str| workspace().join(name).display().to_string();
    write(
        "Cargo.toml",
        &format!(
            "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
             [workspace.dependencies]\nlttng-provider = {{ path = \"{}\" }}\n\n\
             [dependencies]\n{dependencies}\n\n\
             [build-dependencies]\nlttng-provider-build = {{ path = \"{}\" }}\n",
            path("lttng-provider"),
            path("lttng-provider-build")
        ),
    );
    write("build.rs", "fn main() {\n    lttng_provider_build::compile(\"catalog.toml\");\n}\n");
    write("src/main.rs", "lttng_provider::include_events!();\n\nfn main() {}\n");
    write("catalog.toml", catalog);
    // The versions that the workspace has, so that none is looked for on the network.
    fs::copy(workspace().join("Cargo.lock"), folder.path().join("Cargo.lock")).unwrap();
    let output = cargo().args(["build", "--offline"]).current_dir(folder.path()).output().unwrap();
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}
