//! What does not agree with the catalog does not compile, and the message says why: one file a claim.
//!
//! `OVERWRITE=1 cargo test -p lttng-provider-derive --test compile_fail` rewrites the expected messages; read the
//! difference before you keep it.

use std::env;
use std::path::Path;

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/market/catalog");
    let catalogs = ["shop.toml", "warehouse.toml"].map(|file| folder.join(file));
    let catalogs = env::join_paths(catalogs).expect("no path has a colon");
    // SAFETY: this is the only thread, because the test has no harness.
    //
    // The cases have no build script, which would name the catalogs.
    unsafe { env::set_var("LTTNG_PROVIDER_CATALOGS", catalogs) };
    if lttng_testing::overwrites() {
        // SAFETY: as above.
        unsafe { env::set_var("TRYBUILD", "overwrite") };
    }
    trybuild::TestCases::new().compile_fail("tests/refused/*.rs");
}
