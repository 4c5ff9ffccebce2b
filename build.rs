//! Valkey's providers, from the catalog that comes with `lttng-catalog`.

fn main() {
    lttng_provider_build::Builder::new().catalog_text("valkey.toml", lttng_catalog::VALKEY).compile();
}
