//! Decides whether tracing is on, for this crate and for every crate with a catalog, and looks for LTTng-UST.
//!
//! Dependents' build scripts learn the outcome from `DEP_LTTNG_PROVIDER_TRACING` (`on` or `off`) and
//! `DEP_LTTNG_PROVIDER_INCLUDE`, so a program cannot be half on.

use std::env;
use std::process::exit;

/// The first release with the macros and the ABI that the generated providers use.
const OLDEST: &str = "2.13";

/// The version of generated code that `ffi` fits; the build scripts of dependents compare it with theirs.
const GENERATED: u32 = 1;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(tracing)");
    println!("cargo::metadata=generated={GENERATED}");
    println!("cargo::rustc-env=LTTNG_PROVIDER_GENERATED={GENERATED}");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=USE_LTTNG");
    match tracing().and_then(|on| if on { find_lttng_ust().map(Some) } else { Ok(None) }) {
        Ok(Some(include)) => {
            println!("cargo::rustc-cfg=tracing");
            println!("cargo::metadata=tracing=on");
            println!("cargo::metadata=include={include}");
        }
        Ok(None) => println!("cargo::metadata=tracing=off"),
        Err(message) => {
            println!("cargo::error={message}");
            exit(1);
        }
    }
}

/// Whether the feature or the environment asks for tracing.
fn tracing() -> Result<bool, String> {
    let wanted = env::var("USE_LTTNG").unwrap_or_default();
    let wanted = match wanted.as_str() {
        "yes" => true,
        "" | "no" => false,
        other => {
            return Err(format!("USE_LTTNG is `{other}`: set it to `yes` to turn tracing on, or to `no`"));
        }
    };
    Ok(wanted || env::var_os("CARGO_FEATURE_LTTNG").is_some())
}

/// The include path of LTTng-UST.
///
/// It is not linked: the generated providers load it when the program starts, and do without where it is
/// not installed.
fn find_lttng_ust() -> Result<String, String> {
    let system = env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    if system != "linux" {
        return Err(format!("tracing is on, but LTTng-UST is for Linux and this build is for {system}"));
    }
    let features = env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    if features.split(',').any(|feature| feature == "crt-static") {
        // glibc's own dlopen ends such a program before main; musl's finds nothing.
        return Err(
            "tracing is on, but a program with a static libc (target feature crt-static) cannot load LTTng-UST: \
             build with `-C target-feature=-crt-static`, or without tracing"
                .to_owned(),
        );
    }
    let library = pkg_config::Config::new()
        .atleast_version(OLDEST)
        .cargo_metadata(false)
        .probe("lttng-ust")
        .map_err(|error| missing(&error))?;
    let include = env::join_paths(&library.include_paths).map_err(|error| error.to_string())?;
    Ok(include.to_string_lossy().into_owned())
}

fn missing(error: &pkg_config::Error) -> String {
    let what = match error {
        pkg_config::Error::Command { .. } => "pkg-config is not installed",
        pkg_config::Error::CrossCompilation => "pkg-config is not set up for cross-compilation",
        _ => "pkg-config finds no lttng-ust 2.13 or newer",
    };
    format!(
        "tracing is on (feature `lttng` or USE_LTTNG=yes), but {what}: install liblttng-ust-dev and pkg-config \
         (Debian, Ubuntu), lttng-ust-devel and pkgconf (Fedora), or lttng-ust and pkgconf (Arch)"
    )
}
