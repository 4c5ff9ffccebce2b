//! A traced program that emits what a test asks for, when it asks.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

use lttng_testing::{Daemon, must_end};

/// How long the program may take to end.
const DEADLINE: Duration = Duration::from_secs(30);

/// The running program; dropping it lets it end.
pub struct Tracee {
    process: Child,
    requests: Option<ChildStdin>,
    answers: Option<BufReader<ChildStdout>>,
}

impl Tracee {
    /// Starts the program where the daemon traces it.
    pub fn start(daemon: &Daemon) -> Self {
        let mut command = daemon.command(program());
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it runs");
        let requests = process.stdin.take();
        let answers = process.stdout.take().map(BufReader::new);
        Self { process, requests, answers }
    }

    /// Emits a number of events of a kind (`every_type`, `work` or `big`) and waits until it has.
    pub fn emit(&mut self, kind: &str, count: u64) {
        let requests = self.requests.as_mut().expect("it runs until it is dropped");
        writeln!(requests, "{kind} {count}").expect("it reads");
        let mut answers = self.answers.take().expect("it has answered before");
        let (answers, answer) = must_end(&format!("emitting {count} events {kind}"), move || {
            let mut answer = String::new();
            answers.read_line(&mut answer).expect("it answers");
            (answers, answer)
        });
        self.answers = Some(answers);
        assert_eq!(answer, "done\n");
    }
}

impl Drop for Tracee {
    fn drop(&mut self) {
        // The end of its input ends it.
        drop(self.requests.take());
        let began = Instant::now();
        while let Ok(None) = self.process.try_wait() {
            if began.elapsed() > DEADLINE {
                eprintln!("the traced program {} does not end and is killed", self.process.id());
                _ = self.process.kill();
                _ = self.process.wait();
            }
            sleep(Duration::from_millis(1));
        }
    }
}

/// Compiles the program once.
pub fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let sources = lttng_testing::workspace().join("ctf/tests/tracee");
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tracee");
        // Another test binary may be starting the program under its name meanwhile.
        let new = program.with_extension(std::process::id().to_string());
        let mut compile = Command::new("cc");
        compile.args(["-O1", "-Wall", "-I"]).arg(&sources).arg(sources.join("tracee.c"));
        let status = compile.arg("-o").arg(&new).args(["-llttng-ust", "-ldl"]).status();
        assert!(status.expect("a C compiler is installed").success());
        std::fs::rename(new, &program).expect("it was just written");
        program
    })
}
