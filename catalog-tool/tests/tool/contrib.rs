//! The patches for Valkey and memcached: they apply to the source as Debian has it, have what the catalogs say, build, pass
//! the tests of what they touch, and are traced.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;

use fastrand::Rng;
use lttng_testing::{
    BUILD_DEADLINE, ChildInTime as _, CommandInTime as _, Daemon, bpftrace, declarations, missing_tool, need,
    need_bpftrace, not_allowed, wait_until, workspace,
};

use crate::cli::run::{catalog, said, text};

#[test]
#[ignore = "make check: memcached's source, libevent-dev and bpftrace"]
fn lttng_and_bpftrace_see_the_keys_that_a_client_of_memcached_with_its_patch_sent() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let Some(program) = memcached(folder.path()) else { return };
    let script = said(["bpftrace", text(&catalog("memcached.toml")), "--program", text(&program), "--snoop"]);
    assert_eq!((script.status, &*script.err), (0, ""));
    // Without `slabs__free`, which fires ten thousand times for the first item and fills bpftrace's buffer.
    let script: Vec<_> = script.out.lines().filter(|line| line.contains(":memcached:command__")).collect();

    let daemon = Daemon::start();
    let session = daemon.recording(&["memcached:*"]);
    let mut sent = Vec::new();
    let mut work = || {
        let socket = folder.path().join("socket");
        let mut server = daemon.command(&program).arg("-s").arg(&socket).spawn().expect("it starts");
        wait_until("memcached listens", || UnixStream::connect(&socket).is_ok());
        sent = ask(UnixStream::connect(&socket).expect("it listens"));
        Command::new("sh").args(["-c", &format!("kill {}", server.id())]).succeed();
        server.wait_in_time().expect("it is our child");
    };
    let mut seen = Vec::new();
    if need_bpftrace() {
        let printed = bpftrace(&script.join("\n"), work);
        let lines = printed.lines().filter(|line| line.starts_with("memcached:command__")).map(|line| {
            let word = |index: usize| line.split(' ').nth(index).unwrap_or_default();
            format!("{} {}", word(0), word(2).trim_start_matches("key="))
        });
        seen.push(("bpftrace", lines.collect::<Vec<_>>()));
    } else {
        work();
    }
    let recorded = session.stop().events();
    let recorded = recorded.iter().filter(|event| event.name.starts_with("memcached:command__"));
    let recorded = recorded.map(|event| format!("{} {}", event.name, event.field("key").trim_matches('"')));
    seen.push(("LTTng", recorded.collect()));
    sent.sort();
    for (tracer, mut seen) in seen {
        // bpftrace has a buffer for each processor, and no order among them.
        seen.sort();
        let odd = seen.iter().zip(&sent).find(|(seen, sent)| seen != sent);
        assert!(seen == sent, "{tracer}: {} of {}, {odd:?}", seen.len(), sent.len());
    }
}

/// memcached with its patch, built with its own flags, of which `-Werror` is one; it passes its tests of what the probes
/// are in. `None` if its source cannot be downloaded or something is missing to build it.
fn memcached(folder: &Path) -> Option<PathBuf> {
    if !includes("event.h") || !includes("sys/sdt.h") || !need("autoreconf") || !need("perl") {
        return None;
    }
    let tree = patched("memcached", "1.6.18", &[], folder)?;
    check(&["--dtrace", text(&catalog("memcached.toml")), "--out", text(&tree)]);
    let mut autoreconf = Command::new("autoreconf");
    autoreconf.arg("--force").current_dir(&tree).succeed_within(BUILD_DEADLINE);
    let mut configure = Command::new("./configure");
    configure.args(["--quiet", "--enable-lttng", "--disable-docs", "--disable-coverage"]);
    configure.current_dir(&tree).succeed_within(BUILD_DEADLINE);
    let mut make = Command::new("make");
    make.args(["--jobs=2", "memcached", "memcached-debug", "timedrun"]).current_dir(&tree);
    make.succeed_within(BUILD_DEADLINE);
    let mut tests = Command::new("prove");
    tests
        .args(["t/getset.t", "t/incrdecr.t", "t/touch.t", "t/cas.t", "t/item_size_max.t"])
        .current_dir(&tree);
    tests.succeed_within(BUILD_DEADLINE);
    Some(tree.join("memcached"))
}

