//! The examples of `README.md` are catalogs.

use lttng_catalog::Catalog;

const README: &str = include_str!("../../README.md");

#[test]
fn every_catalog_in_the_readme_is_accepted() {
    let examples: Vec<&str> =
        README.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(examples.len(), 2, "the README has two catalogs");
    for example in examples {
        if let Err(errors) = Catalog::parse("README.md", example) {
            panic!("{errors}\n{example}");
        }
    }
}

#[test]
fn the_errors_in_the_readme_are_what_the_parser_says() {
    let example = README.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next());
    let wrong = example
        .expect("the first example")
        .replace("group-by = [\"article\"]", "group-by = [\"artikle\"]")
        .replace("type = \"string\"", "type = \"str\"")
        .replace(
            "{ name = \"took\"",
            "{ name = \"unix\", type = \"u8\", doc = \"?\" },\n  { name = \"took\"",
        );
    let errors = Catalog::parse("shop.toml", &wrong).expect_err("three mistakes");
    assert!(README.contains(&errors.to_string()), "the README does not say:\n{errors}");
}
