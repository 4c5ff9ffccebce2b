//! The catalog of LTTng-UST events: TOML in, checked model out.

mod model;

pub use model::*;
