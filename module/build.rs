//! The events that only the module has, and a library that stays loaded.

fn main() {
    lttng_provider_build::Builder::new()
        .catalog_text("valkey-module.toml", lttng_catalog::VALKEY_MODULE)
        .compile();
    // LTTng keeps pointers into it: a server that refuses the module after loading it must not unmap it.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
