//! Programs that use the library from C, Python and Ruby.
#![allow(dead_code, reason = "each test uses some of it")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use lttng_testing::Daemon;

/// The library that cargo has built for this test.
pub fn library() -> PathBuf {
    let test = std::env::current_exe().expect("the test has a path");
    let folders = test.ancestors().skip(1).take(2).map(|folder| folder.join("liblttng_runtime.so"));
    folders.into_iter().find(|path| path.exists()).expect("cargo builds the library before its tests")
}

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A program of `programs/`, compiled for the library.
pub fn compile(source: &str, to: &Path) -> PathBuf {
    compile_with("gcc", &["-std=gnu99", "-O2"], source, to)
}

pub fn compile_with(compiler: &str, flags: &[&str], source: &str, to: &Path) -> PathBuf {
    let program = to.join(source.replace(['.', '/'], "-"));
    let programs = folder().join("tests/programs");
    let mut command = Command::new(compiler);
    command.args(["-Wall", "-Wextra", "-Werror", "-pthread"]).args(flags).current_dir(&programs);
    command.arg("-I").arg(folder().join("include")).arg("-I.");
    if compiler.ends_with("++") {
        command.args(["-x", "c++"]);
    }
    command.arg(source).args(["-x", "none", "-o"]).arg(&program);
    if matches!(source, "exercise.c" | "both.c") {
        command.arg(library()).arg(format!("-Wl,-rpath,{}", library().parent().unwrap().display()));
    }
    if matches!(source, "twin.c" | "both.c") {
        command.arg("-llttng-ust");
    }
    if source.ends_with("notified.c") {
        command.arg("-l:liblttng-ctl.so.0");
    }
    command.arg("-ldl");
    succeed(command);
    program
}

/// Python with the binding on its path; the code finds it under its short names.
pub fn python(daemon: &Daemon, code: &str) -> Command {
    python_by(daemon.command("python3"), code)
}

/// As `python`, started by a command that ends with its name.
pub fn python_by(mut python: Command, code: &str) -> Command {
    let imports = "import os, random, sys\nfrom lttng_runtime import *\n";
    python.args(["-c", &format!("{imports}{code}")]);
    python.env("PYTHONPATH", folder().join("python")).env("LTTNG_RUNTIME_LIBRARY", library());
    python
}

/// Ruby with the binding on its path.
pub fn ruby(daemon: &Daemon, code: &str) -> Command {
    let mut ruby = daemon.command("ruby");
    ruby.arg("-I").arg(folder().join("ruby")).args(["-r", "lttng_runtime", "-e", code]);
    ruby.env("LTTNG_RUNTIME_LIBRARY", library());
    ruby
}

/// Runs a command that must succeed, and returns what it prints.
pub fn succeed(mut command: Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}; run `make setup`"));
    let (printed, errors) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{printed}{errors}", output.status);
    printed.into_owned()
}

/// Python that stops wherever its code says `step()`.
pub struct Steps {
    process: Child,
    output: BufReader<ChildStdout>,
}

impl Steps {
    /// Runs the code up to its first step.
    pub fn start(daemon: &Daemon, code: &str) -> Steps {
        let step = "def step(): print('at a step', flush=True) or sys.stdin.readline() or sys.exit()\n";
        let mut command = python(daemon, &format!("{step}{code}"));
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let output = BufReader::new(process.stdout.take().expect("it is piped"));
        let mut steps = Steps { process, output };
        steps.wait();
        steps
    }

    /// Runs the code up to the next step.
    pub fn step(&mut self) {
        self.process.stdin.as_mut().expect("it is piped").write_all(b"\n").expect("the program reads");
        self.wait();
    }

    fn wait(&mut self) {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("the program answers");
        assert_eq!(line, "at a step\n");
    }

    pub fn id(&self) -> u32 {
        self.process.id()
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}
