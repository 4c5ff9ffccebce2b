//! Stacks are shown with the names that binutils finds, while the binary is there and is the same build.

use std::path::{Path, PathBuf};
use std::process::Command;

use lttng_testing::{Daemon, Program, workspace};
use serde_json::Value;
use tempfile::TempDir;

use super::run::{Said, copy, json, ltt_top, said};

/// A recording of a program's stacks, and the program, which the test may change.
struct Recorded {
    trace: TempDir,
    folder: TempDir,
}

impl Recorded {
    /// Records a private copy of the program.
    fn new(events: &[&str], contexts: &[&str]) -> Recorded {
        let folder = tempfile::tempdir().unwrap();
        let built = Program::binary("lttng-fixtures", "probing").traced().build();
        let program = folder.path().join("probing");
        std::fs::copy(built, &program).unwrap();
        // As the user that programs are traced as sees it.
        let status = Command::new("chmod").args(["-R", "a+rX"]).arg(folder.path()).status();
        assert!(status.unwrap().success());
        let daemon = Daemon::start();
        let session = daemon.session();
        session.enable("probing:*");
        events.iter().for_each(|events| session.enable(events));
        contexts.iter().for_each(|context| session.add_context(context));
        session.start();
        daemon.run(&program, ["stack"]);
        daemon.run(&program, ["stack"]);
        let trace = copy(session.stop().folder());
        Recorded { trace, folder }
    }

    fn program(&self) -> PathBuf {
        self.folder.path().join("probing")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = ltt_top(arguments);
        command.arg("--catalog").arg(workspace().join("tests/catalogs/probing.toml")).arg(self.trace.path());
        command
    }

    fn text(&self) -> String {
        let Said { status, out, err } = said(&mut self.command(&["events", "--event", "probing:*"]));
        assert_eq!((status, &*err), (0, ""));
        out
    }

