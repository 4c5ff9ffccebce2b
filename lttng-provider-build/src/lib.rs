//! From a build script, turns a catalog into LTTng-UST providers and typed Rust wrappers.
