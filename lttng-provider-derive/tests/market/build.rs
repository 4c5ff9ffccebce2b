//! Two catalogs in one crate.

fn main() {
    lttng_provider_build::Builder::new()
        .catalog("catalog/shop.toml")
        .catalog("catalog/warehouse.toml")
        .compile();
}
