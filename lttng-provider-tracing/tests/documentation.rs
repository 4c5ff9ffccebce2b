//! The examples in the documentation have the events of `doc/shop.toml` with tracing off, as a build script would write
//! them. `OVERWRITE=1` writes them anew.

use std::path::Path;
use std::{env, fs};

use lttng_catalog::Catalog;
use lttng_provider_build::{Options, generate};

#[test]
fn examples_are_compiled_with_what_a_build_script_writes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("doc");
    let catalog = Catalog::read(folder.join("shop.toml")).unwrap_or_else(|errors| panic!("{errors}"));
    for file in generate(&[catalog], &Options::default()).unwrap() {
        let path = folder.join(&file.name);
        if env::var_os("OVERWRITE").is_some() {
            fs::write(&path, &file.text).unwrap();
        }
        assert_eq!(fs::read_to_string(&path).unwrap_or_default(), file.text, "{}", path.display());
    }
}
