//! The program in the README of `lttng-provider` is what it says: written into a crate as it stands, it is recorded.

use std::fs;

use crate::support::{NO_ARGUMENTS, target};
use lttng_testing::{BUILD_DEADLINE, CommandInTime as _, Daemon, cargo, workspace};

#[test]
#[ignore = "make check: builds a crate"]
fn program_of_the_readme_is_recorded() {
    let readme = fs::read_to_string(workspace().join("lttng-provider/README.md")).unwrap();
    let blocks: Vec<&str> = readme.split("```").skip(1).step_by(2).collect();
    let block = |begin: &str| {
        let found = blocks
            .iter()
            .find_map(|block| block.split_once('\n').filter(|(_, text)| text.starts_with(begin)));
        found.unwrap_or_else(|| panic!("no block begins with {begin}")).1
    };

    let folder = tempfile::tempdir().unwrap();
    let write = |file: &str, text: &str| fs::write(folder.path().join(file), text).unwrap();
    // The versions of the registry are those of this workspace.
    let path = |name: &str| format!("{name} = {{ path = \"{}\" }}", workspace().join(name).display());
    let manifest = block("[features]").replace("lttng-provider = \"0.1\"", &path("lttng-provider"));
    let manifest = manifest.replace("lttng-provider-build = \"0.1\"", &path("lttng-provider-build"));
    let package = "[package]\nname = \"readme-of-provider\"\nedition = \"2024\"\n\n[workspace]\n";
    write("Cargo.toml", &format!("{package}\n{manifest}"));
    write("catalog.toml", block("[catalog]"));
    write("build.rs", block("fn main() {\n    lttng_provider_build"));
    fs::create_dir(folder.path().join("src")).unwrap();
    write("src/main.rs", block("use lttng_provider"));
    fs::copy(workspace().join("Cargo.lock"), folder.path().join("Cargo.lock")).unwrap();

    let mut build = cargo();
    build.args(["build", "--offline", "--features=lttng"]).current_dir(folder.path());
    build.succeed_within(BUILD_DEADLINE);
    let program = target().join("debug/readme-of-provider");
    let events = Daemon::start().record(&["shop:*"], &program, NO_ARGUMENTS).events();
    let names: Vec<_> = events.iter().map(|event| event.name.as_str()).collect();
    assert_eq!(names, ["shop:sold", "shop:checkout"]);
    assert_eq!(events[0].field("item"), "\"apples\"");
}
