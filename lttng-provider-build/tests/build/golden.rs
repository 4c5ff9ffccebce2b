//! What is generated is what was read and found good.
//!
//! `OVERWRITE=1 cargo test -p lttng-provider-build golden` rewrites the expected files; read the
//! difference before you keep it. That they compile and record is shown by the tests of the workspace.

use lttng_catalog::Catalog;
use lttng_provider_build::{GeneratedFile, Options, c_sources, generate};
use lttng_testing::{assert_golden, workspace};

#[test]
fn every_type_with_tracing_on() {
    let files = generate(&[read("tests/catalogs/every-type.toml")], &options(true, "")).unwrap();
    compare("lttng-provider-build/tests/golden/every-type", &files);
}

#[test]
fn prefix_is_seen_by_lttng_and_not_by_rust() {
    let files = generate(&[read("lttng-provider/doc/shop.toml")], &options(true, "acme_")).unwrap();
    compare("lttng-provider-build/tests/golden/prefix", &files);
}

#[test]
fn probes_alone_and_beside_lttng() {
    let catalogs = [read("tests/catalogs/probing.toml")];
    let mut options = Options::default();
    options.back_ends.usdt = true;
    let files = generate(&catalogs, &options).unwrap();
    assert!(files.iter().all(|file| file.name.ends_with(".rs")), "USDT needs no C");
    compare("lttng-provider-build/tests/golden/usdt", &files);
    options.back_ends.lttng = true;
    compare("lttng-provider-build/tests/golden/lttng-and-usdt", &generate(&catalogs, &options).unwrap());
}

#[test]
fn every_type_for_c() {
    let files = c_sources(&[read("tests/catalogs/every-type.toml")]).unwrap();
    compare("lttng-provider-build/tests/golden/c-every-type", &files);
}

#[test]
fn probes_and_stacks_for_c() {
    let files = c_sources(&[read("tests/catalogs/probing.toml")]).unwrap();
    compare("lttng-provider-build/tests/golden/c-probing", &files);
}

#[test]
fn off_is_rust_alone() {
    let files = generate(&[read("lttng-provider/doc/shop.toml")], &options(false, "")).unwrap();
    assert!(files.iter().all(|file| file.name.ends_with(".rs")));
    compare("lttng-provider/doc", &files);
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

fn read(path: &str) -> Catalog {
    Catalog::read(workspace().join(path)).unwrap_or_else(|errors| panic!("{errors}"))
}

/// The files are those in the folder, but for what every catalog has.
fn compare(folder: &str, files: &[GeneratedFile]) {
    let folder = workspace().join(folder);
    let shared = ["lttng_provider.h", "lttng_application.h", "lttng_usdt.h"];
    for file in files.iter().filter(|file| !shared.contains(&file.name.as_str())) {
        assert_golden(folder.join(&file.name), &file.text);
    }
}
