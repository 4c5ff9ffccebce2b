//! Tells the program its version with the commit that it was built from: `VERSION_WITH_COMMIT`.
//!
//! `catalog-tool/build.rs` and `fleet/build.rs` are links to this file. A release build is made again after each commit; a debug
//! build only when its sources change, so that a commit does not compile everything again.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// What the programs are made of, beside their own folder; a test compares it with what Cargo says.
pub const CRATES: [&str; 5] = ["analysis", "catalog", "ctf", "live", "lttng-provider-build"];

/// Entries of a crate's folder that are not part of a program.
const OTHERS: [&str; 6] = ["README.md", "benches", "doc", "fuzz", "target", "tests"];

/// Digits of a commit, enough to be unique for a long time.
const DIGITS: usize = 10;

fn main() {
    let folder = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let version = env::var("CARGO_PKG_VERSION").expect("cargo sets it");
    let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let version = match commit(&folder) {
        Some(commit) => format!("{version} ({commit})"),
        None => version,
    };
    println!("cargo::rustc-env=VERSION_WITH_COMMIT={version}");
    let git_files = if is_release { git_files(&folder) } else { Vec::new() };
    for path in sources(&folder).iter().chain(&git_files) {
        println!("cargo::rerun-if-changed={}", path.display());
    }
}

/// The commit of the package in this folder, with `-dirty` after it if its sources differ; `None` if nothing says it.
pub fn commit(folder: &Path) -> Option<String> {
    // A package from the registry may lie within somebody else's repository.
    let packaged = folder.join(".cargo_vcs_info.json");
    if packaged.exists() { from_package(&fs::read_to_string(packaged).ok()?) } else { from_git(folder) }
}

/// What `cargo package` writes: `{"git": {"sha1": "…", "dirty": true}, …}`.
fn from_package(json: &str) -> Option<String> {
    let commit = json.split("\"sha1\"").nth(1)?.split('"').nth(1)?;
    let is_commit = commit.len() >= DIGITS && commit.bytes().all(|digit| digit.is_ascii_hexdigit());
    let after = json.split("\"dirty\"").nth(1).unwrap_or_default();
    let is_dirty = after.trim_start_matches([':', ' ']).starts_with("true");
    is_commit.then(|| named(commit, is_dirty))
}

fn from_git(folder: &Path) -> Option<String> {
    if !is_ours(folder) {
        return None;
    }
    let commit = git(folder, &["rev-parse", "HEAD"])?;
    let mut status = vec!["status", "--porcelain", "--untracked-files=no", "--"];
    let sources = sources(folder);
    status.extend(sources.iter().filter_map(|path| path.to_str()));
    let changes = git(folder, &status)?;
    (commit.len() > DIGITS).then(|| named(&commit, !changes.is_empty()))
}

fn named(commit: &str, is_dirty: bool) -> String {
    format!("{}{}", &commit[..DIGITS], if is_dirty { "-dirty" } else { "" })
}

/// The files and folders that the program is made of.
pub fn sources(folder: &Path) -> Vec<PathBuf> {
    if !is_ours(folder) {
        return vec![folder.to_owned()];
    }
    let top = folder.parent().unwrap_or(folder);
    let crates = CRATES.iter().map(|name| top.join(name)).chain([folder.to_owned()]);
    let entries = crates.filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    let entries = entries.filter(|entry| !OTHERS.iter().any(|other| entry.file_name() == *other));
    let mut sources: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    sources.extend(["Cargo.lock", "Cargo.toml"].map(|name| top.join(name)));
    sources.sort();
    sources
}

/// The files and folders of Git that change when another commit is checked out or made.
fn git_files(folder: &Path) -> Vec<PathBuf> {
    let names = if is_ours(folder) { &["HEAD", "refs/heads"][..] } else { &[] };
    let paths = names.iter().filter_map(|name| git(folder, &["rev-parse", "--git-path", name]));
    paths.map(|path| folder.join(path.trim_end())).filter(|path| path.exists()).collect()
}

/// Whether the package lies where it does in its own repository: one folder below the top.
fn is_ours(folder: &Path) -> bool {
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let prefix = git(folder, &["rev-parse", "--show-prefix"]);
    prefix.is_some_and(|prefix| prefix.trim_end() == format!("{name}/"))
        && git(folder, &["ls-files", "--error-unmatch", "Cargo.toml"]).is_some()
}

/// What Git says, or `None` if it fails or is not installed.
fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let mut git = Command::new("git");
    // `status` would otherwise write the index, which others may be using.
    git.arg("--no-optional-locks").arg("-C").arg(folder).args(arguments);
    // A hook of Git's that builds has these, and they may be about another repository.
    ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"].iter().for_each(|name| _ = git.env_remove(name));
    let output = git.output().ok()?;
    if output.status.success() { String::from_utf8(output.stdout).ok() } else { None }
}
