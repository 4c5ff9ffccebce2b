//! Makes the bindings to Babeltrace 2 from the headers that are installed.

use std::env;
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;

/// What to do when a part is missing.
const REMEDY: &str = "install the packages libbabeltrace2-dev, libclang-dev and pkg-config (Debian, Ubuntu), \
    libbabeltrace2-devel, clang-devel and pkgconf (Fedora) or babeltrace2, clang and pkgconf (Arch)";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if let Err(reason) = bind() {
        println!("cargo::error={reason}: {REMEDY}");
    }
}

/// Writes `babeltrace2.rs`, with the types of the library and a table of its functions, which is filled when the library is
/// loaded: nothing is linked, so a program runs without it.
fn bind() -> Result<(), String> {
    let library = pkg_config::Config::new()
        .atleast_version("2.0")
        .cargo_metadata(false)
        .probe("babeltrace2")
        .map_err(|_| "Babeltrace 2 was not found by pkg-config")?;
    let includes = library.include_paths.iter().map(|path| format!("-I{}", path.display()));
    let bindings = bindgen::builder()
        .header_contents("babeltrace2.h", "#include <babeltrace2/babeltrace.h>")
        .clang_args(includes)
        .allowlist_item("bt_.*|BT_.*|__BT_.*|__bt_plugin.*")
        // The one variable, which is a pointer that threads must not share.
        .blocklist_var("bt_value_null")
        .dynamic_library_name("Babeltrace2")
        .dynamic_link_require_all(true)
        // An unknown value in a Rust enum would be undefined behaviour.
        .default_enum_style(bindgen::EnumVariation::NewType { is_bitfield: false, is_global: true })
        .prepend_enum_name(false)
        .generate_comments(false)
        .layout_tests(false);
    // Without libclang, bindgen panics.
    panic::set_hook(Box::new(|_| {}));
    let bindings = panic::catch_unwind(AssertUnwindSafe(|| bindings.generate()));
    let _ = panic::take_hook();
    let bindings = bindings.map_err(|_| "libclang was not found")?.map_err(|error| {
        let first = error.to_string().lines().next().unwrap_or_default().to_owned();
        format!("the headers of Babeltrace 2 could not be read ({first})")
    })?;
    let folder = PathBuf::from(env::var_os("OUT_DIR").ok_or("Cargo sets no OUT_DIR")?);
    bindings
        .write_to_file(folder.join("babeltrace2.rs"))
        .map_err(|error| format!("the bindings could not be written ({error})"))
}
