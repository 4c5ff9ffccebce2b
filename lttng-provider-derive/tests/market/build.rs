//! Two catalogs in one crate, and the functions of `examples/drops.rs`.

mod drops;

use std::path::Path;
use std::{env, fs};

fn main() {
    let folder = env::var_os("OUT_DIR").expect("Cargo sets it");
    fs::write(Path::new(&folder).join("drops.rs"), drops::functions()).expect("Cargo has made the folder");
    println!("cargo::rerun-if-changed=drops.rs");
    lttng_provider_build::Builder::new()
        .catalog("catalog/shop.toml")
        .catalog("catalog/warehouse.toml")
        .compile();
}
