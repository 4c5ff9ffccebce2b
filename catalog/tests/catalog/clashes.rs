//! Names are checked over all catalogs of a program and the prefix together.

use lttng_catalog::Catalog;
use lttng_catalog::lowered::Program;

#[test]
fn events_of_two_catalogs_with_the_same_symbol_are_refused() {
    let catalogs = [catalog("one", "a", "b___c", ""), catalog("two", "a___b", "c", "")];
    let clash = Program::lower(&catalogs, "").unwrap_err().to_string();
    assert_eq!(
        clash,
        "the event `a___b:c` and the event `a:b___c` have the same C symbol `lttng_ust_tracepoint_a___b___c`: rename one of them"
    );
}

#[test]
fn enums_of_two_catalogs_with_the_same_symbol_are_refused_with_the_prefix() {
    let catalogs = [catalog("one", "a", "x", "b_c"), catalog("two", "a_b", "y", "c")];
    for prefix in ["", "acme_"] {
        let clash = Program::lower(&catalogs, prefix).unwrap_err().to_string();
        assert!(clash.contains(&format!("`__enum_values__{prefix}a_b_c`: rename one of them")), "{clash}");
    }
}

#[test]
fn prefix_counts_for_the_length_of_a_name() {
    let catalogs = [catalog("one", "a", "b", "")];
    assert!(Program::lower(&catalogs, &"p".repeat(252)).is_ok());
    let clash = Program::lower(&catalogs, &"p".repeat(253)).unwrap_err().to_string();
    assert!(clash.ends_with("is longer than LTTng's limit of 255 bytes: choose a shorter prefix"), "{clash}");
}

#[test]
fn names_that_are_the_same_only_in_c_are_refused_only_for_c() {
    let catalogs = [catalog("one", "a", "b_c", ""), catalog("two", "a_b", "c", "")];
    let border = Program::lower(&catalogs, "").unwrap();
    let clash = border.check_c_names().unwrap_err().to_string();
    assert!(clash.contains("`trace_a_b_c`"), "{clash}");

    let catalogs = [catalog("one", "a", "b", ""), catalog("two", "a_b", "enabled", "")];
    let border = Program::lower(&catalogs, "").unwrap();
    assert!(border.check_c_names().unwrap_err().to_string().contains("`trace_a_b_enabled`"));
}

#[test]
fn same_catalog_twice_is_refused() {
    let one = catalog("one", "a", "b", "");
    let clash = Program::lower(&[one.clone(), one], "").unwrap_err().to_string();
    assert_eq!(clash, "two catalogs have a provider `a`: rename one of them");
}

/// A catalog with one event, and an enum if it has a name.
fn catalog(name: &str, provider: &str, event: &str, enumeration: &str) -> Catalog {
    let enumeration = match enumeration {
        "" => String::new(),
        name => format!(
            "[provider.{provider}.enum.{name}]\ntype = \"u8\"\ndoc = \"…\"\nlabels = [{{ name = \"X\", value = 0 }}]\n"
        ),
    };
    let text = format!(
        "[catalog]\nname = \"{name}\"\nversion = 1\ndoc = \"…\"\n[provider.{provider}]\ndoc = \"…\"\n{enumeration}\
         [provider.{provider}.event.{event}]\ndoc = \"…\"\n"
    );
    Catalog::parse(name, &text).unwrap_or_else(|errors| panic!("{errors}"))
}
