//! Tables in a bucket of an S3 server on loopback: moto, from PyPI.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use lttng_testing::{ChildInTime as _, CommandInTime as _, Daemon, Program, python, wait_until, workspace};
use tempfile::TempDir;

use crate::equal::duckdb_counts;
use crate::handwritten::{BEGIN, Handwritten, requests as handwritten};
use crate::run::{files, rows, said};

const PROGRAM: &str = env!("CARGO_BIN_EXE_ltt-parquet");
const TABLES: &str = "s3://fleet/tables";

/// A server with an empty bucket; it ends when this is dropped.
struct Server {
    python: PathBuf,
    url: String,
    process: Child,
    _input: ChildStdin,
}

impl Server {
    /// Starts it; `settings` are variables of its environment.
    fn start(settings: &[(&str, &str)]) -> Option<Server> {
        let packages = ["moto[server]", "boto3", "deltalake", "polars", "duckdb"];
        let python = python(&packages, Duration::from_secs(300))?;
        let mut process = script(&python, "serve")
            .envs(settings.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it runs");
        let input = process.stdin.take().expect("a pipe");
        let mut url = String::new();
        BufReader::new(process.stdout.take().expect("a pipe")).read_line(&mut url).expect("it writes");
        Some(Server { python, url: url.trim().to_owned(), process, _input: input })
    }

    /// All that is in the bucket now.
    fn fetch(&self) -> TempDir {
        let folder = tempfile::tempdir().expect("a temporary folder");
        script(&self.python, "fetch").arg(&self.url).arg(folder.path()).succeed();
        folder
    }

    /// The number of rows and of files by the table's log.
    fn count(&self, table: &str) -> String {
        script(&self.python, "count").args([&self.url, table]).succeed().trim().to_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

fn script(python: &Path, command: &str) -> Command {
    let mut script = Command::new(python);
    script.arg(workspace().join("fleet/tests/bucket.py")).arg(command).env("NO_PROXY", "127.0.0.1");
    script
}

/// Tells a program where the bucket is, and where to write what is not uploaded yet.
fn reach<'c>(command: &'c mut Command, url: &str, temporary: &Path) -> &'c mut Command {
    command
        .env("AWS_ACCESS_KEY_ID", "test")
        .env("AWS_SECRET_ACCESS_KEY", "test")
        .env("AWS_REGION", "us-east-1");
    command.env("AWS_ENDPOINT_URL", url).env("AWS_ALLOW_HTTP", "true").env("NO_PROXY", "127.0.0.1");
    command.env("TMPDIR", temporary)
}

/// What becomes of a server in the middle of an upload.
#[derive(Clone, Copy, PartialEq)]
enum Fate {
    /// It does not answer any more.
    Stuck,
    /// It ends, and its port is closed.
    Gone,
}

/// Forwards to a server until this number of bytes was sent to it; then its fate comes, and the flag is set.
fn fated(fate: Fate, bytes: usize, server: &str) -> (String, Arc<AtomicBool>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    let server = server.trim_start_matches("http://").to_owned();
    let (is_over, sent) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let tell = Arc::clone(&is_over);
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            if fate == Fate::Gone && tell.load(Ordering::Relaxed) {
                return;
            }
            let server = TcpStream::connect(&server).expect("it listens");
            let (mut answers, mut asks) =
                (server.try_clone().expect("a socket"), client.try_clone().expect("a socket"));
            thread::spawn(move || std::io::copy(&mut answers, &mut asks));
            let (tell, sent) = (Arc::clone(&tell), Arc::clone(&sent));
            thread::spawn(move || {
                let (mut client, mut server) = (client, server);
                let mut buffer = [0; 16384];
                while let Ok(read) = client.read(&mut buffer)
                    && read > 0
                {
                    if sent.fetch_add(read, Ordering::Relaxed) > bytes {
                        tell.store(true, Ordering::Relaxed);
                        if fate == Fate::Stuck {
                            // The server must not see an end, which it might take for that of the object.
                            loop {
                                thread::park();
                            }
                        }
                        _ = client.shutdown(Shutdown::Both);
                        // Lets the listener end.
                        _ = TcpStream::connect(address);
                        return;
                    }
                    _ = server.write_all(&buffer[..read]);
                }
            });
        }
    });
    (format!("http://{address}"), is_over)
}

