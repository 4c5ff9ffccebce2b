//! Makes the bindings to Babeltrace 2 from the headers that are installed.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if let Err(reason) = babeltrace2::bind() {
        println!("cargo::error={reason}");
    }
}

mod babeltrace2 {
    use std::env;
    use std::panic;
    use std::path::PathBuf;

    /// What to do when a part is missing.
    const REMEDY: &str = "install the packages libbabeltrace2-dev, libclang-dev and pkg-config (Debian, Ubuntu), \
        libbabeltrace2-devel, clang-devel and pkgconf (Fedora) or babeltrace2, clang and pkgconf (Arch), \
        or build without the feature babeltrace2";

    /// Links the library and writes `babeltrace2.rs` for the crate to include.
    pub fn bind() -> Result<(), String> {
        let library = pkg_config::Config::new()
            .atleast_version("2.0")
            .probe("babeltrace2")
            .map_err(|_| format!("Babeltrace 2 was not found by pkg-config: {REMEDY}"))?;
        let includes = library.include_paths.iter().map(|path| format!("-I{}", path.display()));
        let bindings = bindgen::builder()
            .header_contents("babeltrace2.h", "#include <babeltrace2/babeltrace.h>")
            .clang_args(includes)
            .allowlist_item("bt_.*|BT_.*|__BT_.*")
            // An unknown value in a Rust enum would be undefined behaviour.
            .default_enum_style(bindgen::EnumVariation::NewType { is_bitfield: false, is_global: true })
            .prepend_enum_name(false)
            .generate_comments(false)
            .layout_tests(false);
        // Without libclang, bindgen panics.
        panic::set_hook(Box::new(|_| {}));
        let bindings = panic::catch_unwind(panic::AssertUnwindSafe(|| bindings.generate()));
        let _ = panic::take_hook();
        let bindings = bindings
            .map_err(|_| format!("libclang was not found, so Babeltrace 2 cannot be bound: {REMEDY}"))?
            .map_err(|error| {
                let first = error.to_string().lines().next().unwrap_or_default().to_owned();
                format!("the headers of Babeltrace 2 could not be read ({first}): {REMEDY}")
            })?;
        let folder = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets no OUT_DIR")?);
        bindings
            .write_to_file(folder.join("babeltrace2.rs"))
            .map_err(|error| format!("the bindings could not be written: {error}"))
    }
}
