//! Everything that README.md and two of the pages by task show is run, or compared with what is run.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use crate::support::target;
use lttng_testing::{
    BUILD_DEADLINE, CommandInTime as _, Daemon, Program, StockServer, cargo, need, need_bpftrace, wait_until,
    workspace,
};
use tempfile::TempDir;

const QUICKSTART: &str = "Add a tracepoint to your service in two minutes";
const USDT: &str = "Trace it without LTTng";

/// The blocks of each section, by language: each is run or compared by a test below. Who adds one, tests it.
const TESTED: &[(&str, &[&str])] = &[
    ("", &["sh", "sh"]),
    (QUICKSTART, &["sh", "sh", "toml", "rust", "rust", "sh", "text"]),
    ("What it shows", &["console"]),
    ("Trace a real Valkey", &["sh"]),
    ("ltt-top", &["sh"]),
    (USDT, &["sh"]),
    ("lttng-catalog", &["sh"]),
];

#[test]
fn every_block_has_a_test() {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for block in blocks() {
        match found.last_mut() {
            Some((section, languages)) if *section == block.section => languages.push(block.language),
            _ => found.push((block.section, vec![block.language])),
        }
    }
    let found: Vec<(&str, Vec<&str>)> = found
        .iter()
        .map(|(section, languages)| (section.as_str(), languages.iter().map(String::as_str).collect()))
        .collect();
    let tested: Vec<_> = TESTED.iter().map(|(section, languages)| (*section, languages.to_vec())).collect();
    assert_eq!(found, tested, "the documents have other blocks than those that are tested here");
}

#[test]
#[ignore = "make check: builds programs as a user does"]
fn demo_shows_what_was_slow() {
    if !need("redis-benchmark") {
        return;
    }
    let folder = TempDir::new().unwrap();
    let [_, block] = &section("")[..] else { panic!("the README begins with the module and the demo") };
    let (demo, test) = block.text.split_once('\n').unwrap();
    // It is what runs the tests, and with `make check` this one.
    let ci = fs::read_to_string(workspace().join(".ci/run")).unwrap();
    assert!(test.starts_with("make test ") && ci.ends_with("make test\nexec make check\n"), "{test}");
    let mut demo = script(demo);
    demo.current_dir(workspace()).env("CARGO_TARGET_DIR", target()).env("DEMO_PROFILE", "dev");
    demo.env("DEMO_SHARE", "20").env("DEMO_TRACE", folder.path().join("trace"));
    let said = succeed(&mut demo);
    for expected in ["Checking Rust", "Building the module", "Recording", "BECAUSE OF", "What to try next"] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    // Which calls were the slowest is the machine's to say, if it is busy.
    let slow = said.split("$ ltt-top slow").nth(1).expect("it shows the slowest calls");
    assert!(slow.lines().take(12).any(|line| line.contains("valkey_commands:command_call ")), "{slow}");
    let trace = folder.path().join("trace");
    let top = succeed(
        Command::new(ltt_top()).args(["top", "--event", "command_call", "--limit", "100"]).arg(&trace),
    );
    for stall in ["keys", "eval", "bgsave", "del", "bgrewriteaof"] {
        assert!(top.lines().any(|line| line.ends_with(&format!("command_call {stall}"))), "{stall}: {top}");
    }
    assert!(trace.join("ltt-top-samples").is_dir(), "the scheduler was sampled: {said}");
    assert!(fs::read_to_string(folder.path().join("trace.html")).unwrap().contains("</html>"), "{said}");
    let steps = said.lines().filter(|line| line.starts_with('[') && line.contains(" s] ")).count();
    assert!(steps >= 7, "{said}");
}

#[test]
#[ignore = "make check: builds programs as a user does"]
fn module_loads_into_a_running_server() {
    if !need("redis-check-rdb") || !need("redis-cli") {
        return;
    }
    let folder = TempDir::new().unwrap();
    let socket = folder.path().join("socket");
    let mut server = Command::new(StockServer::redis(folder.path()));
    server
        .args(["--port", "0", "--save", "", "--enable-module-command", "local", "--unixsocket"])
        .arg(&socket);
    let mut server = server.stdout(Stdio::null()).spawn().expect("it starts");
    wait_until("the server listens", || socket.exists());
    let text = &section("")[0].text;
    let [build, load, _live] = text.lines().collect::<Vec<_>>()[..] else { panic!("three commands: {text}") };
    let build = build.split(" && ").next().expect("two commands");
    succeed(
        script(build).current_dir(workspace()).env("CARGO_TARGET_DIR", target()).env("MODULE_PROFILE", "dev"),
    );
    let load = load.replace("redis-cli ", &format!("redis-cli -s {} ", socket.display()));
    let said = succeed(script(&load).current_dir(workspace()));
    server.kill().and_then(|()| server.wait()).expect("it is our child");
    assert_eq!(said, "OK\n");
}