    /// The events, each as JSON.
    fn events(&self) -> Vec<Value> {
        let said = said(&mut self.command(&["events", "--event", "probing:*", "--format", "json"]));
        assert_eq!(said.status, 0, "{said:?}");
        said.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn frames(&self) -> Vec<Value> {
        let events = self.events();
        assert_eq!(events.len(), 6, "three of each run");
        let of = |event: &Value| event["stacks"]["callers"].as_array().unwrap().clone();
        let frames: Vec<Value> = events.iter().flat_map(of).collect();
        assert!(frames.len() > 2 * 32, "two are 32 deep");
        frames
    }
}

const DUMP: &str = "lttng_ust_statedump:*";

#[test]
fn functions_and_lines_are_those_of_binutils() {
    for contexts in [&["vpid"][..], &[]] {
        let recorded = Recorded::new(&[DUMP], contexts);
        let frames = recorded.frames();
        let program = recorded.program();
        let own = |frame: &&Value| frame["binary"].as_str().is_some_and(|path| Path::new(path) == program);
        let own: Vec<&Value> = frames.iter().filter(own).collect();
        assert!(own.len() > 2 * 32);
        let asked = own.iter().map(|frame| frame["binary_offset"].as_u64().unwrap());
        let expected = addr2line(&program, asked.collect());
        for (frame, expected) in own.iter().zip(&expected) {
            assert_eq!(innermost_first(frame), *expected, "{frame}");
        }
        let text = recorded.text();
        let first = text.lines().next().unwrap();
        assert!(first.contains(" in inner+0x") && first.contains(" (probing.rs:"), "{first}");
        assert!(first.contains(", [1] = outer+0x"), "{first}");
        assert!(text.contains("probing::deep+0x"), "{text}");
        assert!(text.contains("main"), "{text}");
    }
}

/// Functions and places, the innermost first, as `addr2line -i` prints them.
fn innermost_first(frame: &Value) -> Vec<(String, String)> {
    let calls = frame["inlined"].as_array().into_iter().flatten().chain([frame]);
    let text = |value: &Value| value.as_str().unwrap_or("??").to_owned();
    let line = |call: &Value| call["line"].as_u64().map_or("?".into(), |line| line.to_string());
    let call = |call: &Value| (text(&call["function"]), format!("{}:{}", text(&call["file"]), line(call)));
    calls.map(call).collect()
}

/// What binutils has for calls before these return addresses, for each of them the innermost first.
fn addr2line(program: &Path, addresses: Vec<u64>) -> Vec<Vec<(String, String)>> {
    addresses
        .iter()
        .map(|address| {
            let mut command = Command::new("addr2line");
            command.args(["-f", "-i", "-C", "-e"]).arg(program).arg(format!("{:#x}", address - 1));
            let out = String::from_utf8(command.output().expect("binutils are installed").stdout).unwrap();
            let lines: Vec<&str> = out.lines().collect();
            let place = |text: &str| text.split(" (discriminator").next().unwrap().to_owned();
            lines.chunks(2).map(|pair| (pair[0].to_owned(), place(pair[1]))).collect()
        })
        .collect()
}

#[test]
fn without_the_binary_or_with_another_build_there_are_no_names() {
    let recorded = Recorded::new(&[DUMP], &["vpid"]);
    let program = recorded.program();
    let is_own = |frame: &&Value| frame["binary"].as_str().is_some_and(|path| Path::new(path) == program);
    let own_names =
        || recorded.frames().iter().filter(is_own).filter(|frame| frame["function"].is_string()).count();
    let named = own_names();
    assert!(named > 2 * 32);

    let kept = program.with_extension("kept");
    std::fs::rename(&program, &kept).unwrap();
    assert_eq!(own_names(), 0);
    let text = recorded.text();
    assert!(text.contains(" (probing+0x") && !text.contains("inner"), "{text}");

    // Another build, with other functions at the same addresses.
    let mut bytes = std::fs::read(&kept).unwrap();
    let id = build_id(&kept);
    let place = bytes.windows(id.len()).position(|bytes| bytes == id).expect("it has a build ID");
    bytes[place] ^= 1;
    std::fs::write(&program, bytes).unwrap();
    assert_eq!(own_names(), 0);

    // What is not even a file must not be waited for.
    std::fs::remove_file(&program).unwrap();
    assert!(Command::new("mkfifo").arg(&program).status().unwrap().success());
    assert_eq!(own_names(), 0);
    std::fs::remove_file(&program).unwrap();
    std::fs::create_dir(&program).unwrap();
    assert_eq!(own_names(), 0);

    std::fs::remove_dir(&program).unwrap();
    std::fs::rename(&kept, &program).unwrap();
    assert_eq!(own_names(), named);
}

fn build_id(program: &Path) -> Vec<u8> {
    let out = Command::new("readelf").arg("--notes").arg(program).output().unwrap().stdout;
    let out = String::from_utf8_lossy(&out).into_owned();
    let id = out.lines().find_map(|line| line.trim().strip_prefix("Build ID: ")).expect("it has a build ID");
    id.as_bytes()
        .chunks(2)
        .map(|digits| u8::from_str_radix(str::from_utf8(digits).unwrap(), 16).unwrap())
        .collect()
}

#[test]
fn without_build_ids_a_binary_that_is_newer_than_the_recording_gives_no_names() {
    let recorded = Recorded::new(&["lttng_ust_statedump:start,lttng_ust_statedump:bin_info"], &["vpid"]);
    assert!(recorded.text().contains(" in inner+0x"));
    let touched = Command::new("touch").arg(recorded.program()).status();
    assert!(touched.unwrap().success());
    assert!(!recorded.text().contains("inner"), "{}", recorded.text());
}

#[test]
fn a_recording_that_does_not_tell_where_binaries_were_shows_what_babeltrace_shows() {
    let recorded = Recorded::new(&[], &["vpid"]);
    let frames = recorded.frames();
    assert!(frames.iter().all(|frame| frame.as_object().unwrap().keys().eq(["address"])), "{frames:?}");
    let babeltrace = lttng_testing::Trace::open(recorded.trace.path()).events();
    for (line, event) in recorded.text().lines().zip(babeltrace) {
        assert!(line.contains(&format!("callers = {}", event.field("callers"))), "{line}\n{event:?}");
    }
}

#[test]
fn the_slowest_events_have_named_stacks() {
    let recorded = Recorded::new(&[DUMP], &["vpid"]);
    let slow = ["slow", "--event", "probing:called", "--duration", "number", "--unit", "us"];
    let found = json(&mut recorded.command(&slow));
    let events = found["events"].as_array().unwrap();
    assert_eq!(events.len(), 4);
    for event in events {
        let addresses = event["fields"]["callers"].as_array().unwrap();
        let frames = event["stacks"]["callers"].as_array().unwrap();
        assert!(addresses.iter().eq(frames.iter().map(|frame| &frame["address"])));
        let function = if event["fields"]["number"] == 7 { "inner" } else { "probing::deep" };
        assert_eq!(frames[0]["function"], function, "{event}");
    }
    let table = said(&mut recorded.command(&slow)).out;
    assert!(table.contains(" in probing::deep+0x") && table.contains(" < probing::deep+0x"), "{table}");
    assert!(table.contains(" in inner+0x") && table.contains(" < outer+0x"), "{table}");
}
