//! Decides whether tracing is on, for this crate and for every crate with a catalog, and looks for LTTng-UST.
//!
//! Dependents' build scripts learn the outcome from `DEP_LTTNG_PROVIDER_LTTNG`, `DEP_LTTNG_PROVIDER_USDT` (`on` or
//! `off`) and `DEP_LTTNG_PROVIDER_INCLUDE`, so a program cannot be half on.
//!
//! On docs.rs, which sets `DOCS_RS`, the documentation is that of a build with tracing on, but nothing is compiled to
//! run: neither LTTng-UST nor a C compiler is looked for.

use std::env;
use std::process::exit;

/// The first release with the macros and the ABI that the generated providers use.
const OLDEST: &str = "2.13";

/// The version of generated code that `ffi` fits; the build scripts of dependents compare it with theirs.
const GENERATED: u32 = 3;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(tracing, lttng, usdt)");
    println!("cargo::metadata=generated={GENERATED}");
    println!("cargo::rustc-env=LTTNG_PROVIDER_GENERATED={GENERATED}");
    println!("cargo::rerun-if-changed=build.rs");
    if let Err(message) = choose_back_ends() {
        println!("cargo::error={message}");
        exit(1);
    }
}

fn choose_back_ends() -> Result<(), String> {
    let lttng = wanted("LTTNG")?;
    let usdt = wanted("USDT")?;
    let only_documentation = is_docs_rs();
    if lttng && !only_documentation {
        println!("cargo::metadata=include={}", find_lttng_ust()?);
    }
    if usdt && !only_documentation {
        check_target_of_usdt()?;
    }
    for (name, on) in [("lttng", lttng), ("usdt", usdt), ("only_documentation", only_documentation)] {
        println!("cargo::metadata={name}={}", if on { "on" } else { "off" });
    }
    if lttng {
        println!("cargo::rustc-cfg=lttng");
    }
    if usdt {
        println!("cargo::rustc-cfg=usdt");
    }
    if lttng || usdt {
        println!("cargo::rustc-cfg=tracing");
    }
    Ok(())
}

/// Whether the feature or the environment asks for a back end.
fn wanted(back_end: &str) -> Result<bool, String> {
    let variable = format!("USE_{back_end}");
    println!("cargo::rerun-if-env-changed={variable}");
    let wanted = match env::var(&variable).unwrap_or_default().as_str() {
        "yes" => true,
        "" | "no" => false,
        other => {
            return Err(format!(
                "invalid {variable} `{other}`: set it to `yes` to turn tracing on, or to `no`"
            ));
        }
    };
    Ok(wanted || env::var_os(format!("CARGO_FEATURE_{back_end}")).is_some())
}

/// Whether docs.rs builds the documentation.
fn is_docs_rs() -> bool {
    println!("cargo::rerun-if-env-changed=DOCS_RS");
    env::var_os("DOCS_RS").is_some()
}

/// Probes are written in assembly.
fn check_target_of_usdt() -> Result<(), String> {
    let variable = |name: &str| env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    match (variable("OS").as_str(), variable("ARCH").as_str()) {
        ("linux", "x86_64" | "aarch64") => Ok(()),
        (system, processor) => Err(format!(
            "USDT probes are on, but they need Linux on x86_64 or aarch64, and this build is for {system} on \
             {processor}"
        )),
    }
}

/// The include path of LTTng-UST.
///
/// It is not linked: the generated providers load it when the program starts, if it is installed.
fn find_lttng_ust() -> Result<String, String> {
    let system = env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    if system != "linux" {
        return Err(format!("tracing is on, but LTTng-UST needs Linux, and this build is for {system}"));
    }
    let is_musl = |name: &str| env::var(name).is_ok_and(|value| value.contains("musl"));
    if is_musl("CARGO_CFG_TARGET_ENV") && !is_musl("HOST") {
        return Err(format!(
            "tracing is on, but a program for musl cannot load the LTTng-UST of a system with glibc: build for {}-unknown-linux-gnu, \
             or without tracing",
            env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_default()
        ));
    }
    let features = env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    if features.split(',').any(|feature| feature == "crt-static") {
        // glibc's dlopen ends such a program before main; musl's finds nothing.
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