#[test]
fn output_is_what_the_trace_shows() {
    let [block] = &section("What it shows")[..] else { panic!("the section has one block") };
    let (command, shown) = block.text.split_once('\n').unwrap();
    let bin = bin(&[("ltt-top", &ltt_top())]);
    let mut command = script(command.strip_prefix("$ ").expect("a command"));
    command.current_dir(workspace()).env("PATH", path(bin.path())).env("TZ", "UTC").env_remove("COLUMNS");
    let said = succeed(&mut command);
    assert_shown(shown, &said);
}

#[test]
fn packages_are_those_that_setup_installs() {
    let print = succeed(Command::new(workspace().join("scripts/setup.sh")).args(["--print", "quickstart"]));
    assert_eq!(section(QUICKSTART)[0].text, print);
}

#[test]
#[ignore = "make check: builds programs as a user does"]
fn quickstart_records_three_events() {
    let folder = beside_the_repository();
    let daemon = Daemon::start();
    let mut quickstart = daemon.command("bash");
    let said = run_section(&mut quickstart, folder.path(), QUICKSTART);
    let recorded: Vec<String> =
        said.lines().filter(|line| line.contains("hello:greeted")).map(without_figures).collect();
    let blocks = section(QUICKSTART);
    let shown: Vec<String> = blocks.last().unwrap().text.lines().map(without_figures).collect();
    assert_eq!(recorded, shown, "{said}");
}

#[test]
#[ignore = "make check: builds programs as a user does"]
fn quickstart_has_probes_for_bpftrace() {
    let folder = beside_the_repository();
    // The crate, without recording it.
    let [_, create, files @ .., _, _] = &section(QUICKSTART)[..] else { panic!("the quickstart has blocks") };
    succeed(script(&create.text).current_dir(folder.path()).envs(variables(folder.path())));
    let hello = folder.path().join("hello");
    for (block, file) in files.iter().zip(["catalog.toml", "build.rs", "src/main.rs"]) {
        fs::write(hello.join(file), &block.text).unwrap();
    }
    let block = &section(USDT)[0].text;
    let (build, trace) = block.split_once('\n').unwrap();
    succeed(script(build).current_dir(&hello).envs(variables(folder.path())));
    let notes = succeed(Command::new("readelf").arg("--notes").arg(hello.join("target/debug/hello")));
    assert!(notes.contains("Provider: hello") && notes.contains("Name: greeted"), "{notes}");

    if !need_bpftrace() {
        return;
    }
    let said = succeed(script(trace).current_dir(&hello).envs(variables(folder.path())));
    for name in ["Ada", "Grace", "Edsger"] {
        assert!(said.lines().any(|line| line.starts_with(&format!("{name} took "))), "{said}");
    }
}

#[test]
fn valkey_is_recorded_and_read_as_shown() {
    let folder = TempDir::new().unwrap();
    // Valkey's sources are not here; this emits all of its events and ends.
    let server = Program::example("valkey-trace", "emit-all").traced().build();
    fs::create_dir(folder.path().join("src")).unwrap();
    symlink(server, folder.path().join("src/valkey-server")).unwrap();
    let bin = bin(&[("ltt-top", &ltt_top())]);
    let daemon = Daemon::start();
    let mut shell = daemon.command("bash");
    shell.args(["-euo", "pipefail", "-c", &section("Trace a real Valkey")[0].text]);
    let said = succeed(shell.current_dir(folder.path()).env("PATH", path(bin.path())));
    assert!(said.contains("35 events in "), "{said}");
}

#[test]
#[ignore = "make check: builds programs as a user does"]
fn programs_install_as_shown() {
    for (name, program) in [("lttng-catalog", "lttng-catalog"), ("ltt-top", "ltt-top")] {
        let folder = TempDir::new().unwrap();
        let mut install = script(&section(name)[0].text);
        install.current_dir(workspace()).envs(variables(folder.path())).env("CARGO_TARGET_DIR", target());
        succeed(install.env("CARGO_INSTALL_ROOT", folder.path()));
        let version = succeed(Command::new(folder.path().join("bin").join(program)).arg("--version"));
        assert!(version.starts_with(&format!("{program} ")), "{version}");
    }
}

struct Block {
    section: String,
    language: String,
    text: String,
}

