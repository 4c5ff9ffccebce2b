//! The full screen in a real terminal, with keys typed: golden screens of a recorded scene, and every way out.

use lttng_testing::{Daemon, Relay, need, wait_until, workspace};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};

use super::replay;
use super::terminal::Terminal;
use crate::tracee::Tracee;

/// All events of the scene have arrived.
pub const COMPLETE: &str = "267,919 events";

/// The shell command that watches a session, with the environment that does not depend on the machine.
pub fn watch(url: &str, options: &str) -> String {
    format!("env -u COLUMNS TZ=UTC {} live {url} {options}", env!("CARGO_BIN_EXE_ltt-top"))
}

/// Compares a screen with a golden one; `OVERWRITE=1` writes it.
fn assert_screen(name: &str, screen: &str) {
    // Where the test serves the scene, and how long ago that happened, changes.
    let mask = |line: &str| match (line.find("net://"), line.find(" attached")) {
        (Some(begin), Some(end)) => format!("{}net://HOST{}", &line[..begin], &line[end..end + 9]),
        _ => line.to_owned(),
    };
    let screen = screen.lines().map(mask).collect::<Vec<_>>().join("\n") + "\n";
    let path = workspace().join(format!("viewer/tests/live/screens/{name}.txt"));
    lttng_testing::assert_golden(path, &screen);
}

#[test]
#[ignore = "make check: tmux"]
fn screens_of_a_recorded_scene() {
    if !need("tmux") {
        return;
    }
    let terminal = Terminal::start(100, 40, &watch(&replay::serve(), ""));
    terminal.until(COMPLETE);
    assert_screen("groups", &terminal.until("INCIDENTS"));
    terminal.keys(&["s", "s", "s"]);
    assert_screen("by_p99", &terminal.until("by p99"));
    terminal.keys(&["1"]);
    assert_screen("ten_seconds", &terminal.until("window 10s"));
    terminal.keys(&["4"]);
    terminal.until("window all");
    terminal.keys(&["Down", "Enter"]);
    assert_screen("detail", &terminal.until("SLOWEST so far"));
    terminal.keys(&["?"]);
    assert_screen("help", &terminal.until("this help"));
    terminal.keys(&["x"]);
    terminal.until("SLOWEST so far");
    terminal.keys(&["Escape"]);
    terminal.until("INCIDENTS");
    terminal.keys(&["Tab"]);
    terminal.until("▶DURATIONS");
    terminal.keys(&["Enter"]);
    assert_screen("heat", &terminal.until("Esc back"));
    terminal.keys(&["Escape"]);
    terminal.until("▶DURATIONS");
    terminal.until("INCIDENTS");
    terminal.keys(&["Tab"]);
    terminal.until("▶INCIDENTS");
    terminal.keys(&["End", "Home", "Down", "Down", "Down", "Down"]);
    assert_screen("incidents", &terminal.until("▶INCIDENTS"));
    terminal.keys(&["Enter"]);
    assert_screen("incident", &terminal.until("advice"));
}

#[test]
#[ignore = "make check: tmux"]
fn nothing_of_a_killed_run_stays_on_the_screen() {
    if !need("tmux") {
        return;
    }
    // It has left the terminal in the other screen, and its picture there.
    let residue =
        "printf '\\033[?1049h\\033[H'; for line in $(seq 39); do echo residue residue residue; done";
    let terminal = Terminal::start(100, 40, &format!("{residue}; {}", watch(&replay::serve(), "")));
    let screen = terminal.until(COMPLETE);
    assert!(!screen.contains("residue"), "{screen}");
}

#[test]
#[ignore = "make check: tmux"]
fn rows_are_narrowed_at_once_and_keep_their_figures() {
    if !need("tmux") {
        return;
    }
    let terminal = Terminal::start(100, 40, &watch(&replay::serve(), "--window all"));
    terminal.until(COMPLETE);
    terminal.keys(&["/"]);
    terminal.keys(&["-l", "call k"]);
    let screen = terminal.until("groups with call k");
    assert_screen("narrowed", &screen);
    // Not even Enter is needed, and Escape brings all of them back.
    let has_row = |name: &str| screen.lines().any(|line| line.starts_with(name));
    assert!(has_row("command_call keys") && !has_row("eventloop"), "{screen}");
    terminal.keys(&["Escape"]);
    terminal.until("aof_flush");
    terminal.keys(&["/"]);
    terminal.keys(&["-l", "evetloop"]);
    terminal.until("no group is called evetloop: did you mean eventloop?");
    terminal.keys(&["Escape"]);
    terminal.until("q quit");
    // Conditions are checked, and apply from then on.
    terminal.keys(&["f"]);
    terminal.keys(&["-l", "duration"]);
    terminal.keys(&["Enter"]);
    terminal.until("is not a condition");
    terminal.keys(&["-l", " > 1ms"]);
    terminal.keys(&["Enter"]);
    terminal.until("filter duration > 1ms");
    assert_screen("filter", &terminal.until("no events in this window"));
    terminal.keys(&["g", "a", "d", "d", "r", "Enter"]);
    terminal.until("grouped by addr");
}

