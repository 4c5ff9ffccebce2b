//! Programs that tests run, in Rust, C and C++, and crates outside of the workspace.

use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::Command;

use lttng_catalog::Catalog;
use lttng_provider_build::{BuildFile, COptions, c_sources};
use lttng_testing::{BUILD_DEADLINE, CommandInTime as _, Program, cargo, workspace};
use tempfile::{NamedTempFile, TempDir};

/// What a program without arguments gets.
pub const NO_ARGUMENTS: [&str; 0] = [];

/// A traced program of `fixtures`.
pub fn fixture(name: &str) -> PathBuf {
    Program::binary("lttng-fixtures", name).traced().build()
}

/// The program that does one thing, which its argument names.
pub fn scenario() -> PathBuf {
    fixture("scenario")
}

/// Compiles a file of `fixtures/c`, and returns the program.
pub fn compile_c(source: &str, program: &Path, arguments: &[&str]) -> PathBuf {
    let folder = workspace().join("tests/fixtures/c");
    let mut cc = Command::new("cc");
    cc.arg("-I").arg(&folder).arg(folder.join(source)).arg("-o").arg(program).args(arguments).succeed();
    program.to_owned()
}

/// The program that prints what a trigger captures.
pub fn notified(folder: &Path) -> PathBuf {
    compile_c("notified.c", &folder.join("notified"), &["-l:liblttng-ctl.so.0"])
}

/// A program in C or C++ with generated files: how to build it.
#[derive(Clone, Debug)]
pub struct CProgram<'p> {
    /// `gcc`, `g++`, `clang` or `clang++`.
    pub compiler: &'p str,
    /// The file, relative to the workspace.
    pub source: &'p str,
    /// The catalogs, relative to the workspace.
    pub catalogs: &'p [&'p str],
    /// Flags for all files, e.g. `-DUSE_LTTNG`.
    pub flags: &'p [&'p str],
    /// Flags for the program's own file, e.g. `-std=c++17`.
    pub own_flags: &'p [&'p str],
    /// Whether the generated files record the faster way, or are LTTng's macros alone.
    pub fast: bool,
}

/// A program that is kept as long as its folder.
pub struct Built {
    pub folder: TempDir,
    path: PathBuf,
}

impl Deref for Built {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.path
    }
}

impl AsRef<OsStr> for Built {
    fn as_ref(&self) -> &OsStr {
        self.path.as_os_str()
    }
}

impl<'p> CProgram<'p> {
    /// The example that emits all of Valkey's events, in C99.
    pub fn emit_all(flags: &'p [&'p str]) -> CProgram<'p> {
        let (source, catalogs) = ("examples/c/emit-all.c", VALKEY);
        CProgram { compiler: "gcc", source, catalogs, flags, own_flags: &["-std=c99"], fast: true }
    }

    /// The program of `fixtures` with a little of everything, in C99.
    pub fn odd(flags: &'p [&'p str]) -> CProgram<'p> {
        let catalogs = &["catalog/valkey.toml", "tests/catalogs/probing.toml"];
        CProgram { source: "tests/fixtures/c/odd.c", catalogs, ..CProgram::emit_all(flags) }
    }

    /// Builds it. Every warning is an error.
    pub fn build(&self) -> Built {
        let temporary = tempfile::tempdir().expect("a temporary folder");
        let folder = temporary.path();
        let sources = generate_c(self.catalogs, self.fast, &folder.join("generated"));
        let mut objects = vec![self.compile(&workspace().join(self.source), folder, self.own_flags)];
        // The generated headers are C and C++, and the other files are C.
        let compiler = match self.compiler {
            "g++" => "gcc",
            "clang++" => "clang",
            c => c,
        };
        let standard = self.own_flags.iter().find(|flag| flag.starts_with("-std=") && !flag.contains("++"));
        let in_c = CProgram { compiler, ..*self };
        for source in sources {
            objects.push(in_c.compile(&source, folder, &[standard.unwrap_or(&"-std=c99")]));
        }
        let path = folder.join("program");
        let mut link = Command::new(self.compiler);
        // Warnings of link-time optimization are errors, too.
        link.args(["-O2", "-Werror"]).args(self.flags).args(objects);
        let linked = !self.fast && self.flags.contains(&"-DUSE_LTTNG");
        link.arg("-o").arg(&path).args(linked.then_some("-llttng-ust")).args(["-ldl", "-lm"]).succeed();
        Built { folder: temporary, path }
    }

    /// Compiles a file, unless the same compiler has compiled the same with the same flags before. What the preprocessor
    /// makes of the file, with all that it includes, tells.
    fn compile(&self, source: &Path, folder: &Path, more: &[&str]) -> PathBuf {
        let mut flags = vec!["-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror"];
        flags.extend(self.flags.iter().chain(more));
        let compiler = |arguments: &[&str]| {
            let mut command = Command::new(self.compiler);
            command.args(&flags).args(arguments).arg("-I").arg(folder.join("generated")).arg(source);
            command
        };
        let version = Command::new(self.compiler).arg("--version").succeed();
        let mut hasher = DefaultHasher::new();
        (version, &flags, compiler(&["-E", "-P"]).succeed()).hash(&mut hasher);
        let objects = target().join("objects");
        fs::create_dir_all(&objects).expect("the target folder is writable");
        let object = objects.join(format!("{:016x}.o", hasher.finish()));
        if !object.exists() {
            let new = NamedTempFile::new_in(&objects).expect("the target folder is writable");
            compiler(&["-c"]).arg("-o").arg(new.path()).succeed();
            new.persist(&object).expect("the target folder is writable");
        }
        object
    }
}

