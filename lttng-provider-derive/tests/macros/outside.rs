//! Crates outside of this workspace: of another edition, with a catalog as text, documented without LTTng, and checked
//! again when a catalog changes.

use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{env, fs};

use lttng_testing::workspace;
use tempfile::TempDir;

const CATALOG: &str = r#"
[catalog]
name = "store"
version = 1
doc = "A store."

[provider.store]
doc = "What happens in the store."

[provider.store.event.sold]
doc = "Something was sold."
fields = [{ name = "count", type = "u32", doc = "How many." }]
"#;

const STRUCT: &str = r#"
/// An event.
#[derive(lttng_provider::Event)]
#[event(store::sold)]
pub struct Sold {
    /// How many.
    pub count: u32,
}
"#;

/// A separate workspace: `store` has a catalog, and `client` uses the events of `store` and a copy of the catalog.
struct Workspace {
    folder: TempDir,
    /// Held while there is one: they share a target folder, where Cargo cannot tell them apart but by time.
    _alone: MutexGuard<'static, ()>,
}

impl Workspace {
    fn new() -> Workspace {
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let this = Workspace { folder: TempDir::new().unwrap(), _alone: alone };
        let path = |name: &str| format!("{{ path = {:?} }}", workspace().join(name));
        let (provider, build) = (path("lttng-provider"), path("lttng-provider-build"));
        let package =
            |name: &str| format!("[package]\nname = \"{name}\"\nedition = \"2024\"\n\n[dependencies]\n");
        this.write("Cargo.toml", "[workspace]\nresolver = \"3\"\nmembers = [\"store\", \"client\"]\n");
        // The versions of this workspace, which are available without a network.
        fs::copy(workspace().join("Cargo.lock"), this.path("Cargo.lock")).unwrap();

        let dependencies =
            format!("lttng-provider = {provider}\n\n[build-dependencies]\nlttng-provider-build = {build}\n");
        this.write("store/Cargo.toml", &(package("store") + &dependencies));
        this.write("store/build.rs", "fn main() { lttng_provider_build::compile(\"catalog/store.toml\"); }");
        this.write("store/catalog/store.toml", CATALOG);
        this.write("store/src/lib.rs", &format!("lttng_provider::include_events!();\n{STRUCT}"));

        let dependencies = format!("lttng-provider = {provider}\nstore = {{ path = \"../store\" }}\n");
        this.write("client/Cargo.toml", &(package("client") + &dependencies));
        this.write("client/copy.toml", CATALOG);
        let named = STRUCT.replace("store::sold", "store::store::sold, catalog = \"copy.toml\"");
        this.write("client/src/lib.rs", &named);
        this
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap_or(Path::new(""))).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Checks all crates, and returns the errors if the compiler refuses one.
    fn check(&self) -> Result<(), String> {
        self.cargo(&["check", "--quiet", "--workspace"], &[])
    }

    /// Runs Cargo, and returns its messages if it fails.
    fn cargo(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Result<(), String> {
        let mut cargo = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()));
        cargo.args(arguments).arg("--offline").current_dir(&self.folder);
        cargo.env("CARGO_TARGET_DIR", workspace().join("target/e2e"));
        cargo.env_remove("USE_LTTNG").env_remove("USE_USDT").env_remove("DOCS_RS");
        cargo.envs(variables.iter().copied());
        let output = cargo.output().unwrap();
        if output.status.success() {
            Ok(())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    }
}

#[test]
#[ignore = "make check: builds a crate"]
fn edit_of_a_catalog_has_its_users_checked_again() {
    let workspace = Workspace::new();
    workspace.check().unwrap();

    let renamed = CATALOG.replace("\"count\"", "\"pieces\"");
    workspace.write("client/copy.toml", &renamed);
    let message = workspace.check().unwrap_err();
    assert!(message.contains("`store:sold` has no field `count` in the catalog"), "{message}");
    assert!(message.contains("client/src/lib.rs"), "{message}");

    workspace.write("client/copy.toml", "[catalog");
    let message = workspace.check().unwrap_err();
    assert!(message.contains("copy.toml:1:"), "{message}");

    workspace.write("client/copy.toml", CATALOG);
    workspace.check().unwrap();

    workspace.write("store/catalog/store.toml", &renamed);
    let message = workspace.check().unwrap_err();
    assert!(message.contains("`store:sold` has no field `count` in the catalog"), "{message}");
    assert!(message.contains("store/src/lib.rs"), "{message}");
}

