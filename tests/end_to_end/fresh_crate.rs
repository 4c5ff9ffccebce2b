//! A crate that is not of this workspace, as a user would begin one.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{BUILD, Crate, NO_ARGUMENTS};
use lttng_testing::{BUILD_DEADLINE, CommandInTime as _, Daemon, Event, cargo, workspace};

const MAIN: &str = r#"lttng_provider::include_events!();

fn main() {
    shop::sold::emit("apples", 3);
    shop::checkout::timed(|| ());
}
"#;

const LTTNG: &[&str] = &["--features=lttng"];
const COMPILE: &str = r#"compile("catalog.toml")"#;

#[test]
#[ignore = "make check: builds a crate"]
fn three_lines_make_a_traced_program() {
    let fresh = fresh("fresh");
    let events = record(&fresh.build(LTTNG, &[]).unwrap());
    let [sold, checkout] = &events[..] else { panic!("{events:?}") };
    assert_eq!(sold.name, "shop:sold");
    assert_eq!(sold.field("item"), r#""apples""#);
    assert_eq!(checkout.name, "shop:checkout");
}

#[test]
#[ignore = "make check: builds a crate"]
fn switching_needs_no_clean_build() {
    let fresh = fresh("switching");
    let on = || record(&fresh.build(&[], &[("USE_LTTNG", "yes")]).unwrap()).len();
    let off = || record(&fresh.build(&[], &[]).unwrap()).len();
    let by_feature = || record(&fresh.build(LTTNG, &[]).unwrap()).len();
    assert_eq!([on(), off(), on(), off(), by_feature(), off()], [2, 0, 2, 0, 2, 0]);
}

#[test]
#[ignore = "make check: builds a crate"]
fn change_of_the_catalog_is_seen() {
    let fresh = fresh("changing");
    fresh.build(LTTNG, &[]).unwrap();
    fresh.replace("catalog.toml", "event.sold]", "event.bought]");
    fresh.replace("src/main.rs", "sold", "bought");
    assert_eq!(record(&fresh.build(LTTNG, &[]).unwrap())[0].name, "shop:bought");
}

#[test]
#[ignore = "make check: builds a crate"]
fn builder_takes_several_catalogs_and_a_prefix() {
    let fresh = fresh("several");
    let builder =
        r#"Builder::new().catalog("catalog.toml").catalog("second.toml").prefix("acme_").compile()"#;
    fresh.replace("build.rs", COMPILE, builder);
    fresh.replace("src/main.rs", "shop::checkout::timed(|| ())", r#"depot::sold::emit("pears", 1)"#);
    let events = record(&fresh.build(LTTNG, &[]).unwrap());
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
    let fresh = fresh("strict");
    fresh.write("src/main.rs", STRICT);
    fresh.build(&[], &[]).unwrap();
    let events = record(&fresh.build(LTTNG, &[]).unwrap());
    assert_eq!(events.len(), 3);
    for features in [&[][..], LTTNG] {
        let mut clippy = cargo();
        clippy.args(["clippy", "--quiet", "--offline"]).args(features).current_dir(&fresh.folder);
        clippy.succeed_within(BUILD_DEADLINE);
    }
}

/// What a user gets wrong: a replacement in a file of the crate, and words that must be in one line of cargo's errors.
const MISTAKES: &[(&str, &str, &str, &[&[&str]])] = &[
    (
        "src/main.rs",
        "lttng_provider::include_events!();\n",
        "lttng_provider::include_events!();\nmod shop {}\n",
        &[
            &["the name `shop` is defined multiple times"],
            &["if the name is taken: mod events { lttng_provider::include_events!(); }"],
        ],
    ),
    (
        "build.rs",
        COMPILE,
        r#"compile("catalog.toml"); lttng_provider_build::compile("second.toml")"#,
        &[&["this build script has already compiled catalogs: name all of them at once"]],
    ),
    (
        "build.rs",
        COMPILE,
        r#"Builder::new().catalog("catalog.toml").output("catalog.toml/folder").compile()"#,
        &[&["cannot write catalog.toml/folder: Not a directory"]],
    ),
    (
        "build.rs",
        COMPILE,
        r#"Builder::new().catalog("catalog.toml").prefix("9").compile()"#,
        &[&["error: mistake@0.0.0: invalid prefix `9`: it has a ", "does not begin with a digit"]],
    ),
    (
        "build.rs",
        COMPILE,
        r#"Builder::new().catalog("catalog.toml").prefix("a-").compile()"#,
        &[&["error: mistake@0.0.0: invalid prefix `a-`: it has a ", "only letters, digits and `_`"]],
    ),
    (
        "catalog.toml",
        r#"type = "u32""#,
        r#"type = "u23""#,
        &[
            &["error: ", "catalog.toml:", "sold → count"],
            &["error: ", "catalog.toml:", "delivered → parcels"],
        ],
    ),
];

#[test]
#[ignore = "make check: builds a crate"]
fn mistakes_are_answered_by_what_to_do() {
    for (file, from, to, expected) in MISTAKES {
        let fresh = fresh("mistake");
        fresh.replace(file, from, to);
        let errors = fresh.build(&[], &[]).unwrap_err();
        for words in *expected {
            let has_all = |line: &str| words.iter().all(|word| line.contains(word));
            assert!(errors.lines().any(has_all), "{words:?}: {errors}");
        }
    }
}

#[test]
#[ignore = "make check: builds a crate"]
fn crate_without_the_runtime_is_told_so() {
    let fresh = fresh("no-runtime");
    let manifest = fs::read_to_string(fresh.folder.join("Cargo.toml")).unwrap();
    let runtime = manifest.lines().find(|line| line.starts_with("lttng-provider =")).unwrap();
    fresh.replace("Cargo.toml", runtime, "");
    fresh.replace("Cargo.toml", "\"lttng-provider/lttng\"", "");
    let errors = fresh.build(&[], &[]).unwrap_err();
    let expected = "`lttng-provider` is missing: add it to the [dependencies] of the crate";
    assert!(errors.contains(expected), "{errors}");
}

#[test]
#[ignore = "make check: builds crates"]
fn provider_that_two_crates_compile_is_told_what_to_do() {
    let other = fresh("other-shop");
    other.write("src/lib.rs", "lttng_provider::include_events!();");
    fs::remove_file(other.folder.join("src/main.rs")).unwrap();
    let fresh = fresh("two-shops");
    let dependency = format!("[dependencies]\nother-shop = {{ path = {:?} }}\n", other.folder);
    fresh.replace("Cargo.toml", "[dependencies]\n", &dependency);
    fresh.replace(
        "src/main.rs",
        "fn main() {",
        "fn main() {\n    other_shop::shop::sold::emit(\"pears\", 1);",
    );
    let errors = fresh.build(LTTNG, &[]).unwrap_err();
    let remedy = "two_crates_compile_the_provider_shop__compile_its_catalog_in_one";
    assert!(errors.contains(remedy), "{errors}");
}

#[test]
#[ignore = "make check: builds a crate"]
fn c_flags_of_the_environment_are_taken() {
    let fresh = fresh("c-flags");
    for flags in ["-flto", "-std=c99", "-std=c11 -pedantic -Werror"] {
        fresh.build(LTTNG, &[("CFLAGS", flags)]).unwrap_or_else(|errors| panic!("{flags}: {errors}"));
    }
    let events = record(&fresh.build(LTTNG, &[("CFLAGS", "-flto -O2")]).unwrap());
    assert_eq!(events.len(), 2);
}

#[test]
#[ignore = "make check: builds a crate"]
fn generated_code_of_another_version_is_refused() {
    let fresh = fresh("kept");
    fresh.replace("build.rs", COMPILE, KEEP);
    fresh.build(&[], &[]).unwrap();
    fs::copy(fresh.folder.join("kept/events.rs"), fresh.folder.join("src/events.rs")).unwrap();
    fresh.replace("src/events.rs", "GENERATED == ", "GENERATED == 1 + ");
    fresh.replace("src/main.rs", "lttng_provider::include_events!();", "include!(\"events.rs\");");
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
fn headers_of_another_provider_abi_are_refused() {
    let fresh = fresh("newer-headers");
    let packages = newer_headers(&fresh);
    let errors = fresh.build(LTTNG, &[("PKG_CONFIG_PATH", &packages)]).unwrap_err();
    assert!(errors.contains("expected that of 2.13 to 2.15: update lttng-provider"), "{errors}");
}

#[test]
#[ignore = "make check: builds a crate"]
fn provider_that_lttng_rejects_says_so_and_the_program_runs_on() {
    let fresh = fresh("rejected");
    let packages = newer_headers(&fresh);
    let flags = [("PKG_CONFIG_PATH", packages.as_str()), ("CFLAGS", "-DLTTNG_PROVIDER_ABI=4")];
    let program = fresh.build(LTTNG, &flags).unwrap();
    let output = Daemon::start().command(program).output_in_time().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{} {said}", output.status);
    let expected = "lttng-provider: nothing of `shop` is recorded: the installed liblttng-ust.so.1 rejects";
    assert!(said.starts_with(expected), "{said}");
}

/// A folder for pkg-config with headers as those that are installed, but of the provider ABI 4.
fn newer_headers(fresh: &Crate) -> String {
    let mut cc = Command::new("cc");
    let lines = cc.args(["-E", "-include", "lttng/ust-events.h", "-xc", "/dev/null"]).succeed();
    let installed =
        lines.lines().find_map(|line| line.split('"').nth(1).filter(|path| path.ends_with("ust-events.h")));
    let installed = Path::new(installed.unwrap()).parent().unwrap();
    fs::create_dir_all(fresh.folder.join("newer/lttng")).unwrap();
    let newer = fresh.folder.join("newer");
    Command::new("cp").arg("-r").arg(installed).arg(&newer).succeed();
    let abi = "#define LTTNG_UST_PROVIDER_MAJOR\t";
    fresh.replace("newer/lttng/ust-events.h", abi, &format!("{abi}4 //"));
    let package = format!("Name: lttng-ust\nDescription: -\nVersion: 2.99\nCflags: -I{}\n", newer.display());
    fresh.write("newer/lttng-ust.pc", &package);
    newer.display().to_string()
}

/// The shop of the documentation, and its catalog once more with another provider, which nothing compiles yet.
fn fresh(name: &str) -> Crate {
    let fresh = Crate::new(name, "");
    let catalog = fs::read_to_string(workspace().join("lttng-provider/doc/shop.toml")).unwrap();
    fresh.write("src/main.rs", MAIN);
    fresh.write("second.toml", &catalog.replace("provider.shop", "provider.depot"));
    fresh.write("catalog.toml", &catalog);
    assert!(BUILD.contains(COMPILE));
    fresh
}

/// All events, but for those of LTTng-UST itself.
fn record(program: &Path) -> Vec<Event> {
    let events = Daemon::start().record(&["*"], program, NO_ARGUMENTS).events();
    events.into_iter().filter(|event| !event.name.starts_with("lttng_ust_")).collect()
}
