//! What a USDT tracer sees of an event.

use lttng_catalog::lowered::{PROBE_ARGUMENTS_MAX, Program};
use lttng_catalog::{Catalog, Field, FieldType, Meaning};

#[test]
fn arguments_keep_their_order_types_and_signs() {
    let catalogs = [lttng_catalog::valkey()];
    let border = Program::lower(&catalogs, "").unwrap();
    let probe = &border.event("valkey_commands", "command_call").unwrap().probe;
    assert_eq!(probe.x86_64(), "-4@0(%rdi) 8@8(%rdi) 8@16(%rdi) 8@24(%rdi) 8@32(%rdi)");
    assert_eq!(probe.aarch64(), "-4@[x0] 8@[x0, 8] 8@[x0, 16] 8@[x0, 24] 8@[x0, 32]");
}

/// LTTng has room for ten, so no catalog that is read has more; one that is made by a program can.
#[test]
fn of_more_than_twelve_arguments_the_duration_and_the_groups_come_first() {
    let mut catalog = lttng_catalog::valkey();
    add_fields(&mut catalog, 12);
    let border = Program::lower(std::slice::from_ref(&catalog), "").unwrap();
    let probe = &border.event("valkey_commands", "command_call").unwrap().probe;
    let indices: Vec<usize> = probe.arguments.iter().map(|argument| argument.index).collect();
    assert_eq!(indices.len(), PROBE_ARGUMENTS_MAX);
    // The duration is the fifth field, and the name, which groups, the fourth.
    assert_eq!(indices, [4, 3, 0, 1, 2, 5, 6, 7, 8, 9, 10, 11]);
}

#[test]
fn pointer_and_length_count_as_two() {
    let mut catalog = lttng_catalog::valkey();
    add_fields(&mut catalog, 3);
    let event = &mut catalog.providers[0].events[0];
    for field in &mut event.fields[5..] {
        field.kind = FieldType::Text { length: lttng_catalog::Width::W16 };
    }
    event.meaning = Meaning::default();
    let border = Program::lower(std::slice::from_ref(&catalog), "").unwrap();
    assert_eq!(border.providers[0].events[0].probe.arguments.len(), 5 + 2 * 3);
}

/// Adds numbers to the first event.
fn add_fields(catalog: &mut Catalog, count: usize) {
    let event = &mut catalog.providers[0].events[0];
    let last = event.fields.last().expect("it has fields").clone();
    for index in 0..count {
        event.fields.push(Field { name: format!("f{index}"), argument: format!("f{index}"), ..last.clone() });
    }
}
