//! What a USDT tracer sees of an event.

use lttng_catalog::Catalog;
use lttng_catalog::lowered::Program;

#[test]
fn arguments_keep_their_order_types_and_signs() {
    let catalogs = [lttng_catalog::valkey()];
    let border = Program::lower(&catalogs, "").unwrap();
    let probe = &border.event("valkey_commands", "command_call").unwrap().probe;
    assert_eq!(probe.x86_64(), "-4@0(%rdi) 8@8(%rdi) 8@16(%rdi) 8@24(%rdi) 8@32(%rdi)");
    assert_eq!(probe.aarch64(), "-4@[x0] 8@[x0, 8] 8@[x0, 16] 8@[x0, 24] 8@[x0, 32]");
}

#[test]
fn no_probe_has_more_arguments_than_lttng_takes() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/catalogs/every-type.toml");
    let catalogs = [Catalog::read(path).unwrap(), lttng_catalog::valkey(), lttng_catalog::redis()];
    for event in Program::lower(&catalogs, "").unwrap().providers.iter().flat_map(|p| &p.events) {
        let taken: usize = event.arguments.iter().map(|argument| argument.c_parameters().len()).sum();
        assert!(event.probe.arguments.len() <= taken && taken <= 10, "{}", event.symbol);
    }
}
