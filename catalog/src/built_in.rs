//! The catalogs that come with the crate.

use crate::Catalog;

/// The text of `valkey.toml`.
pub const VALKEY: &str = include_str!("../valkey.toml");

/// The text of `memcached.toml`.
pub const MEMCACHED: &str = include_str!("../memcached.toml");

/// The text of `redis.toml`.
pub const REDIS: &str = include_str!("../redis.toml");

/// The text of `valkey-module.toml`.
pub const VALKEY_MODULE: &str = include_str!("../valkey-module.toml");

/// Valkey's 35 events.
pub fn valkey() -> Catalog {
    Catalog::parse("valkey.toml", VALKEY).expect("a test reads valkey.toml")
}

/// Memcached's probes: 31 events, two of them at the start and the end of a request.
pub fn memcached() -> Catalog {
    Catalog::parse("memcached.toml", MEMCACHED).expect("a test reads memcached.toml")
}

/// The probes proposed for Redis: 20 events, six of them at a start or an end.
pub fn redis() -> Catalog {
    Catalog::parse("redis.toml", REDIS).expect("a test reads redis.toml")
}

/// What the module for stock servers records besides Valkey's events.
pub fn valkey_module() -> Catalog {
    Catalog::parse("valkey-module.toml", VALKEY_MODULE).expect("a test reads valkey-module.toml")
}

/// Valkey's 35 events with advice for operators, which the other functions leave out.
#[cfg(feature = "advice")]
pub fn valkey_with_advice() -> Catalog {
    let mut catalog = valkey();
    let advice = include_str!("../valkey.advice.toml");
    catalog.add_advice("valkey.advice.toml", advice).expect("a test reads valkey.advice.toml");
    catalog
}