/// The fenced blocks of these documents, in order.
fn blocks() -> Vec<Block> {
    let read = |name| fs::read_to_string(workspace().join(name)).unwrap();
    let documents = ["README.md", "docs/slow-server.md", "docs/add-a-tracepoint.md"].map(read).concat();
    let mut blocks: Vec<Block> = Vec::new();
    let (mut section, mut is_inside) = (String::new(), false);
    for line in documents.lines() {
        match (line.strip_prefix("```"), line.strip_prefix("## ")) {
            (Some(_), _) if is_inside => is_inside = false,
            (Some(language), _) => {
                is_inside = true;
                blocks.push(Block {
                    section: section.clone(),
                    language: language.to_owned(),
                    text: String::new(),
                });
            }
            (None, _) if is_inside => {
                let text = &mut blocks.last_mut().expect("a block has begun").text;
                text.push_str(line);
                text.push('\n');
            }
            (None, Some(title)) => section = title.to_owned(),
            (None, None) => {}
        }
    }
    blocks
}

fn section(title: &str) -> Vec<Block> {
    let blocks: Vec<Block> = blocks().into_iter().filter(|block| block.section == title).collect();
    assert!(!blocks.is_empty(), "no block in the section `{title}`");
    blocks
}

/// A shell that ends at the first command that fails.
fn script(text: &str) -> Command {
    let mut shell = Command::new("bash");
    shell.args(["-euo", "pipefail", "-c", text]);
    shell
}

/// Runs a section as `scripts/readme.sh` makes a script of it, where the repository is in `valkey-trace`.
fn run_section(shell: &mut Command, folder: &Path, title: &str) -> String {
    let text = succeed(Command::new(workspace().join("scripts/readme.sh")).arg(title));
    succeed(shell.args(["-euo", "pipefail", "-c", &text]).current_dir(folder).envs(variables(folder)))
}

#[track_caller]
fn succeed(command: &mut Command) -> String {
    command.succeed_within(BUILD_DEADLINE)
}

/// A folder in which the repository is `valkey-trace`, and a `cargo` that works without a network and does not build
/// anew what other tests have built.
fn beside_the_repository() -> TempDir {
    let folder = TempDir::new().unwrap();
    symlink(workspace(), folder.path().join("valkey-trace")).unwrap();
    folder
}

/// The environment in which the README's commands run: theirs is `cargo`, as above.
fn variables(folder: &Path) -> Vec<(String, String)> {
    let bin = folder.join("cargo");
    fs::create_dir_all(&bin).unwrap();
    let real = cargo().get_program().to_string_lossy().into_owned();
    let wrapper = format!(
        "#!/bin/sh\n\
         [ \"$1\" != install ] || set -- \"$@\" --debug\n\
         '{real}' \"$@\" || exit\n\
         [ \"$1\" != new ] || ln -s '{}' \"$2/target\"\n",
        target().display()
    );
    fs::write(bin.join("cargo"), wrapper).unwrap();
    fs::set_permissions(bin.join("cargo"), fs::Permissions::from_mode(0o755)).unwrap();
    vec![("PATH".to_owned(), path(&bin)), ("CARGO_NET_OFFLINE".to_owned(), "true".to_owned())]
}

/// A folder with programs under these names.
fn bin(programs: &[(&str, &Path)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, program) in programs {
        symlink(program, folder.path().join(name)).unwrap();
    }
    folder
}

/// `PATH` with a folder before all others.
fn path(first: &Path) -> String {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = [first.to_owned()].into_iter().chain(env::split_paths(&path));
    env::join_paths(folders).unwrap().into_string().unwrap()
}

fn ltt_top() -> PathBuf {
    Program::binary("ltt-top", "ltt-top").build()
}

/// What Babeltrace says of an event, without times, processor and durations.
fn without_figures(line: &str) -> String {
    let event = line.find("hello:greeted").map_or(line, |start| &line[start..]);
    event.chars().filter(|letter| !letter.is_ascii_digit()).collect()
}

/// Asserts that the lines shown are there, in this order and without others between them, except where one is `…`.
#[track_caller]
fn assert_shown(shown: &str, said: &str) {
    let mut rest: Vec<&str> = said.lines().collect();
    let mut may_skip = false;
    for line in shown.lines() {
        if line == "…" {
            may_skip = true;
            continue;
        }
        let position = rest.iter().position(|other| other.trim_end() == line);
        let position =
            position.unwrap_or_else(|| panic!("a line is shown that is not there:\n{line}\n{said}"));
        assert!(may_skip || position == 0, "lines are left out before:\n{line}\n{said}");
        rest.drain(..=position);
        may_skip = false;
    }
}
