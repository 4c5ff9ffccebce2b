//! Crates as they are published, for programs outside of the workspace.

use std::path::Path;
use std::process::Command;

use lttng_testing::{cargo, workspace};

/// A Cargo command for the program in a folder of the workspace, which is built against the packages of these crates.
pub fn outside(folder: &str, crates: &[&str]) -> Command {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("outside");
    let mut package = cargo();
    package
        .args(["package", "--quiet", "--no-verify", "--allow-dirty", "--offline", "--target-dir"])
        .arg(&target);
    package.args(crates.iter().flat_map(|name| ["--package", name]));
    assert!(package.status().expect("cargo runs").success());
    let mut run = cargo();
    run.args(["run", "--quiet", "--manifest-path"]).arg(workspace().join(folder).join("Cargo.toml"));
    run.arg("--target-dir").arg(&target);
    for name in crates {
        let package = target.join("package").join(format!("{name}-{}", env!("CARGO_PKG_VERSION")));
        let mut unpack = Command::new("tar");
        unpack.arg("-xf").arg(format!("{}.crate", package.display())).arg("-C").arg(target.join("package"));
        assert!(unpack.status().expect("tar is installed").success());
        run.arg("--config").arg(format!("patch.crates-io.{name}.path={:?}", package.display().to_string()));
    }
    run.arg("--");
    run
}