/// The catalog of Valkey's events, relative to the workspace.
pub const VALKEY: &[&str] = &["catalog/valkey.toml"];

/// Writes what is generated for C, and returns the files to compile.
pub fn generate_c(catalogs: &[&str], fast: bool, folder: &Path) -> Vec<PathBuf> {
    let read =
        |path: &&str| Catalog::read(workspace().join(path)).unwrap_or_else(|errors| panic!("{errors}"));
    let catalogs: Vec<Catalog> = catalogs.iter().map(read).collect();
    let mut options = COptions::default();
    (options.fast, options.stopwatches, options.dtrace_macros) = (fast, true, true);
    options.build_files = vec![BuildFile::Automake, BuildFile::CMake, BuildFile::Make, BuildFile::PkgConfig];
    let files = c_sources(&catalogs, &options).expect("no names clash");
    fs::create_dir_all(folder).expect("the folder is writable");
    for file in &files {
        fs::write(folder.join(&file.name), &file.text).expect("the folder is writable");
    }
    files.iter().filter(|file| file.is_c_source()).map(|file| folder.join(&file.name)).collect()
}

/// The probes that readelf finds.
pub fn noted(program: &Path) -> Vec<String> {
    let notes = Command::new("readelf").arg("--notes").arg(program).succeed();
    let of = |key: &str| -> Vec<String> {
        notes.lines().filter_map(|line| Some(line.trim().strip_prefix(key)?.trim().to_owned())).collect()
    };
    assert!(
        !notes.contains("Semaphore: 0x0000000000000000") && !notes.contains("Location: 0x0000000000000000")
    );
    let pairs = of("Provider:").into_iter().zip(of("Name:"));
    let mut names: Vec<String> = pairs.map(|(provider, name)| format!("{provider}:{name}")).collect();
    names.sort();
    names
}

/// A crate that is not of this workspace, as a user would begin one: with a build script that compiles `catalog.toml`.
pub struct Crate {
    name: String,
    pub folder: PathBuf,
}

/// The build script.
pub const BUILD: &str = "fn main() {\n    lttng_provider_build::compile(\"catalog.toml\");\n}\n";

impl Crate {
    /// A crate with this in its manifest, before the dependencies, and a build script.
    pub fn new(name: &str, manifest: &str) -> Crate {
        let folder = target().join("crates").join(name);
        let _ = fs::remove_dir_all(&folder);
        let fresh = Crate { name: name.to_owned(), folder };
        let path = |name: &str| format!("{name} = {{ path = {:?} }}", workspace().join(name));
        let package =
            format!("[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n");
        let features = "[features]\nlttng = [\"lttng-provider/lttng\"]\n";
        let needed = [path("lttng-provider"), path("lttng-provider-build")];
        let needed = format!("[dependencies]\n{}\n[build-dependencies]\n{}\n", needed[0], needed[1]);
        fresh.write("Cargo.toml", &format!("{package}{manifest}{features}{needed}"));
        fresh.write("build.rs", BUILD);
        // The versions that the workspace has, so that none is looked for on the network.
        fs::copy(workspace().join("Cargo.lock"), fresh.folder.join("Cargo.lock")).unwrap();
        fresh
    }

    pub fn write(&self, file: &str, text: &str) {
        let path = self.folder.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Replaces a text in a file, which must be there.
    pub fn replace(&self, file: &str, from: &str, to: &str) {
        let text = fs::read_to_string(self.folder.join(file)).unwrap();
        assert!(text.contains(from), "{file} has no {from}");
        self.write(file, &text.replace(from, to));
    }

    /// The program, or what cargo says.
    pub fn build(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Result<PathBuf, String> {
        let mut cargo = cargo();
        cargo.args(["build", "--offline"]).args(arguments).envs(variables.iter().copied());
        let output = cargo.current_dir(&self.folder).output_within(BUILD_DEADLINE).unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() { Ok(target().join("debug").join(&self.name)) } else { Err(errors) }
    }
}

/// Where `cargo()` builds.
pub fn target() -> PathBuf {
    workspace().join("target/e2e")
}
