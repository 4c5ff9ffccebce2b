//! A headless Chromium, driven over its DevTools protocol: messages in JSON with a NUL after each, through two FIFOs.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use lttng_testing::{CommandInTime as _, DEADLINE, kill_tree, need, not_allowed, patience, workspace};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A browser with one page.
pub struct Chromium {
    child: Child,
    input: File,
    messages: Receiver<Value>,
    session: Option<String>,
    calls: u64,
    /// What happened since the page was opened.
    pub events: Vec<Value>,
    _folder: TempDir,
}

impl Chromium {
    /// Starts one; none if it is not installed, and the test is then listed as not run.
    pub fn start() -> Option<Chromium> {
        if !need("chromium") {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let [to, from] = ["to", "from"].map(|name| folder.path().join(name));
        assert!(Command::new("mkfifo").args([&to, &from]).status().expect("mkfifo runs").success());
        let child = Command::new("sh")
            .args(["-c", r#"exec chromium "$@" 3<"$TO" 4>"$FROM""#, "chromium"])
            .args([
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
            ])
            .args(["--disable-background-networking", "--remote-debugging-pipe", "--hide-scrollbars"])
            // Speedscope draws with WebGL, here on the processor.
            .args(["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"])
            .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
            .env("TO", &to)
            .env("FROM", &from)
            .env("HOME", folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("sh runs");
        let input = OpenOptions::new().write(true).open(&to).unwrap();
        let output = File::open(&from).unwrap();
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            let mut message = Vec::new();
            while output.read_until(0, &mut message).is_ok_and(|length| length > 0) {
                message.pop();
                let parsed = serde_json::from_slice(&message).expect("it writes JSON");
                if sender.send(parsed).is_err() {
                    return;
                }
                message.clear();
            }
        });
        let mut browser =
            Chromium { child, input, messages, session: None, calls: 0, events: Vec::new(), _folder: folder };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }))["targetId"].clone();
        let session = browser.call("Target.attachToTarget", json!({ "targetId": target, "flatten": true }));
        browser.session = Some(session["sessionId"].as_str().expect("a session").to_owned());
        for domain in ["Page", "Runtime", "Network", "Log"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    /// Asks the browser something and returns the answer.
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.calls += 1;
        let mut message = json!({ "id": self.calls, "method": method, "params": params });
        if let Some(session) = &self.session {
            message["sessionId"] = session.clone().into();
        }
        self.input.write_all(format!("{message}\0").as_bytes()).expect("the browser listens");
        loop {
            let answer = self.next(method);
            if answer["id"] == self.calls {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].clone();
            }
        }
    }

    fn next(&mut self, waiting_for: &str) -> Value {
        let message = self.messages.recv_timeout(patience(DEADLINE).max(Duration::from_secs(60)));
        let message = message.unwrap_or_else(|_| panic!("the browser did not answer in time: {waiting_for}"));
        if message["method"].is_string() {
            self.events.push(message.clone());
        }
        message
    }

    /// Makes the page's window this wide, dark or light.
    pub fn resize(&mut self, width: u32, is_dark: bool) {
        let screen = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.call("Emulation.setDeviceMetricsOverride", screen);
        let scheme = if is_dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call("Emulation.setEmulatedMedia", json!({ "features": features }));
    }

    /// Opens a page, with a fragment if that is not empty, and waits until it is loaded.
    pub fn open(&mut self, page: &Path, fragment: &str) {
        // The same page with another fragment would not be loaded again.
        self.navigate("about:blank");
        self.events.clear();
        self.navigate(&format!("file://{}{fragment}", page.display()));
    }

    fn navigate(&mut self, address: &str) {
        let known = self.events.len();
        self.call("Page.navigate", json!({ "url": address }));
        let is_loaded =
            |events: &[Value]| events.iter().any(|event| event["method"] == "Page.loadEventFired");
        while !is_loaded(&self.events[known..]) {
            self.next("Page.loadEventFired");
        }
    }

    /// Waits until an expression in the page is true.
    pub fn wait_for(&mut self, what: &str, expression: &str) {
        let deadline = Instant::now() + patience(DEADLINE);
        while self.evaluate(expression) != true {
            assert!(Instant::now() < deadline, "timed out waiting until {what}: {expression}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// The value of an expression in the page.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let asked = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.call("Runtime.evaluate", asked);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    /// Presses, moves or lets go the mouse (`mousePressed`, `mouseMoved`, `mouseReleased`) at a place of the window.
    pub fn mouse(&mut self, kind: &str, (x, y): (f64, f64), is_pressed: bool) {
        let (button, buttons) = if is_pressed { ("left", 1) } else { ("none", 0) };
        let event =
            json!({ "type": kind, "x": x, "y": y, "button": button, "buttons": buttons, "clickCount": 1 });
        self.call("Input.dispatchMouseEvent", event);
    }

    /// Presses a key and lets it go.
    pub fn press(&mut self, key: &str, code: u32) {
        for kind in ["rawKeyDown", "char", "keyUp"] {
            let text = match (kind, key) {
                ("char", "Enter") => "\r",
                ("char", letter) if letter.len() == 1 => letter,
                ("char", _) => continue,
                _ => "",
            };
            self.call(
                "Input.dispatchKeyEvent",
                json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text }),
            );
        }
    }

    /// Errors of scripts, of the console and of the policy, and what was asked of the network besides the page.
    pub fn complaints(&self) -> Vec<&Value> {
        let is_complaint = |event: &&Value| {
            let params = &event["params"];
            match event["method"].as_str().unwrap_or_default() {
                "Runtime.exceptionThrown" => true,
                "Runtime.consoleAPICalled" => params["type"] == "error",
                "Log.entryAdded" => params["entry"]["level"] == "error",
                "Network.requestWillBeSent" => params["type"] != "Document",
                _ => false,
            }
        };
        self.events.iter().filter(is_complaint).collect()
    }
}

/// The folder of a package from npm; none if it cannot be fetched, and the test is then listed as not run in full.
pub fn from_npm(package: &str) -> Option<PathBuf> {
    let folder = workspace().join("target/npm").join(package);
    if !folder.join("package").exists() {
        std::fs::create_dir_all(&folder).unwrap();
        let fetch =
            r#"npm pack --silent "$0" && mkdir -p new && tar -xzf ./*.tgz -C new && mv new/package ."#;
        let fetched = Command::new("sh").args(["-c", fetch, package]).current_dir(&folder).output_in_time();
        let fetched = fetched.expect("sh runs");
        if !fetched.status.success() {
            not_allowed(&format!("{package} from npm"), &String::from_utf8_lossy(&fetched.stderr));
            return None;
        }
    }
    Some(folder.join("package"))
}

impl Drop for Chromium {
    fn drop(&mut self) {
        kill_tree(self.child.id());
        _ = self.child.wait();
    }
}