/// Valkey with its patch passes its tests of what is traced, and its 35 events are declared as it declares them itself.
#[test]
#[ignore = "make check: Valkey's source"]
fn valkey_with_its_patch_records_what_its_clients_sent() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    if !includes("sys/sdt.h") {
        return;
    }
    let Some(tree) = patched("valkey", "9.1.2", &["sid"], folder.path()) else { return };
    check(&[text(&catalog("valkey.toml")), "--out", text(&tree.join("src/trace"))]);
    let mut make = Command::new("make");
    make.args(["--jobs=2", "-C", "src", "USE_LTTNG=yes", "USE_USDT=yes"]);
    make.args(["valkey-server", "valkey-cli", "valkey-benchmark"]);
    make.current_dir(&tree).succeed_within(BUILD_DEADLINE);
    let server = tree.join("src/valkey-server");
    let notes = Command::new("readelf").arg("--notes").arg(&server).succeed();
    assert_eq!(notes.matches("Provider: valkey_").count(), 35);

    let daemon = Daemon::start();
    let session = daemon.recording(&["valkey_*"]);
    let socket = folder.path().join("socket");
    let mut process = daemon.command(&server);
    process.args(["--port", "0", "--save", "", "--appendonly", "yes", "--unixsocket"]).arg(&socket);
    let mut process = process.arg("--dir").arg(folder.path()).spawn().expect("it starts");
    wait_until("Valkey listens", || UnixStream::connect(&socket).is_ok());
    let mut stream = UnixStream::connect(&socket).expect("it listens");
    let mut answers = BufReader::new(stream.try_clone().expect("it is open")).lines();
    for (request, answer) in
        [("SET key value", "+OK"), ("INCR number", ":1"), ("DEL key", ":1"), ("PING", "+PONG")]
    {
        writeln!(stream, "{request}\r").expect("it listens");
        assert_eq!(answers.next().expect("it answers").expect("it answers"), answer);
    }
    writeln!(stream, "SHUTDOWN NOSAVE\r").expect("it listens");
    process.wait_in_time().expect("it is our child");
    let trace = session.stop();
    let events = trace.events();
    // The Lua engine asks for its configuration as the server starts: that has no address.
    let by_client = |event: &&lttng_testing::Event| event.field("addr").contains(text(&socket));
    let called = events.iter().filter(|event| event.name == "valkey_commands:command_call").filter(by_client);
    let called: Vec<_> = called.map(|event| event.field("name").trim_matches('"')).collect();
    assert_eq!(called, ["set", "incr", "del", "ping"]);
    for name in ["valkey_aof:aof_write", "valkey_server:eventloop", "valkey_server:fast_command"] {
        assert!(events.iter().any(|event| event.name == name), "no {name}");
    }
    let real = fs::read_to_string(workspace().join("tests/data/valkey-metadata.tsdl")).expect("it is there");
    let real = declarations(&format!("\n{real}"));
    assert_eq!((trace.declarations(), real.len()), (real, 35));

    if need("tclsh") {
        // Those that neither need Lua nor fail on a busy machine.
        let histograms =
            ["with empty histogram", "all commands", "sub commands", "with a subset of commands"];
        let mut tests = Command::new("./runtest");
        tests.args([
            "--single",
            "unit/latency-monitor",
            "--clients",
            "1",
            "--only",
            "Cluster config file latency",
        ]);
        tests.args(
            histograms.iter().flat_map(|name| ["--only".to_owned(), format!("LATENCY HISTOGRAM {name}")]),
        );
        let passed = tests.current_dir(&tree).succeed_within(BUILD_DEADLINE);
        assert!(passed.contains("All tests passed"), "{passed}");
    }
}

/// The source of a package of Debian, unpacked and with the project's patch; `None` if this version cannot be downloaded.
fn patched(package: &str, version: &str, suite: &[&str], folder: &Path) -> Option<PathBuf> {
    let mut download = Command::new(workspace().join("scripts/debian-source.sh"));
    download.arg(package).arg(workspace().join("target/debian-source").join(package)).args(suite);
    let output = download.output_within(BUILD_DEADLINE).expect("it is a script");
    let archive = String::from_utf8(output.stdout).expect("the path is UTF-8");
    if !archive.contains(&format!("/{package}_{version}")) {
        let why = format!("{archive}{}", String::from_utf8_lossy(&output.stderr));
        not_allowed(&format!("the source of {package} {version}"), &why);
        return None;
    }
    let tree = folder.join(package);
    fs::create_dir(&tree).expect("the folder is writable");
    let mut unpack = Command::new("tar");
    unpack.arg("xf").arg(archive.trim()).arg("--strip-components=1").current_dir(&tree).succeed();
    let mut patch = Command::new("patch");
    patch
        .args(["-p1", "--fuzz=0", "--input"])
        .arg(workspace().join(format!("contrib/{package}/{package}.patch")));
    patch.current_dir(&tree).succeed();
    Some(tree)
}

/// The patch has what the catalog says.
fn check(arguments: &[&str]) {
    let said = said(["c", "--check"].into_iter().chain(arguments.iter().copied()));
    assert_eq!((said.status, &*said.err), (0, ""), "make the patch again: contrib/update.sh");
}

/// Whether a header is installed; if not, the test is listed as not run.
fn includes(header: &str) -> bool {
    let mut gcc = Command::new("gcc");
    gcc.args(["-E", "-include", header, "-x", "c", "/dev/null"]);
    let is_installed = gcc.output_in_time().expect("gcc is installed").status.success();
    if !is_installed {
        missing_tool(header);
    }
    is_installed
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
