//! The catalog beside this file names the spans of mini-redis.

fn main() {
    lttng_provider_build::compile("catalog.toml");
}