/// A trace of 300 events of 50 kB, which cannot be compressed.
fn large_trace(folder: &Path, begin: u64) {
    let mut state = begin | 1;
    let letters: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"[(state >> 58) as usize]
    })
    .take(400_000)
    .collect();
    let mut trace = Handwritten::new("large~host");
    let class = trace.class("app:blob", "string _text;");
    for event in 0..300 {
        let from = event as usize * 77_777 % 350_000;
        trace.event_at(begin + event * 1000, class, &[&letters[from..from + 50_000], b"\0"]);
    }
    trace.write_to(folder);
}

/// Runs the program on a folder with the bucket of a server.
fn run(folder: &TempDir, arguments: &[&str], url: &str) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(arguments).current_dir(folder.path()).env_remove("LTT_TOP_CATALOG");
    reach(&mut command, url, folder.path());
    command
}

/// The same, to its end, which must be success; returns what it says.
fn succeed(folder: &TempDir, arguments: &[&str], url: &str) -> String {
    let (status, text) = said(&mut run(folder, arguments, url));
    assert_eq!(status, 0, "{arguments:?}: {text}");
    text
}

/// A folder with two traces of one host.
fn two_traces() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    large_trace(&folder.path().join("first"), BEGIN);
    large_trace(&folder.path().join("second"), BEGIN + 1_000_000_000);
    folder
}

#[test]
#[ignore = "make check: an S3 server from PyPI"]
fn a_bucket_has_whole_files_whoever_is_killed_and_readers_see_each_row_once() {
    let Some(server) = Server::start(&[]) else { return };
    let folder = two_traces();
    let export = ["--output", TABLES, "--delta", "first"];
    // In the middle of the second part.
    let (url, is_stuck) = fated(Fate::Stuck, 10_000_000, &server.url);
    let mut killed = run(&folder, &export, &url).stderr(Stdio::null()).spawn().expect("it runs");
    wait_until("the upload is half done", || is_stuck.load(Ordering::Relaxed));
    killed.kill().expect("it was started");
    killed.wait_in_time().expect("it ends");
    assert!(files(&server.fetch().path().join("tables"), "events").is_empty(), "half a file can be read");

    let succeed = |arguments: &[&str]| succeed(&folder, arguments, &server.url);
    // Waits until the lease of the one that was killed has expired.
    succeed(&export);
    succeed(&export);
    assert_eq!(server.count("events"), "300 1");
    succeed(&["--output", TABLES, "second"]);
    assert_eq!(server.count("events"), "600 2");
    let text = succeed(&["compact", "--grace", "0s", TABLES]);
    assert!(text.contains("made 2 files of 4 files"), "{text}");
    assert_eq!((server.count("events"), server.count("groups").ends_with(" 1")), ("600 1".into(), true));
    let fetched = server.fetch();
    let tables = fetched.path().join("tables");
    assert_eq!((rows(&tables, "events"), files(&tables, "events").len()), (600, 1));
    assert_eq!(duckdb_counts(&server.python, &tables), [600, 600]);
    assert!(fs::read_dir(tables.join("_ltt/locks")).is_err(), "locks are given back");
    let text = succeed(&["prune", "--keep", "30d", "--grace", "0s", TABLES]);
    assert!(text.contains("removed 1 day"), "{text}");
    assert!(files(&server.fetch().path().join("tables"), "events").is_empty());
}

#[test]
#[ignore = "make check: an S3 server from PyPI"]
fn a_server_that_goes_in_the_middle_loses_nothing_and_two_may_export_at_once() {
    let Some(server) = Server::start(&[]) else { return };
    let folder = two_traces();
    let (url, _) = fated(Fate::Gone, 10_000_000, &server.url);
    let (status, text) = said(&mut run(&folder, &["--output", TABLES, "--delta", "first", "second"], &url));
    assert!(status == 1 && text.lines().count() == 1 && text.contains("; run it again"), "{status} {text}");
    assert!(files(&server.fetch().path().join("tables"), "events").is_empty(), "half a file can be read");
    let both = ["first", "second"].map(|trace| {
        let mut command = run(&folder, &["--output", TABLES, "--delta", trace], &server.url);
        command.stderr(Stdio::null()).spawn().expect("it runs")
    });
    both.into_iter().for_each(|mut run| assert!(run.wait_in_time().expect("it ends").success()));
    assert!(server.count("events").starts_with("600 "), "{}", server.count("events"));
    assert_eq!(rows(&server.fetch().path().join("tables"), "events"), 600);
}

