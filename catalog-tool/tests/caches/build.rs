//! The providers of the two catalogs that were imported from provider files.

fn main() {
    lttng_provider_build::Builder::new()
        .catalog("../../../catalog/memcached.toml")
        .catalog("../../../catalog/redis.toml")
        .compile();
}