#[test]
#[ignore = "make check: builds a crate"]
fn crate_without_a_catalog_is_told_to_have_one() {
    let workspace = Workspace::new();
    workspace.write("client/src/lib.rs", &STRUCT.replace("store::sold", "store::store::sold"));
    let message = workspace.check().unwrap_err();
    assert!(message.contains("the crate has no catalog: compile one in its build script"), "{message}");
}

#[test]
#[ignore = "make check: builds a crate"]
fn crate_that_does_not_include_its_events_is_told_to() {
    let workspace = Workspace::new();
    workspace.write("store/src/lib.rs", STRUCT);
    let message = workspace.cargo(&["check", "--workspace"], &[]).unwrap_err();
    assert!(
        message.contains("add `lttng_provider::include_events!();` to src/main.rs or src/lib.rs"),
        "{message}"
    );
    workspace.write("store/src/lib.rs", "mod events {\n    lttng_provider::include_events!();\n}\n");
    let checked = workspace.cargo(&["check", "--workspace", "--message-format=short"], &[]);
    assert!(
        !checked.unwrap_err().contains("src/main.rs or src/lib.rs"),
        "`client` wants what is private now"
    );
}

const FUNCTION: &str = r#"
/// Measured, and recorded again if the result is large.
#[lttng_provider::traced(store::paid, also(store::paid, when = *ret > 1))]
pub fn pay(amount: u32) -> u32 {
    amount * 2
}
"#;

const PAID: &str = r#"
[provider.store.event.paid]
doc = "Something was paid."
duration = "took"
fields = [{ name = "took", type = "u64", unit = "ns", doc = "How long." }]
"#;

#[test]
#[ignore = "make check: builds a crate"]
fn crates_of_older_editions_take_all_that_is_generated() {
    let workspace = Workspace::new();
    workspace.write("store/catalog/store.toml", &format!("{CATALOG}{PAID}"));
    workspace.write("store/src/lib.rs", &format!("lttng_provider::include_events!();\n{STRUCT}\n{FUNCTION}"));
    let manifest = fs::read_to_string(workspace.path("store/Cargo.toml")).unwrap();
    for edition in ["2018", "2021"] {
        workspace.write("store/Cargo.toml", &manifest.replace("\"2024\"", &format!("{edition:?}")));
        workspace.check().unwrap();
        let on = [("USE_LTTNG", "yes"), ("USE_USDT", "yes")];
        workspace.cargo(&["check", "--quiet", "--workspace"], &on).unwrap();
    }
}

#[test]
#[ignore = "make check: builds a crate"]
fn catalog_as_text_is_found_by_the_macros_and_watched() {
    let workspace = Workspace::new();
    workspace.write(
        "store/build.rs",
        "fn main() {
            let text = include_str!(\"catalog/store.toml\");
            lttng_provider_build::Builder::new().catalog_text(\"store.toml\", text).compile();
        }",
    );
    workspace.check().unwrap();
    workspace.write("store/catalog/store.toml", &CATALOG.replace("\"count\"", "\"pieces\""));
    let message = workspace.check().unwrap_err();
    assert!(message.contains("`store:sold` has no field `count` in the catalog"), "{message}");
}

#[test]
#[ignore = "make check: builds a crate"]
fn documentation_with_tracing_on_needs_neither_lttng_nor_a_c_compiler() {
    let workspace = Workspace::new();
    let document = ["doc", "--quiet", "--workspace", "--no-deps"];
    let missing =
        [("CC", "/nonexistent"), ("PKG_CONFIG", "/nonexistent"), ("USE_LTTNG", "yes"), ("USE_USDT", "yes")];
    let message = workspace.cargo(&document, &missing).unwrap_err();
    assert!(message.contains("pkg-config is not installed"), "{message}");
    let on_docs_rs = [&missing[..], &[("DOCS_RS", "1")]].concat();
    workspace.cargo(&document, &on_docs_rs).unwrap();
}
