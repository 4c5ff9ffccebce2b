//! C programs beside ours.
#![allow(dead_code, reason = "each test uses some of it")]

use std::path::{Path, PathBuf};
use std::process::Command;

use lttng_catalog::Catalog;
use lttng_testing::{CommandInTime as _, workspace};

/// Compiles a file of `fixtures/c`, and returns the program.
pub fn compile_c(source: &str, program: &Path, arguments: &[&str]) -> PathBuf {
    let folder = workspace().join("tests/fixtures/c");
    let mut cc = Command::new("cc");
    cc.arg("-I").arg(&folder).arg(folder.join(source)).arg("-o").arg(program).args(arguments);
    let output = cc.output_in_time().expect("a C compiler is installed");
    assert!(output.status.success(), "{cc:?}\n{}", String::from_utf8_lossy(&output.stderr));
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
}

impl CProgram<'_> {
    /// Builds it below this folder. Every warning is an error.
    pub fn build(&self, folder: &Path) -> PathBuf {
        let generated = folder.join("generated");
        let sources = generate_c(self.catalogs, &generated);
        let mut objects =
            vec![self.compile(self.compiler, &workspace().join(self.source), folder, self.own_flags)];
        // The generated files are C and C++.
        let standard = self.own_flags.iter().find(|flag| flag.starts_with("-std=")).unwrap_or(&"-std=c99");
        let language = if self.compiler.ends_with("++") { "c++" } else { "c" };
        for source in sources {
            objects.push(self.compile(self.compiler, &source, folder, &[standard, "-x", language]));
        }
        let program = folder.join("program");
        let mut link = Command::new(self.compiler);
        // Warnings of link-time optimization are errors, too.
        link.args(["-O2", "-Werror"])
            .args(self.flags)
            .args(objects)
            .arg("-o")
            .arg(&program)
            .args(["-ldl", "-lm"]);
        succeed(link);
        program
    }

    fn compile(&self, compiler: &str, source: &Path, folder: &Path, more: &[&str]) -> PathBuf {
        // The program's file and a provider's may have one name.
        let is_own = source == workspace().join(self.source);
        let name = source.with_extension(if is_own { "own.o" } else { "o" });
        let object = folder.join(name.file_name().expect("a file has a name"));
        let mut command = Command::new(compiler);
        command.args(["-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-c"]).args(self.flags).args(more);
        command.arg("-I").arg(folder.join("generated")).arg(source).arg("-o").arg(&object);
        succeed(command);
        object
    }
}

/// Writes what is generated for C, and returns the files to compile.
pub fn generate_c(catalogs: &[&str], folder: &Path) -> Vec<PathBuf> {
    let read =
        |path: &&str| Catalog::read(workspace().join(path)).unwrap_or_else(|errors| panic!("{errors}"));
    let catalogs: Vec<Catalog> = catalogs.iter().map(read).collect();
    let files = lttng_provider_build::c_sources(&catalogs).expect("no names clash");
    std::fs::create_dir_all(folder).expect("the folder is writable");
    for file in &files {
        std::fs::write(folder.join(&file.name), &file.text).expect("the folder is writable");
    }
    files.iter().filter(|file| file.is_c_source()).map(|file| folder.join(&file.name)).collect()
}

/// Runs a command that must succeed, and returns what it prints.
pub fn succeed(mut command: Command) -> String {
    let output =
        command.output_in_time().unwrap_or_else(|error| panic!("{command:?}: {error}; run `make setup`"));
    let (printed, errors) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{printed}{errors}", output.status);
    printed.into_owned()
}

/// The probes that readelf finds.
pub fn noted(program: &Path) -> Vec<String> {
    let mut readelf = Command::new("readelf");
    readelf.arg("--notes").arg(program);
    let notes = succeed(readelf);
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
