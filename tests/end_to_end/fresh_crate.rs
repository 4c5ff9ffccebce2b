//! A crate that is not of this workspace, as a user would begin one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use lttng_testing::{BUILD_DEADLINE, CommandInTime as _, Daemon, Event, cargo, workspace};

const BUILD: &str = r#"fn main() {
    lttng_provider_build::compile("catalog.toml");
}
"#;

const MAIN: &str = r#"lttng_provider::include_events!();

fn main() {
    shop::sold::emit("apples", 3);
    shop::checkout::timed(|| ());
}
"#;

#[test]
#[ignore = "make check: builds a crate"]
fn three_lines_make_a_traced_program() {
    let fresh = Crate::new("fresh");
    let events = record(&fresh.build(&["--features=lttng"], &[]).unwrap());
    let [sold, checkout] = &events[..] else { panic!("{events:?}") };
    assert_eq!(sold.name, "shop:sold");
    assert_eq!(sold.field("item"), r#""apples""#);
    assert_eq!(checkout.name, "shop:checkout");
}

#[test]
#[ignore = "make check: builds a crate"]
fn switching_needs_no_clean_build() {
    let fresh = Crate::new("switching");
    let on = || record(&fresh.build(&[], &[("USE_LTTNG", "yes")]).unwrap()).len();
    let off = || record(&fresh.build(&[], &[]).unwrap()).len();
    let by_feature = || record(&fresh.build(&["--features=lttng"], &[]).unwrap()).len();
    assert_eq!([on(), off(), on(), off(), by_feature(), off()], [2, 0, 2, 0, 2, 0]);
}

#[test]
#[ignore = "make check: builds a crate"]
fn change_of_the_catalog_is_seen() {
    let fresh = Crate::new("changing");
    fresh.build(&["--features=lttng"], &[]).unwrap();
    fresh.write("catalog.toml", &catalog().replace("event.sold]", "event.bought]"));
    fresh.write("src/main.rs", &MAIN.replace("sold", "bought"));
    let events = record(&fresh.build(&["--features=lttng"], &[]).unwrap());
    assert_eq!(events[0].name, "shop:bought");
}

#[test]
#[ignore = "make check: builds a crate"]
fn builder_takes_several_catalogs_and_a_prefix() {
    let fresh = Crate::new("several");
    fresh.write("second.toml", &catalog().replace("provider.shop", "provider.depot"));
    let builder =
        r#"Builder::new().catalog("catalog.toml").catalog("second.toml").prefix("acme_").compile()"#;
    fresh.write("build.rs", &BUILD.replace(r#"compile("catalog.toml")"#, builder));
    fresh.write(
        "src/main.rs",
        &MAIN.replace("shop::checkout::timed(|| ())", r#"depot::sold::emit("pears", 1)"#),
    );
    let events = record(&fresh.build(&["--features=lttng"], &[]).unwrap());
    let names: Vec<_> = events.iter().map(|event| event.name.as_str()).collect();
    assert_eq!(names, ["acme_shop:sold", "acme_depot:sold"]);
}

/// Lints of the application, as strict as they can be.
const STRICT: &str = r#"#![forbid(unsafe_code)]
#![deny(warnings, clippy::all, clippy::pedantic, clippy::nursery)]
//! A service.

mod events {
    lttng_provider::include_events!();
}

use events::shop;

/// What a customer buys.
#[derive(lttng_provider::Event)]
#[event(shop::sold)]
struct Sold<'a> {
    item: &'a str,
    count: u32,
}

#[lttng_provider::traced(shop::checkout)]
fn pay() {
    Sold { item: "apples", count: 3 }.emit();
}

fn main() {
    pay();
    lttng_provider::emit!(shop::sold("pears", 1));
}
"#;

#[test]
#[ignore = "make check: builds a crate"]
fn strict_lints_of_an_application_hold_with_tracing_off_and_on() {
    let fresh = Crate::new("strict");
    fresh.write("src/main.rs", STRICT);
    fresh.build(&[], &[]).unwrap();
    let events = record(&fresh.build(&["--features=lttng"], &[]).unwrap());
    assert_eq!(events.len(), 3);
    for features in [&[][..], &["--features=lttng"]] {
        let mut clippy = cargo();
        clippy.args(["clippy", "--quiet", "--offline"]).args(features).current_dir(&fresh.folder);
        let output = clippy.output_within(BUILD_DEADLINE).unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
#[ignore = "make check: builds a crate"]
fn provider_with_the_name_of_a_module_is_told_what_to_do() {
    let fresh = Crate::new("same-name");
    fresh.write("src/main.rs", &format!("mod shop {{}}\n{MAIN}"));
    let errors = fresh.build(&[], &[]).unwrap_err();
    assert!(errors.contains("the name `shop` is defined multiple times"), "{errors}");
    let remedy = "if the name is taken: mod events { lttng_provider::include_events!(); }";
    assert!(errors.contains(remedy), "{errors}");
}

#[test]
#[ignore = "make check: builds crates"]
fn provider_that_two_crates_compile_is_told_what_to_do() {
    let other = Crate::new("other-shop");
    other.write("src/lib.rs", "lttng_provider::include_events!();");
    fs::remove_file(other.folder.join("src/main.rs")).unwrap();
    let fresh = Crate::new("two-shops");
    let manifest = fs::read_to_string(fresh.folder.join("Cargo.toml")).unwrap();
    let dependency = format!("[dependencies]\nother-shop = {{ path = {:?} }}\n", other.folder);
    fresh.write("Cargo.toml", &manifest.replace("[dependencies]\n", &dependency));
    let both = MAIN.replace("fn main() {", "fn main() {\n    other_shop::shop::sold::emit(\"pears\", 1);");
    fresh.write("src/main.rs", &both);
    let errors = fresh.build(&["--features=lttng"], &[]).unwrap_err();
    let remedy = "two_crates_compile_the_provider_shop__compile_its_catalog_in_one";
    assert!(errors.contains(remedy), "{errors}");
}

#[test]
#[ignore = "make check: builds a crate"]
fn c_flags_of_the_environment_are_taken() {
    let fresh = Crate::new("c-flags");
    for flags in ["-flto", "-std=c99", "-std=c11 -pedantic -Werror"] {
        fresh
            .build(&["--features=lttng"], &[("CFLAGS", flags)])
            .unwrap_or_else(|errors| panic!("{flags}: {errors}"));
    }
    let events = record(&fresh.build(&["--features=lttng"], &[("CFLAGS", "-flto -O2")]).unwrap());
    assert_eq!(events.len(), 2);
}

#[test]
#[ignore = "make check: builds a crate"]
fn compiling_twice_is_refused() {
    let fresh = Crate::new("twice");
    fresh.write("second.toml", &catalog().replace("provider.shop", "provider.depot"));
    let twice = r#"compile("catalog.toml"); lttng_provider_build::compile("second.toml")"#;
    fresh.write("build.rs", &BUILD.replace(r#"compile("catalog.toml")"#, twice));
    let errors = fresh.build(&[], &[]).unwrap_err();
    assert!(
        errors.contains("this build script has already compiled catalogs: name all of them at once"),
        "{errors}"
    );
}

#[test]
#[ignore = "make check: builds a crate"]
fn generated_code_of_another_version_is_refused() {
    let fresh = Crate::new("kept");
    fresh.write("build.rs", &BUILD.replace(r#"compile("catalog.toml")"#, KEEP));
    fresh.build(&[], &[]).unwrap();
    let kept = fs::read_to_string(fresh.folder.join("kept/events.rs")).unwrap();
    fresh.write("src/events.rs", &kept.replace("GENERATED == ", "GENERATED == 1 + "));
    fresh.write(
        "src/main.rs",
        &MAIN.replace("lttng_provider::include_events!();", "include!(\"events.rs\");"),
    );
    let errors = fresh.build(&[], &[]).unwrap_err();
    assert!(
        errors.contains("generated for another version of lttng-provider: generate them again"),
        "{errors}"
    );
}

/// A build script that writes the generated code where it can be kept, and once more where it is looked for.
const KEEP: &str = r#"Builder::new().catalog("catalog.toml").output("kept").compile();
    let events = std::path::Path::new(&std::env::var_os("OUT_DIR").unwrap()).join("events.rs");
    std::fs::copy("kept/events.rs", events).unwrap()"#;

#[test]
#[ignore = "make check: builds a crate"]
fn file_that_cannot_be_written_is_named_with_the_reason() {
    let fresh = Crate::new("unwritable");
    let builder = r#"Builder::new().catalog("catalog.toml").output("catalog.toml/folder").compile()"#;
    fresh.write("build.rs", &BUILD.replace(r#"compile("catalog.toml")"#, builder));
    let errors = fresh.build(&[], &[]).unwrap_err();
    assert!(errors.contains("cannot write catalog.toml/folder: Not a directory"), "{errors}");
}

#[test]
#[ignore = "make check: builds a crate"]
fn prefix_that_makes_no_identifier_is_refused() {
    let fresh = Crate::new("prefixes");
    for (prefix, reason) in [("9", "does not begin with a digit"), ("a-", "only letters, digits and `_`")] {
        let builder = format!(r#"Builder::new().catalog("catalog.toml").prefix("{prefix}").compile()"#);
        fresh.write("build.rs", &BUILD.replace(r#"compile("catalog.toml")"#, &builder));
        let errors = fresh.build(&[], &[]).unwrap_err();
        let line = format!("error: prefixes@0.0.0: invalid prefix `{prefix}`: it has a ");
        assert!(errors.contains(&line) && errors.contains(reason), "{errors}");
    }
}

#[test]
#[ignore = "make check: builds a crate"]
fn headers_of_another_provider_abi_are_refused() {
    let fresh = Crate::new("newer-headers");
    let packages = newer_headers(&fresh);
    let errors = fresh.build(&["--features=lttng"], &[("PKG_CONFIG_PATH", &packages)]).unwrap_err();
    assert!(errors.contains("expected that of 2.13 to 2.15: update lttng-provider"), "{errors}");
}

#[test]
#[ignore = "make check: builds a crate"]
fn provider_that_lttng_rejects_says_so_and_the_program_runs_on() {
    let fresh = Crate::new("rejected");
    let packages = newer_headers(&fresh);
    let flags = [("PKG_CONFIG_PATH", packages.as_str()), ("CFLAGS", "-DLTTNG_PROVIDER_ABI=4")];
    let program = fresh.build(&["--features=lttng"], &flags).unwrap();
    let output = Daemon::start().command(program).output_in_time().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{} {said}", output.status);
    let expected = "lttng-provider: nothing of `shop` is recorded: the installed liblttng-ust.so.1 rejects";
    assert!(said.starts_with(expected), "{said}");
}

/// A folder for pkg-config with headers as those that are installed, but of the provider ABI 4.
fn newer_headers(fresh: &Crate) -> String {
    let output = Command::new("cc")
        .args(["-E", "-include", "lttng/ust-events.h", "-xc", "/dev/null"])
        .output_in_time();
    let lines = String::from_utf8(output.unwrap().stdout).unwrap();
    let installed =
        lines.lines().find_map(|line| line.split('"').nth(1).filter(|path| path.ends_with("ust-events.h")));
    let installed = Path::new(installed.unwrap()).parent().unwrap();
    fs::create_dir_all(fresh.folder.join("newer/lttng")).unwrap();
    let newer = fresh.folder.join("newer");
    let copied = Command::new("cp").arg("-r").arg(installed).arg(&newer).status_in_time().unwrap();
    assert!(copied.success());
    let events = fs::read_to_string(newer.join("lttng/ust-events.h")).unwrap();
    let abi = "#define LTTNG_UST_PROVIDER_MAJOR\t";
    fresh.write("newer/lttng/ust-events.h", &events.replace(abi, &format!("{abi}4 //")));
    let package = format!("Name: lttng-ust\nDescription: -\nVersion: 2.99\nCflags: -I{}\n", newer.display());
    fresh.write("newer/lttng-ust.pc", &package);
    newer.display().to_string()
}

#[test]
#[ignore = "make check: builds a crate"]
fn errors_of_a_catalog_are_errors_of_the_build() {
    let fresh = Crate::new("broken");
    fresh.write("catalog.toml", &catalog().replace(r#"type = "u32""#, r#"type = "u23""#));
    let errors = fresh.build(&[], &[]).unwrap_err();
    for event in ["sold → count", "delivered → parcels"] {
        let line = errors.lines().find(|line| line.contains(event));
        let line = line.unwrap_or_else(|| panic!("nothing about {event}:\n{errors}"));
        assert!(line.starts_with("error: ") && line.contains("catalog.toml:"), "{line}");
    }
}

#[test]
#[ignore = "make check: builds a crate"]
fn crate_without_the_runtime_is_told_so() {
    let fresh = Crate::new("no-runtime");
    let manifest = fs::read_to_string(fresh.folder.join("Cargo.toml")).unwrap();
    let runtime = manifest.lines().find(|line| line.starts_with("lttng-provider =")).unwrap();
    fresh.write("Cargo.toml", &manifest.replace(runtime, "").replace("\"lttng-provider/lttng\"", ""));
    let errors = fresh.build(&[], &[]).unwrap_err();
    let expected = "`lttng-provider` is missing: add it to the [dependencies] of the crate";
    assert!(errors.contains(expected), "{errors}");
}

struct Crate {
    name: String,
    folder: PathBuf,
}

impl Crate {
    fn new(name: &str) -> Crate {
        let folder = target().join("crates").join(name);
        let _ = fs::remove_dir_all(&folder);
        let fresh = Crate { name: name.to_owned(), folder };
        let path = |name: &str| workspace().join(name).display().to_string();
        fresh.write(
            "Cargo.toml",
            &format!(
                r#"[package]
name = "{name}"
version = "0.0.0"
edition = "2024"

[workspace]

[features]
lttng = ["lttng-provider/lttng"]

[dependencies]
lttng-provider = {{ path = "{}" }}

[build-dependencies]
lttng-provider-build = {{ path = "{}" }}
"#,
                path("lttng-provider"),
                path("lttng-provider-build")
            ),
        );
        fresh.write("build.rs", BUILD);
        fresh.write("src/main.rs", MAIN);
        fresh.write("catalog.toml", &catalog());
        // The versions that the workspace has, so that none is looked for on the network.
        fs::copy(workspace().join("Cargo.lock"), fresh.folder.join("Cargo.lock")).unwrap();
        fresh
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.folder.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// The program, or what cargo says.
    fn build(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Result<PathBuf, String> {
        let mut cargo = cargo();
        cargo.args(["build", "--offline"]).args(arguments).envs(variables.iter().copied());
        let output = cargo.current_dir(&self.folder).output_within(BUILD_DEADLINE).unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() { Ok(target().join("debug").join(&self.name)) } else { Err(errors) }
    }
}

/// Where `cargo()` builds.
fn target() -> PathBuf {
    workspace().join("target/e2e")
}

fn catalog() -> String {
    fs::read_to_string(workspace().join("lttng-provider/doc/shop.toml")).unwrap()
}

/// All events, but for those of LTTng-UST itself.
fn record(program: &Path) -> Vec<Event> {
    let events = Daemon::start().record(&["*"], program, [""; 0]).events();
    events.into_iter().filter(|event| !event.name.starts_with("lttng_ust_")).collect()
}
