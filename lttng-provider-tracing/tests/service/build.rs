//! One catalog for all examples.

fn main() {
    lttng_provider_build::compile("catalog.toml");
}
