//! Programs of the workspace, built as a user would, apart from the running `cargo test`.
//!
//! `scripts/programs.sh` builds those of nearly all tests at once, with tracing off and on. Only a program that is built in
//! another way, as with another linker, starts Cargo in its test; such tests belong to `make check`.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::{env, fs, io};

use crate::{BUILD_DEADLINE, CommandInTime as _, workspace};

/// A program or library of the workspace, built in a target folder that is not that of the running test: it may have
/// other features.
#[derive(Clone, Debug)]
pub struct Program {
    package: String,
    target: Vec<String>,
    traced: bool,
    /// Where cargo puts it, below the folder of the profile.
    file: String,
    release: bool,
    arguments: Vec<String>,
    variables: Vec<(String, String)>,
    rustc: Vec<String>,
}

impl Program {
    /// An example of a package.
    pub fn example(package: &str, name: &str) -> Program {
        Program::new(package, &["--example", name], format!("examples/{name}"))
    }

    /// A binary of a package.
    pub fn binary(package: &str, name: &str) -> Program {
        Program::new(package, &["--bin", name], name.to_owned())
    }

    /// The library of a package whose crate types include `staticlib`, for C.
    pub fn static_library(package: &str) -> Program {
        Program::new(package, &["--lib"], format!("lib{}.a", package.replace('-', "_")))
    }

    /// The library of a package whose crate types include `cdylib`, for C.
    pub fn dynamic_library(package: &str) -> Program {
        Program::new(package, &["--lib"], format!("lib{}.so", package.replace('-', "_")))
    }

    fn new(package: &str, target: &[&str], file: String) -> Program {
        Program {
            package: package.to_owned(),
            target: target.iter().map(|&word| word.to_owned()).collect(),
            traced: false,
            file,
            release: false,
            arguments: Vec::new(),
            variables: Vec::new(),
            rustc: Vec::new(),
        }
    }

    /// With tracing on: LTTng and probes, unless an [argument](Program::argument) names features.
    pub fn traced(mut self) -> Program {
        self.traced = true;
        self
    }

    /// With the profile `release`.
    pub fn release(mut self) -> Program {
        self.release = true;
        self.argument("--release")
    }

    /// With a further argument for `cargo`.
    pub fn argument(mut self, argument: &str) -> Program {
        self.arguments.push(argument.to_owned());
        self
    }

    /// With a variable in the environment of the build.
    pub fn variable(mut self, name: &str, value: &str) -> Program {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With a flag for `rustc`, for this program and not what it depends on.
    pub fn rustc(mut self, flag: &str) -> Program {
        self.rustc.push(flag.to_owned());
        self
    }

    /// Builds it and returns the path to it.
    ///
    /// Programs of one name that are built differently do not overwrite each other.
    pub fn build(&self) -> PathBuf {
        self.try_build().unwrap_or_else(|errors| panic!("{self:?}\n{errors}"))
    }

    /// As [`build`](Program::build), with what cargo says if the build fails.
    pub fn try_build(&self) -> Result<PathBuf, String> {
        if !self.release && self.arguments.is_empty() && self.variables.is_empty() && self.rustc.is_empty() {
            let kept = PROGRAMS.join(if self.traced { "traced" } else { "off" }).join(&self.file);
            return if kept.exists() {
                Ok(kept)
            } else {
                Err(format!("{}: scripts/programs.sh does not build it", kept.display()))
            };
        }
        // Between cargo's writing of the program and our keeping it, no other build may write it.
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);

        let mut cargo = cargo();
        cargo.args(["rustc", "--quiet", "--package", &self.package]).args(&self.target).args(&self.arguments);
        cargo.args(self.features());
        cargo.arg("--").args(&self.rustc).envs(self.variables.iter().cloned());
        let output = cargo.output_within(BUILD_DEADLINE).expect("cargo runs");
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }

        let profile = if self.release { "release" } else { "debug" };
        let built = target_folder().join(profile).join(&self.file);
        let kept = target_folder().join("programs").join(self.variant()).join(&self.file);
        keep(&built, &kept).unwrap_or_else(|error| panic!("{}: {error}", built.display()));
        Ok(kept)
    }

    fn features(&self) -> Option<String> {
        let is_named = self.arguments.iter().any(|argument| argument.starts_with("--features"));
        (self.traced && !is_named).then(|| "--features=lttng".to_owned())
    }

    /// A name that says how it was built.
    fn variant(&self) -> String {
        let variables = self.variables.iter().map(|(name, value)| format!("{name}={value}"));
        let words = [self.package.clone()].into_iter().chain(self.features());
        let words = words.chain(self.arguments.iter().cloned());
        let words: Vec<_> = words.chain(variables).chain(self.rustc.iter().cloned()).collect();
        words.join(" ").replace(|character: char| !character.is_ascii_alphanumeric(), "-")
    }
}

/// Gives a file another name that stays when the first is written anew.
///
/// A link and no copy, put in place in one step: other tests may be starting the program under that name, which
/// fails while it is missing or somebody has it open to write.
fn keep(built: &Path, kept: &Path) -> io::Result<()> {
    let inode = fs::metadata(built)?.ino();
    if fs::metadata(kept).is_ok_and(|metadata| metadata.ino() == inode) {
        return Ok(());
    }
    fs::create_dir_all(kept.parent().unwrap_or(kept))?;
    let new = kept.with_extension("new");
    let _ = fs::remove_file(&new);
    fs::hard_link(built, &new)?;
    fs::rename(new, kept)
}

/// What `scripts/programs.sh` has built: TEST_PROGRAMS, or built now.
static PROGRAMS: LazyLock<PathBuf> = LazyLock::new(|| {
    if let Some(folder) = env::var_os("TEST_PROGRAMS") {
        return folder.into();
    }
    let mut script = Command::new(workspace().join("scripts/programs.sh"));
    script.arg(target_folder()).succeed_within(BUILD_DEADLINE);
    target_folder().join("programs")
});

/// `cargo` in the folder of the workspace, with the target folder of the tests.
pub fn cargo() -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()));
    // What switches tracing on must come from the test alone.
    cargo
        .current_dir(workspace())
        .env("CARGO_TARGET_DIR", target_folder())
        .env_remove("USE_LTTNG")
        .env_remove("USE_USDT");
    cargo
}

pub(crate) fn target_folder() -> PathBuf {
    workspace().join("target/e2e")
}
