//! Building programs of the workspace as a user would, apart from the running `cargo test`.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

/// A program of the workspace, to be built with `cargo` in a target folder of its own: the build that runs
/// the test holds the lock of the usual one, and may have other features.
#[derive(Clone, Debug)]
pub struct Program {
    name: String,
    kind: &'static str,
    package: String,
    release: bool,
    arguments: Vec<String>,
    variables: Vec<(String, String)>,
    rustc: Vec<String>,
}

impl Program {
    /// An example of a package.
    pub fn example(package: &str, name: &str) -> Program {
        Program::new(package, "--example", name)
    }

    /// A binary of a package.
    pub fn binary(package: &str, name: &str) -> Program {
        Program::new(package, "--bin", name)
    }

    fn new(package: &str, kind: &'static str, name: &str) -> Program {
        Program {
            name: name.to_owned(),
            kind,
            package: package.to_owned(),
            release: false,
            arguments: Vec::new(),
            variables: Vec::new(),
            rustc: Vec::new(),
        }
    }

    /// With the package's feature `lttng`: tracing on.
    pub fn traced(self) -> Program {
        self.argument("--features=lttng")
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

    /// Builds the program and returns the path to it.
    ///
    /// Programs of one name that are built differently do not overwrite each other.
    pub fn build(&self) -> PathBuf {
        // Between cargo's writing of the program and our moving it away, no other build may write it.
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner());

        let target = workspace().join("target/e2e");
        let mut cargo = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()));
        cargo.current_dir(workspace()).arg("rustc").arg("--quiet").arg("--target-dir").arg(&target);
        cargo.args(["--package", &self.package, self.kind, &self.name]).args(&self.arguments);
        cargo.arg("--").args(&self.rustc);
        // What switches tracing on must come from the test alone.
        cargo.env_remove("USE_LTTNG").envs(self.variables.iter().cloned());
        let output = cargo.output().expect("cargo runs");
        assert!(output.status.success(), "{cargo:?}\n{}", String::from_utf8_lossy(&output.stderr));

        let profile = if self.release { "release" } else { "debug" };
        let examples = if self.kind == "--example" { "examples" } else { "" };
        let built = target.join(profile).join(examples).join(&self.name);
        let programs = target.join("programs");
        fs::create_dir_all(&programs).expect("a folder for programs");
        let kept = programs.join(self.variant());
        // A new file each time: the old one may be running.
        let _ = fs::remove_file(&kept);
        fs::copy(&built, &kept).unwrap_or_else(|error| panic!("{}: {error}", built.display()));
        kept
    }

    /// A file name that says how the program was built.
    fn variant(&self) -> String {
        let variables = self.variables.iter().map(|(name, value)| format!("{name}-{value}"));
        let all = [self.package.clone(), self.name.clone()].into_iter();
        let all =
            all.chain(self.arguments.iter().cloned()).chain(variables).chain(self.rustc.iter().cloned());
        let name = all.collect::<Vec<_>>().join("-");
        name.replace(|character: char| !character.is_ascii_alphanumeric(), "-")
    }
}

/// The folder of the workspace.
pub fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("testing/ is a folder of the workspace")
}
