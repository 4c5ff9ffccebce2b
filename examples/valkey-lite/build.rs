//! Where `#[traced]` finds the events that the crate `valkey-trace` compiles.

fn main() {
    lttng_provider_build::use_catalog("../../catalog/valkey.toml");
}
