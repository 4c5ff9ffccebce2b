//! A C compiler takes what is generated for every catalog that the catalog's own tests accept.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use lttng_catalog::Catalog;
use lttng_provider_build::{Options, generate};

#[test]
fn the_c_of_every_accepted_catalog_compiles_without_a_warning() {
    if !headers_are_here() {
        println!("no C compiler or no lttng-ust headers here: nothing to compile with");
        return;
    }
    let catalogs = accepted_catalogs();
    assert!(catalogs.len() >= 10, "only {} catalogs are left", catalogs.len());
    for path in catalogs {
        let catalog = Catalog::read(&path).unwrap_or_else(|errors| panic!("{errors}"));
        let mut options = Options::default();
        options.back_ends.lttng = true;
        let files = generate(&[catalog], &options).expect("one catalog has no clash");
        let folder =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(path.file_stem().expect("a file has a name"));
        fs::create_dir_all(&folder).expect("the folder for tests is writable");
        for file in &files {
            fs::write(folder.join(&file.name), &file.text).expect("the folder for tests is writable");
        }
        for file in files.iter().filter(|file| file.is_c_source()) {
            let output = compiler().arg("-I").arg(&folder).arg(folder.join(&file.name)).output();
            let output = output.expect("the compiler was here a moment ago");
            let complaints = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{}:\n{complaints}", path.display());
        }
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

fn accepted_catalogs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../catalog/tests/accepted");
    let entries = fs::read_dir(folder).expect("the catalog's tests are beside this crate");
    let paths = entries.map(|entry| entry.expect("a readable folder").path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "toml")).collect()
}
