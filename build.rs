//! Valkey's providers, from the catalog.

fn main() {
    lttng_provider_build::compile("catalog/valkey.toml");
}
