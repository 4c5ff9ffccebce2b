//! Speaks with an object store, and remembers its first failure.

use std::sync::OnceLock;
use std::time::Duration;

use object_store::path::Path as Key;
use object_store::{Error, ObjectStore, Result as Done};
use tokio::runtime::Runtime;

/// Speaks with the object store.
pub struct Client {
    name: String,
    prefix: String,
    store: Box<dyn ObjectStore>,
    runtime: Runtime,
    /// The first failure. All that comes after it would fail as well, each time after many attempts.
    trouble: OnceLock<String>,
}

impl Client {
    pub fn new(name: String, prefix: String, store: Box<dyn ObjectStore>, runtime: Runtime) -> Client {
        Client { name, prefix, store, runtime, trouble: OnceLock::new() }
    }

    /// The first failure, if there was one.
    pub fn trouble(&self) -> Option<String> {
        self.trouble.get().cloned()
    }

    /// Runs to its end what is done to a file; `what` says what that is.
    pub fn run<T>(&self, path: &str, what: &str, task: impl Future<Output = Done<T>>) -> Result<T, String> {
        if let Some(trouble) = self.trouble.get() {
            return Err(trouble.clone());
        }
        self.runtime.block_on(task).map_err(|error| {
            let trouble = format!("{}/{path}: cannot {what} it: {}", self.name, reason(&error));
            self.trouble.get_or_init(|| trouble).clone()
        })
    }

    /// The same, but only for a time, and what comes of it does not matter.
    pub fn try_within<T>(&self, limit: Duration, task: impl Future<Output = Done<T>>) {
        if self.trouble.get().is_none() {
            _ = self.runtime.block_on(async { tokio::time::timeout(limit, task).await });
        }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn store(&self) -> &dyn ObjectStore {
        &*self.store
    }

    pub fn key(&self, path: &str) -> Result<Key, String> {
        let whole = format!("{}/{path}", self.prefix);
        Key::parse(whole.trim_matches('/')).map_err(|error| format!("{}/{path}: {error}", self.name))
    }
}

/// Why something failed, in one line: what the server says, or the innermost cause.
pub fn reason(error: &Error) -> String {
    let (mut cause, whole): (&dyn std::error::Error, String) = (error, error.to_string());
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    let cause = cause.to_string();
    let said = ["Message", "Code"].iter().find_map(|tag| {
        let (_, rest) = cause.split_once(&format!("<{tag}>"))?;
        Some(rest.split_once('<')?.0)
    });
    let said = said.unwrap_or(&cause).split_whitespace().collect::<Vec<_>>().join(" ");
    let has = |texts: [&str; 2]| texts.iter().any(|text| whole.contains(text));
    // Where machines in a cloud ask for their credentials.
    if has(["169.254.169.254", "metadata.google.internal"]) {
        format!("no credentials in the environment, and this machine has none: {said}")
    } else if has(["403 Forbidden", "401 Unauthorized"]) {
        format!("the server refuses these credentials: {said}")
    } else if has(["URL scheme is not allowed", "BadScheme"]) {
        "the server has no TLS: if that is right, set AWS_ALLOW_HTTP=true".into()
    } else {
        said
    }
}