#[test]
#[ignore = "make check: an S3 server from PyPI"]
fn what_is_wrong_with_a_bucket_is_said_in_one_line() {
    // It knows no users: after the bucket was made, it refuses everything.
    let Some(strict) = Server::start(&[("INITIAL_NO_AUTH_ACTION_COUNT", "1")]) else { return };
    let Some(server) = Server::start(&[]) else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    handwritten("ü/=%41 host", &[("get", 1)]).write_to(&folder.path().join("t"));
    let cases: [(&[&str], &str, &str); 9] = [
        (
            &["t", "--output", "s3://fleet/x"],
            &strict.url,
            "the server refuses these credentials: The AWS Access Key",
        ),
        (
            &["t", "--output", "s3://gone/x"],
            &server.url,
            "s3://gone/x/incidents: cannot list it: The specified bucket",
        ),
        (
            &["prune", "--keep", "30d", "s3://fleet/x"],
            &server.url,
            "s3://fleet/x: no tables of ltt-parquet here",
        ),
        (&["compact", "s3://fleet/x"], &server.url, "s3://fleet/x: no tables of ltt-parquet here"),
        (&["t", "--output", "s3://fleet/x"], "http://127.0.0.1:1", "Connection refused"),
        (&["t", "--output", "s3://fleet/x"], "nonsense", "AWS_ENDPOINT_URL: nonsense: write a URL"),
        (
            &["t", "--output", "s3://fleet/a//b"],
            &server.url,
            "s3://fleet/a//b: Path \"a//b\" contained empty",
        ),
        (&["t", "--output", "s3:///x"], &server.url, "s3:///x: name a bucket"),
        (&["t", "--output", "ftp://fleet/x"], &server.url, "ftp://fleet/x: ftp:// is not supported"),
    ];
    for (arguments, url, because) in cases {
        let (status, text) = said(&mut run(&folder, arguments, url));
        assert_eq!((status, text.lines().count()), (1, 1), "{arguments:?}: {text}");
        assert!(text.starts_with("ltt-parquet: error: ") && text.contains(because), "{arguments:?}: {text}");
    }
    let odd = "s3://fleet/odd ü?a#b%41/x y";
    for arguments in [["t", "--output", odd], ["t", "--output", odd]] {
        succeed(&folder, &arguments, &server.url);
    }
    let fetched = server.fetch();
    let path = fetched.path().join("odd ü?a#b%41/x y/events/date=2023-11-14/host=%C3%BC%2F%3D%2541%20host");
    assert_eq!(fs::read_dir(path).expect("it is there").count(), 1);
}

#[test]
#[ignore = "make check: an S3 server from PyPI"]
fn an_agent_uploads_what_it_records_and_removes_it_then() {
    let Some(server) = Server::start(&[]) else { return };
    let emit_all = Program::example("valkey-trace", "emit-all").traced().build();
    let daemon = Daemon::start();
    let path = |name: &str| daemon.folder().join(name);
    let text = format!(
        "traces = {:?}\noutput = {TABLES:?}\nmetrics = {:?}\nevents = [\"valkey_*\"]\nrotate = \"3s\"\n",
        path("traces"),
        path("agent.prom")
    );
    fs::write(path("agent.toml"), text).expect("it can be written");
    let mut agent = daemon.command(PROGRAM);
    reach(agent.arg("agent").arg(path("agent.toml")).stderr(Stdio::null()), &server.url, daemon.folder());
    let mut agent = agent.spawn().expect("it runs");
    let says = |line: &str| fs::read_to_string(path("agent.prom")).is_ok_and(|text| text.contains(line));
    wait_until("the agent records", || says("ltt_agent_recording 1\n"));
    daemon.run(&emit_all, ["10"]);
    wait_until("all is uploaded", || says("ltt_agent_exported_events_total 350\n"));
    wait_until("nothing waits", || says("ltt_agent_waiting_chunks 0\n"));
    agent.kill().expect("it was started");
    agent.wait_in_time().expect("it ends");
    assert_eq!(rows(&server.fetch().path().join("tables"), "events"), 350);
    daemon.lttng(["destroy", "ltt-agent"]);
}
