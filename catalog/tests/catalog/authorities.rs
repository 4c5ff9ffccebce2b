//! Every error names the authority whose rule is broken, and each authority has cases.

use std::collections::HashMap;

use lttng_catalog::{Authority, Catalog};
use lttng_testing::cases;

use crate::cases::{REFUSED, table};

#[test]
fn errors_name_whose_rule_is_broken() {
    let mut count: HashMap<Authority, usize> = HashMap::new();
    for case in REFUSED.iter().flat_map(|topic| cases(table(&format!("refused-{topic}")))) {
        let errors = Catalog::parse(&case.name, &case.input).expect_err("the golden tests refuse it").errors;
        for error in errors {
            *count.entry(error.authority).or_default() += 1;
            let name = error.authority.to_string();
            let names_it =
                error.message.split(|letter: char| !letter.is_alphanumeric()).any(|word| word == name);
            assert!(
                names_it || error.authority == Authority::Model,
                "{}: the rule is {name}'s, and the error does not say so: {}",
                case.name,
                error.message
            );
        }
    }
    for authority in [Authority::Model, Authority::Lttng, Authority::C, Authority::Rust] {
        assert!(count[&authority] >= 8, "only {} errors by {authority}", count[&authority]);
    }
}
