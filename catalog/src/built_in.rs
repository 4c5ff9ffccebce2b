//! The catalogs that come with the crate.

use crate::Catalog;

/// The text of `valkey.toml`.
pub const VALKEY: &str = include_str!("../valkey.toml");

/// The text of `memcached.toml`.
pub const MEMCACHED: &str = include_str!("../memcached.toml");

/// The text of `redis.toml`.
pub const REDIS: &str = include_str!("../redis.toml");

/// Valkey's 35 events.
pub fn valkey() -> Catalog {
    Catalog::parse("valkey.toml", VALKEY).expect("a test reads valkey.toml")
}

/// Memcached's probes: 30 events, one of them for a probe at the start and one at the end of a request.
pub fn memcached() -> Catalog {
    Catalog::parse("memcached.toml", MEMCACHED).expect("a test reads memcached.toml")
}

/// What probes have been proposed for Redis: 17 events, three of them for a probe at a start and one at an end.
pub fn redis() -> Catalog {
    Catalog::parse("redis.toml", REDIS).expect("a test reads redis.toml")
}
