//! What is generated is what was read and found good: all of it for one catalog that has one of everything, and how it
//! differs from that with other back ends or a prefix.
//!
//! `OVERWRITE=1 cargo test -p lttng-provider-build golden` rewrites the expected files; read the difference before you
//! keep it. That the C compiles is shown beside this; that Rust does, and that all is recorded, by the tests of the
//! workspace.

use lttng_catalog::Catalog;
use lttng_provider_build::{BuildFile, COptions, GeneratedFile, License, Options, c_sources, generate};
use lttng_testing::{assert_golden, difference, workspace};

#[test]
fn one_of_everything_is_generated_as_it_was_reviewed() {
    let with = |lttng, usdt| {
        let mut options = Options::default();
        (options.back_ends.lttng, options.back_ends.usdt) = (lttng, usdt);
        own(generate(&[sample()], &options).unwrap())
    };
    let (lttng, usdt, both) = (with(true, false), with(false, true), with(true, true));
    let mut options = COptions::default();
    let plain = own(c_sources(&[sample()], &options).unwrap());
    (options.fast, options.stopwatches, options.dtrace_macros) = (true, true, true);
    options.build_files = vec![BuildFile::Automake, BuildFile::CMake, BuildFile::Make, BuildFile::PkgConfig];
    let fast = own(c_sources(&[sample()], &options).unwrap());
    let is_shared = |file: &&GeneratedFile| file.name == "sample-tp.h";
    let (rusts, cs) = (lttng.iter().find(is_shared).unwrap(), plain.iter().find(is_shared).unwrap());
    assert!(cs.text.ends_with(&rusts.text), "the provider is the same in both languages");
    let c: Vec<_> = plain.iter().filter(|file| !is_shared(file)).cloned().collect();
    let more: Vec<_> = fast.iter().filter(|file| !plain.contains(file)).cloned().collect();
    assert!(usdt.iter().all(|file| file.name.ends_with(".rs")), "USDT needs no C");
    assert_eq!((&usdt[1], &both[1]), (&lttng[1], &lttng[1]), "spans do not see the back end");
    let changed = |old: &str, new: &str| -> String {
        let difference = difference(old, new);
        difference.lines().filter(|line| !line.starts_with(' ')).map(|line| format!("{line}\n")).collect()
    };
    let parts = [
        ("For Rust, recorded by LTTng", joined(&lttng)),
        ("The same, shown by USDT probes instead", changed(&lttng[0].text, &usdt[0].text)),
        ("The same, by both", changed(&joined(&lttng), &joined(&both))),
        ("For C, but for the provider's header", joined(&c)),
        ("For C, with all options", joined(&more)),
    ];
    let text: String = parts.iter().map(|(title, text)| format!("##### {title}\n\n{text}\n")).collect();
    assert_golden(workspace().join("lttng-provider-build/tests/golden/sample.txt"), &text);
}

#[test]
fn prefix_is_seen_by_tracers_and_not_by_rust() {
    let prefixed = own(generate(&[sample()], &options(true, "acme_")).unwrap());
    let plain = own(generate(&[sample()], &options(true, "")).unwrap());
    assert_eq!(joined(&prefixed).matches("mod sample").count(), 1);
    assert!(prefixed[0].text.contains("const PROVIDER: &'static str = \"acme_sample\";"));
    for (prefixed, plain) in prefixed.iter().zip(&plain) {
        assert_eq!(prefixed.name.replace("acme_", ""), plain.name);
        let text = prefixed.text.replace("acme_", "").replace("ACME_", "");
        // A longer name breaks other lines.
        let words =
            |text: &str| text.replace(",\n", "").split_whitespace().collect::<String>().replace(",)", ")");
        assert_eq!(words(&text.replace(',', "")), words(&plain.text.replace(',', "")), "{}", plain.name);
    }
}

#[test]
fn off_is_rust_alone() {
    let files = generate(&[read("lttng-provider/doc/shop.toml")], &options(false, "")).unwrap();
    assert!(files.iter().all(|file| file.name.ends_with(".rs")));
    assert_golden(workspace().join("lttng-provider/doc/events.rs"), &files[0].text);
}

#[test]
fn providers_of_one_name_in_two_catalogs_are_refused() {
    let shop = read("lttng-provider/doc/shop.toml");
    let clash = generate(&[shop.clone(), shop], &options(true, "")).unwrap_err();
    assert_eq!(clash.to_string(), "two catalogs have a provider `shop`: rename one of them");
}

#[test]
fn prefix_that_makes_a_name_too_long_is_refused() {
    let shop = read("lttng-provider/doc/shop.toml");
    let clash = generate(&[shop], &options(true, &"x".repeat(250))).unwrap_err();
    assert!(clash.to_string().contains("255 bytes: choose a shorter prefix"), "{clash}");
}

fn options(tracing: bool, prefix: &str) -> Options {
    let mut options = Options::default();
    options.back_ends.lttng = tracing;
    prefix.clone_into(&mut options.prefix);
    options
}

fn sample() -> Catalog {
    read("lttng-provider-build/tests/golden/sample.toml")
}

fn read(path: &str) -> Catalog {
    Catalog::read(workspace().join(path)).unwrap_or_else(|errors| panic!("{errors}"))
}

/// All but what every catalog has.
fn own(files: Vec<GeneratedFile>) -> Vec<GeneratedFile> {
    let shared = ["lttng_provider.h", "lttng_fast.h"];
    files.into_iter().filter(|file| !shared.contains(&file.name.as_str())).collect()
}

fn joined(files: &[GeneratedFile]) -> String {
    files.iter().map(|file| format!("=== {} ===\n{}", file.name, file.text)).collect()
}

/// What a project would have to own: no more than Valkey's 977 lines by hand, and for the faster way 1,500.
#[test]
fn valkeys_events_take_few_lines_of_c() {
    let mut options = COptions::default();
    for (fast, most) in [(false, 977), (true, 1_500)] {
        options.fast = fast;
        let files = c_sources(&[lttng_catalog::valkey()], &options).unwrap();
        let lines: usize = files.iter().map(|file| file.text.lines().count()).sum();
        assert!(lines <= most, "{lines} lines, fast: {fast}");
    }
}

/// The licence is in each file, with who gives it.
#[test]
fn every_file_says_under_which_licence_its_authors_give_it() {
    let mut options = COptions::default();
    (options.fast, options.dtrace_macros) = (true, true);
    options.build_files = vec![BuildFile::CMake];
    for license in [License::ZeroClauseBsd, License::Mit] {
        options.license = license;
        for file in c_sources(&[sample()], &options).unwrap() {
            let head: Vec<&str> = file.text.lines().take(3).collect();
            assert!(head[0].ends_with(&format!("SPDX-License-Identifier: {}", license.name())), "{head:?}");
            assert!(
                head[1].contains("Copyright (c)") && head[2].contains("license this generated file"),
                "{head:?}"
            );
        }
    }
}