#[test]
fn frozen_screen_can_be_explored_and_exported_and_then_goes_on() {
    if !need("tmux") {
        return;
    }
    let (relay, daemon) = (Relay::start(), Daemon::start());
    let session = daemon.live_session(&relay, 100_000);
    session.record("tracee:*", &[]);
    let url = session.url(&relay);
    let folder = tempfile::TempDir::new().unwrap();
    let command = format!("cd {} && {}", folder.path().display(), watch(&url, "--window all"));
    let terminal = Terminal::start(100, 40, &command);
    let mut program = Tracee::start(&daemon);
    program.emit("work", 100);
    terminal.until("100 events");
    terminal.keys(&["Space"]);
    terminal.until("FROZEN");
    program.emit("work", 900);
    terminal.keys(&["s"]);
    terminal.until("by count");
    terminal.keys(&["Enter"]);
    terminal.until("tracee:work: 100 events");
    terminal.keys(&["e"]);
    terminal.until("written to ltt-top-");
    let file = std::fs::read_dir(folder.path()).unwrap().next().expect("a file").unwrap().path();
    let written: serde_json::Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    assert_eq!((&written["trace"]["events"], &written["groups"][0]["count"]), (&100.into(), &100.into()));
    assert!(terminal.screen().contains("tracee:work: 100 events"));
    terminal.keys(&["Space"]);
    terminal.until("tracee:work: 1,000 events");
    // A name that no event has is not only "no events".
    terminal.keys(&["f"]);
    terminal.keys(&["-l", "duratoin=1"]);
    terminal.keys(&["Enter"]);
    terminal.until("filter duratoin=1");
    terminal.until("no event has a field `duratoin`; did you mean `duration`?");
}

#[test]
fn mouse_chooses_rows_and_opens_them() {
    if !need("tmux") {
        return;
    }
    let terminal = Terminal::start(100, 40, &watch(&replay::serve(), "--window all"));
    terminal.until(COMPLETE);
    let screen = terminal.until("INCIDENTS");
    let line = |text: &str| screen.lines().position(|line| line.contains(text)).expect(text) + 1;
    // As a terminal sends it: the button, the column and the row, from 1.
    let click = |row: usize| terminal.keys(&["-l", &format!("\x1b[<0;5;{row}M\x1b[<0;5;{row}m")]);
    click(line("00:15:11.789"));
    terminal.until("▶INCIDENTS");
    click(line("00:15:11.789"));
    terminal.until("INCIDENT at 00:15:11.789");
    terminal.keys(&["Escape"]);
    terminal.until("▶INCIDENTS");
    click(line("command_call eval"));
    terminal.until("▶GROUP");
    // One down with the wheel.
    terminal.keys(&["-l", "\x1b[<65;5;6M"]);
    terminal.keys(&["Enter"]);
    terminal.until("command_call debug: 2 events");
}

#[test]
fn screen_is_suspended_and_comes_back() {
    if !need("tmux") || !need("bash") {
        return;
    }
    let terminal = Terminal::start(100, 40, "bash --norc -i");
    terminal.keys(&["-l", &watch(&replay::serve(), "")]);
    terminal.keys(&["Enter"]);
    terminal.until(COMPLETE);
    terminal.keys(&["C-z"]);
    let screen = terminal.until("Stopped");
    assert!(!screen.contains(COMPLETE), "{screen}");
    terminal.keys(&["-l", "fg"]);
    terminal.keys(&["Enter"]);
    terminal.until(COMPLETE);
    terminal.keys(&["q"]);
    terminal.until("bash");
}

