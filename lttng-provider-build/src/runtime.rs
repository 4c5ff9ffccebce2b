//! What `lttng-provider` tells the build scripts of its dependents through Cargo's `links` metadata.

use std::env;

use crate::version::GENERATED;
use crate::{BackEnds, Error};

/// The decisions of the build script of `lttng-provider`.
pub(crate) struct Runtime {
    pub(crate) back_ends: BackEnds,
    /// Whether only documentation is built, so that no C compiler and no LTTng are needed.
    pub(crate) only_documentation: bool,
}

impl Runtime {
    /// Reads the decisions of a runtime that takes our generated code.
    pub(crate) fn ask() -> Result<Runtime, Error> {
        let back_ends = BackEnds { lttng: is_on("LTTNG")?, usdt: is_on("USDT")? };
        let runtime = env::var("DEP_LTTNG_PROVIDER_GENERATED").unwrap_or_default();
        if runtime != GENERATED.to_string() {
            return Err(Error::AnotherRuntime { runtime });
        }
        Ok(Runtime { back_ends, only_documentation: is_on("ONLY_DOCUMENTATION")? })
    }
}

fn is_on(decision: &str) -> Result<bool, Error> {
    match env::var(format!("DEP_LTTNG_PROVIDER_{decision}")).as_deref() {
        Ok("on") => Ok(true),
        Ok(_) => Ok(false),
        Err(_) => Err(Error::NoRuntime),
    }
}
