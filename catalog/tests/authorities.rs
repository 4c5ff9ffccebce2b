//! Every error names the authority whose rule is broken, and each authority has cases.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use lttng_catalog::{Authority, Catalog};

#[test]
fn errors_name_whose_rule_is_broken() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/refused");
    let mut cases: HashMap<Authority, usize> = HashMap::new();
    for entry in fs::read_dir(folder).expect("the golden cases") {
        let path = entry.expect("a folder entry").path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let errors = Catalog::read(&path).expect_err("the golden tests refuse it").errors;
        for error in errors {
            *cases.entry(error.authority).or_default() += 1;
            let name = error.authority.to_string();
            let names_it =
                error.message.split(|letter: char| !letter.is_alphanumeric()).any(|word| word == name);
            assert!(
                names_it || error.authority == Authority::Model,
                "{}: the rule is {name}'s, and the error does not say so: {}",
                path.display(),
                error.message
            );
        }
    }
    for authority in [Authority::Model, Authority::Lttng, Authority::C, Authority::Rust] {
        assert!(cases[&authority] >= 8, "only {} errors by {authority}", cases[&authority]);
    }
}