#[test]
#[ignore = "make check: tmux"]
fn screen_follows_the_size_of_the_terminal() {
    if !need("tmux") {
        return;
    }
    let terminal = Terminal::start(60, 20, &watch(&replay::serve(), "--window all"));
    terminal.until(COMPLETE);
    assert_screen("sixty_columns", &terminal.until("window all"));
    terminal.resize(200, 50);
    // The last thing that is drawn is at the bottom right.
    terminal.until("q quit");
    assert_screen("two_hundred_columns", &terminal.until("INCIDENTS"));
    for (columns, rows) in [(1, 1), (1, 24), (2, 2), (7, 3), (13, 10), (30, 5), (300, 2), (200, 60)] {
        terminal.resize(columns, rows);
        for keys in [&["Enter"][..], &["Escape"], &["?"], &["x"], &["/"], &["Escape"], &["Down"], &["w"]] {
            terminal.keys(keys);
        }
    }
    // It is still there.
    terminal.until(COMPLETE);
    terminal.resize(60, 20);
    terminal.keys(&["4"]);
    terminal.until("window all");
}

#[test]
#[ignore = "make check: tmux"]
fn colours_are_left_out_on_request() {
    if !need("tmux") {
        return;
    }
    let url = replay::serve();
    let has_colours = |options: &str, environment: &str| {
        let terminal = Terminal::start(80, 24, &format!("{environment} {}", watch(&url, options)));
        terminal.until(COMPLETE);
        let screen = terminal.styled_screen();
        ["\x1b[36m", "\x1b[32m", "\x1b[33m", "\x1b[1m\x1b[36m", "\x1b[38"]
            .iter()
            .any(|code| screen.contains(code))
    };
    assert!(has_colours("", ""));
    assert!(!has_colours("", "NO_COLOR=1"));
    assert!(!has_colours("--color never", ""));
}

#[test]
fn terminal_that_cannot_move_its_cursor_gets_tables() {
    if !need("tmux") {
        return;
    }
    for variable in ["TERM=dumb", "TERM=", "-u TERM"] {
        let command = format!("env {variable} {}", watch(&replay::serve(), "--interval 100ms --limit 2"));
        let terminal = Terminal::start(100, 40, &command);
        let screen = terminal.until_all(&[COMPLETE, "lag "]);
        assert!(!screen.contains("q quit"), "{variable}: {screen}");
    }
}

/// Runs it in a shell, ends it somehow, and looks at what the terminal is like after that.
fn after(end: impl FnOnce(&Terminal)) -> String {
    let url = replay::serve();
    // It lasts until the terminal goes, which writes a line of its own into one that has ended.
    let shell =
        format!("echo BEFORE; {}; echo status $?; stty -a; echo AFTER; exec sleep 600", watch(&url, ""));
    let terminal = Terminal::start(90, 30, &shell);
    terminal.until(COMPLETE);
    end(&terminal);
    let screen = terminal.until("AFTER");
    assert!(screen.contains("BEFORE"), "the former screen is back: {screen}");
    assert!(screen.contains(" icanon") && screen.contains(" echo "), "{screen}");
    screen
}

#[test]
#[ignore = "make check: tmux"]
fn terminal_is_restored_on_every_way_out() {
    assert!(after(|terminal| terminal.keys(&["q"])).contains("status 0"));
    assert!(after(|terminal| terminal.keys(&["C-c"])).contains("status 0"));
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let screen = after(|terminal| {
            // The program is the child of the terminal's process.
            let child = |pid: i32| {
                let path = format!("/proc/{pid}/task/{pid}/children");
                let children = std::fs::read_to_string(path).expect("this is Linux");
                children.split_whitespace().next().and_then(|pid| pid.parse().ok()).expect("a child")
            };
            let program: i32 = child(terminal.pid());
            kill_process(Pid::from_raw(program).expect("a process id"), signal).expect("it runs");
        });
        assert!(screen.contains("status 0"), "{screen}");
    }
}

#[test]
#[ignore = "make check: tmux"]
fn program_ends_with_its_terminal() {
    if !need("tmux") {
        return;
    }
    let terminal = Terminal::start(80, 24, &format!("exec {}", watch(&replay::serve(), "")));
    terminal.until(COMPLETE);
    let pid = Pid::from_raw(terminal.pid()).expect("a process id");
    drop(terminal);
    wait_until("the program has ended", || test_kill_process(pid).is_err());
}
