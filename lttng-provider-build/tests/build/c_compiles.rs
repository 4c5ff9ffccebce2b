//! A C compiler takes what is generated for every catalog that the catalog's own tests accept.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::slice::from_ref;

use lttng_catalog::Catalog;
use lttng_provider_build::{COptions, GeneratedFile, Options, c_sources, generate};
use lttng_testing::{Case, cases};

#[test]
fn the_c_of_every_accepted_catalog_compiles_without_a_warning() {
    if !headers_are_here() {
        lttng_testing::missing_tool("lttng/tracepoint.h");
        return;
    }
    let catalogs = accepted_catalogs();
    assert!(catalogs.len() >= 10, "only {} catalogs are left", catalogs.len());
    for (name, catalog) in catalogs {
        let mut options = Options::default();
        options.back_ends.lttng = true;
        let files = generate(&[catalog], &options).expect("one catalog has no clash");
        let folder = folder("rust", &name);
        write(&folder, &files);
        for file in files.iter().filter(|file| file.is_c_source()) {
            let output = compiler().arg("-I").arg(&folder).arg(folder.join(&file.name)).output();
            let output = output.expect("the compiler was here a moment ago");
            let complaints = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{name}:\n{complaints}");
        }
    }
}

/// With names that C++ keeps for itself, too, and nothing, either or both to record with.
#[test]
#[ignore = "make check: a C++ compiler"]
fn what_applications_include_is_c99_and_cpp17_for_every_accepted_catalog() {
    if !headers_are_here() {
        lttng_testing::missing_tool("lttng/tracepoint.h");
        return;
    }
    for (case, catalog) in accepted_catalogs() {
        let name = format!("{}-trace.h", catalog.name);
        for fast in [true, false] {
            let mut options = COptions::default();
            (options.fast, options.stopwatches, options.dtrace_macros) = (fast, true, true);
            let files = c_sources(from_ref(&catalog), &options).expect("one catalog has no clash");
            let folder = folder(if fast { "fast" } else { "plain" }, &case);
            write(&folder, &files);
            let main = format!("#include \"{name}\"\nint main(void) {{ return 0; }}\n");
            fs::write(folder.join("main.cpp"), main).expect("the folder for tests is writable");
            let all = [&[][..], &["-DUSE_LTTNG"], &["-DUSE_USDT"], &["-DUSE_LTTNG", "-DUSE_USDT"]];
            for back_ends in all {
                for file in files.iter().filter(|file| file.is_c_source()) {
                    compile("c99", "c", back_ends, &folder, &file.name);
                }
                compile("c++17", "c++", back_ends, &folder, "main.cpp");
                compile("c99", "c", back_ends, &folder, "main.cpp");
            }
        }
    }
}

fn compile(standard: &str, language: &str, back_ends: &[&str], folder: &Path, file: &str) {
    let mut command = Command::new("cc");
    command.args(["-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wno-unused-function"]);
    command.args(back_ends).arg(format!("-std={standard}")).args(["-x", language]);
    let output = command.arg("-I").arg(folder).arg(folder.join(file)).output();
    let output = output.expect("the compiler was here a moment ago");
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
}

fn folder(kind: &str, case: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(kind).join(case)
}

fn write(folder: &Path, files: &[GeneratedFile]) {
    fs::create_dir_all(folder).expect("the folder for tests is writable");
    for file in files {
        fs::write(folder.join(&file.name), &file.text).expect("the folder for tests is writable");
    }
}

fn compiler() -> Command {
    let mut compiler = Command::new("cc");
    compiler.args(["-fsyntax-only", "-Wall", "-Werror"]);
    compiler
}

fn headers_are_here() -> bool {
    let check = compiler().args(["-include", "lttng/tracepoint.h", "-x", "c", "/dev/null"]).output();
    check.is_ok_and(|output| output.status.success())
}

/// Each with the name of its case.
fn accepted_catalogs() -> Vec<(String, Catalog)> {
    let accepted = Path::new(env!("CARGO_MANIFEST_DIR")).join("../catalog/tests/cases/accepted.txt");
    let parse = |case: Case| {
        let catalog = Catalog::parse(&case.name, &case.input).unwrap_or_else(|errors| panic!("{errors}"));
        (case.name, catalog)
    };
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/sample.toml");
    let sample = Catalog::read(sample).unwrap_or_else(|errors| panic!("{errors}"));
    cases(accepted).into_iter().map(parse).chain([("sample".to_owned(), sample)]).collect()
}
