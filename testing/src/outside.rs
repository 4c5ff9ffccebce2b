//! Crates as they are published, for programs outside of the workspace.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use crate::program::{cargo, target_folder};
use crate::{BUILD_DEADLINE, CommandInTime as _, workspace};

/// Builds a copy of the program in this folder of the workspace, against the packages of the crates that its manifest
/// patches. Returns the folder of what was built.
pub fn build_outside(folder: &str) -> PathBuf {
    let target = target_folder().join("outside");
    let copy = target.join(folder);
    copy_files(&workspace().join(folder), &copy);
    let manifest = fs::read_to_string(copy.join("Cargo.toml")).expect("a program has a manifest");
    let (manifest, patches) = manifest.split_once("[patch.crates-io]\n").expect("our crates are patched");
    let crates: Vec<&str> = patches.lines().map_while(|line| Some(line.split_once(" = { path")?.0)).collect();

    let mut package = cargo();
    package.args(["package", "--quiet", "--no-verify", "--allow-dirty", "--offline", "--target-dir"]);
    package
        .arg(&target)
        .args(crates.iter().flat_map(|name| ["--package", name]))
        .succeed_within(BUILD_DEADLINE);
    let mut manifest = format!("{manifest}[workspace]\n\n[patch.crates-io]\n");
    for name in crates {
        let package = target.join("package").join(format!("{name}-{}", env!("CARGO_PKG_VERSION")));
        let mut unpack = Command::new("tar");
        // What is packed has always the same date, by which Cargo would not see that it changed.
        unpack.args(["--touch", "-C"]).arg(target.join("package"));
        unpack.arg("-xf").arg(format!("{}.crate", package.display())).succeed();
        manifest += &format!("{name} = {{ path = {package:?} }}\n");
    }
    fs::write(copy.join("Cargo.toml"), manifest).unwrap();
    // The versions of this workspace, which are available without a network.
    fs::copy(workspace().join("Cargo.lock"), copy.join("Cargo.lock")).unwrap();
    let mut build = cargo();
    build.args(["build", "--quiet", "--offline", "--target-dir"]).arg(&target).current_dir(&copy);
    build.succeed_within(BUILD_DEADLINE);
    target.join("debug")
}

fn copy_files(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            copy_files(&entry.path(), &to.join(entry.file_name()));
        } else {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}
