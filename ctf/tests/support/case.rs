//! Hand-written traces: the cases of `cases/`, whose format `reader/cases.rs` describes.

use std::path::{Path, PathBuf};

/// A hand-written trace.
#[derive(Clone, Debug)]
pub struct Case {
    pub metadata: String,
    /// The bytes of the stream file.
    pub stream: Vec<u8>,
}

impl Case {
    /// The files of all cases, sorted.
    pub fn files() -> Vec<PathBuf> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ctf/tests/cases");
        let files = folder.read_dir().expect("there are cases").map(|entry| entry.expect("a file").path());
        let mut files: Vec<_> = files.collect();
        files.sort();
        files
    }

    /// The names and texts of the cases in a file's text.
    pub fn split(text: &str) -> impl Iterator<Item = (&str, &str)> {
        text.split("=== ").skip(1).map(|case| case.split_once('\n').expect("a case begins with its name"))
    }

    /// Takes the text of a case apart: the trace, and what is expected to be read from it.
    pub fn parse(text: &str) -> (Case, &str) {
        let (metadata, rest) = text.split_once("== stream\n").expect("a case has `== stream`");
        let (stream, expected) = rest.split_once("== events\n").expect("a case has `== events`");
        let metadata = metadata.replace('␞', "\x1e");
        (Case { metadata, stream: bytes(stream) }, expected)
    }
}

/// The bytes that the stream part of a case stands for.
fn bytes(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in text.lines() {
        let mut rest = line.split('#').next().unwrap().trim();
        while !rest.is_empty() {
            if let Some(quoted) = rest.strip_prefix('"') {
                let (string, after) = quoted.split_once('"').expect("a string ends on its line");
                bytes.extend_from_slice(string.as_bytes());
                bytes.push(0);
                rest = after.trim_start();
                continue;
            }
            let (token, after) = rest.split_once(' ').unwrap_or((rest, ""));
            number(token, &mut bytes);
            rest = after.trim_start();
        }
    }
    bytes
}

fn number(token: &str, bytes: &mut Vec<u8>) {
    let byte =
        |digits: &str| u8::from_str_radix(digits, 16).unwrap_or_else(|_| panic!("`{token}` is not a byte"));
    if let Some((digits, times)) = token.split_once('*') {
        bytes.resize(bytes.len() + times.parse::<usize>().unwrap(), byte(digits));
    } else if let Some((form, value)) = token.split_once(':') {
        let value = value.parse::<i128>().unwrap() as u64;
        let (order, size) = form.split_at(2);
        let size = size.parse::<usize>().unwrap() / 8;
        match order {
            "le" => bytes.extend_from_slice(&value.to_le_bytes()[..size]),
            _ => bytes.extend_from_slice(&value.to_be_bytes()[8 - size..]),
        }
    } else {
        bytes.push(byte(token));
    }
}
