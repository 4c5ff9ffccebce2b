//! A real program with DTrace probes, memcached as Debian has its source: built with generated files in their place, and
//! traced by bpftrace and LTTng at the same time.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;

use fastrand::Rng;
use lttng_testing::{
    BUILD_DEADLINE, ChildInTime as _, CommandInTime as _, Daemon, bpftrace, missing_tool, need_bpftrace,
    not_allowed, wait_until, workspace,
};

use crate::cli::run::{catalog, said, text};

#[test]
#[ignore = "make check: memcached's source, libevent-dev and bpftrace"]
fn snoop_of_memcacheds_keys_is_what_its_client_sent_and_what_lttng_recorded() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    if !need_bpftrace() {
        return;
    }
    let Some(program) = memcached(folder.path()) else { return };
    let script = said(["bpftrace", text(&catalog("memcached.toml")), "--program", text(&program), "--snoop"]);
    assert_eq!((script.status, &*script.err), (0, ""));
    // Without `slabs__free`, which fires ten thousand times for the first item and fills bpftrace's buffer.
    let script: Vec<_> = script.out.lines().filter(|line| line.contains(":memcached:command__")).collect();

    let daemon = Daemon::start();
    let session = daemon.recording(&["memcached:*"]);
    let mut sent = Vec::new();
    let printed = bpftrace(&script.join("\n"), || {
        let socket = folder.path().join("socket");
        let mut server = daemon.command(&program).arg("-s").arg(&socket).spawn().expect("it starts");
        wait_until("memcached listens", || UnixStream::connect(&socket).is_ok());
        sent = ask(UnixStream::connect(&socket).expect("it listens"));
        Command::new("sh").args(["-c", &format!("kill {}", server.id())]).succeed();
        server.wait_in_time().expect("it is our child");
    });
    let recorded = session.stop().events();
    let recorded = recorded.iter().filter(|event| event.name.starts_with("memcached:command__"));
    let recorded = recorded.map(|event| format!("{} {}", event.name, event.field("key").trim_matches('"')));
    let snooped = printed.lines().filter(|line| line.starts_with("memcached:command__")).map(|line| {
        let word = |index: usize| line.split(' ').nth(index).unwrap_or_default();
        format!("{} {}", word(0), word(2).trim_start_matches("key="))
    });
    // bpftrace has a buffer for each processor, and no order among them.
    let sorted = |mut lines: Vec<String>| {
        lines.sort();
        lines
    };
    let sent = sorted(sent);
    for (tracer, seen) in [("LTTng", sorted(recorded.collect())), ("bpftrace", sorted(snooped.collect()))] {
        let odd = seen.iter().zip(&sent).find(|(seen, sent)| seen != sent);
        assert!(seen == sent, "{tracer}: {} of {}, {odd:?}", seen.len(), sent.len());
    }
}

/// memcached with the generated files, built with its own flags, of which `-Werror` is one; `None` if its source cannot
/// be downloaded.
fn memcached(folder: &Path) -> Option<PathBuf> {
    let includes =
        Command::new("gcc").args(["-E", "-include", "event.h", "-x", "c", "/dev/null"]).output_in_time();
    if !includes.expect("gcc is installed").status.success() {
        missing_tool("event.h");
        return None;
    }
    let mut download = Command::new(workspace().join("scripts/debian-source.sh"));
    let output =
        download.arg("memcached").arg(workspace().join("target/debian-source")).output_within(BUILD_DEADLINE);
    let output = output.expect("it is a script");
    if !output.status.success() {
        not_allowed("the source of memcached", &String::from_utf8_lossy(&output.stderr));
        return None;
    }
    let archive = String::from_utf8(output.stdout).expect("the path is UTF-8");
    let sources = folder.join("memcached");
    fs::create_dir(&sources).expect("the folder is writable");
    let mut unpack = Command::new("tar");
    unpack.arg("xf").arg(archive.trim()).arg("--strip-components=1").current_dir(&sources).succeed();

    let generated = sources.join("generated");
    assert_eq!(said(["c", text(&catalog("memcached.toml")), "--out", text(&generated)]).status, 0);
    let header = sources.join("trace.h");
    let before = fs::read_to_string(&header).expect("it is text");
    let include = "#include \"memcached_dtrace.h\"";
    assert_eq!(before.matches(include).count(), 1);
    fs::write(&header, before.replace(include, "#include \"memcached-dtrace.h\"")).expect("it is writable");

    let mut configure = Command::new("./configure");
    configure.args(["--quiet", "--disable-docs", "--disable-coverage"]).current_dir(&sources);
    configure.succeed_within(BUILD_DEADLINE);
    // Where automake's rule for the generated file notes what it depends on.
    fs::create_dir_all(sources.join(".deps/generated")).expect("the folder is writable");
    let flags = "CPPFLAGS=-DENABLE_DTRACE -DUSE_LTTNG -DUSE_USDT -Igenerated";
    let mut make = Command::new("make");
    make.args(["--jobs=2", "memcached", "memcached_DEPENDENCIES=generated/memcached.o", flags])
        .current_dir(&sources);
    make.arg("LIBS=-levent -ldl generated/memcached.o").succeed_within(BUILD_DEADLINE);
    Some(sources.join("memcached"))
}

/// Sends requests with random keys, and returns what probes are to show of them.
fn ask(stream: UnixStream) -> Vec<String> {
    let mut random = Rng::with_seed(1);
    let (mut input, mut output) = (BufReader::new(stream.try_clone().expect("it is open")), stream);
    let mut sent = Vec::new();
    let mut request = |command: &str, key: &str, rest: &str, reply: &str| {
        write!(output, "{command} {key}{rest}\r\n").expect("it listens");
        let mut line = String::new();
        while line.trim_end() != reply {
            line.clear();
            assert!(input.read_line(&mut line).expect("it answers") > 0, "{command} {key}: not {reply}");
        }
        sent.push(format!("memcached:command__{command} {key}"));
    };
    for number in 0..200 {
        // bpftrace shows 63 characters of a text.
        let length = random.u64(..50);
        let key: String = (0..length).map(|_| char::from(b'a' + random.u64(..26) as u8)).collect();
        let key = format!("{key}{number}");
        request("get", &key, "", "END");
        request("set", &key, " 0 0 1\r\n7", "STORED");
        request("get", &key, "", "END");
        request("incr", &key, " 2", "9");
        request("delete", &key, "", "DELETED");
    }
    sent
}
