//! A real terminal: a private tmux server.

use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use lttng_testing::CommandInTime as _;
use lttng_testing::wait_until;

/// A screen that stays the same for this long has been drawn.
const STILL: Duration = Duration::from_millis(150);

/// A terminal in which a shell command runs; it goes away when it is dropped.
pub struct Terminal {
    socket: String,
}

impl Terminal {
    /// Runs a shell command in a terminal of this size.
    pub fn start(columns: u16, rows: u16, command: &str) -> Terminal {
        static STARTED: AtomicUsize = AtomicUsize::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let socket = format!("ltt-top-test-{}-{number}", std::process::id());
        let terminal = Terminal { socket };
        let [columns, rows] = [columns, rows].map(|size| size.to_string());
        terminal.tmux(&["-f", "/dev/null", "new-session", "-d", "-x", &columns, "-y", &rows, command]);
        terminal.tmux(&["set-option", "-g", "remain-on-exit", "on"]);
        terminal
    }

    fn tmux(&self, arguments: &[&str]) -> Output {
        let mut tmux = Command::new("tmux");
        tmux.args(["-u", "-L", &self.socket])
            .args(arguments)
            .env("LC_ALL", "C.UTF-8")
            .env("TERM", "xterm-256color");
        tmux.output_in_time().expect("tmux is installed: run `make setup`")
    }

    /// Types keys, as tmux calls them.
    pub fn keys(&self, keys: &[&str]) {
        self.tmux(&[&["send-keys"], keys].concat());
    }

    /// Gives the terminal another size.
    pub fn resize(&self, columns: u16, rows: u16) {
        let [columns, rows] = [columns, rows].map(|size| size.to_string());
        self.tmux(&["resize-window", "-x", &columns, "-y", &rows]);
    }

    /// What is on the screen, without spaces at the ends of lines.
    pub fn screen(&self) -> String {
        let output = self.tmux(&["capture-pane", "-p"]);
        let text = String::from_utf8_lossy(&output.stdout);
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        lines.join("\n").trim_end().to_owned() + "\n"
    }

    /// What is on the screen, with colours and the like.
    pub fn styled_screen(&self) -> String {
        String::from_utf8_lossy(&self.tmux(&["capture-pane", "-p", "-e"]).stdout).into_owned()
    }

    /// The process that runs in it.
    pub fn pid(&self) -> i32 {
        let output = self.tmux(&["display-message", "-p", "#{pane_pid}"]);
        String::from_utf8_lossy(&output.stdout).trim().parse().expect("a process id")
    }

    /// Waits until the screen, which may go on changing, shows all of this, and returns it.
    pub fn until_all(&self, texts: &[&str]) -> String {
        let mut screen = String::new();
        wait_until(&format!("the screen shows {texts:?}"), || {
            screen = self.screen();
            texts.iter().all(|text| screen.contains(text))
        });
        screen
    }

    /// Waits until the screen shows something and has been drawn to its end, and returns all of it.
    pub fn until(&self, text: &str) -> String {
        let mut screen = String::new();
        let what = format!("the screen shows {text:?}");
        wait_until(&what, || {
            screen = self.screen();
            // It may be caught in the middle of being drawn.
            std::thread::sleep(STILL);
            screen.contains(text) && screen == self.screen()
        });
        screen
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}
