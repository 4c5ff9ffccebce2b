//! Locks in a bucket: an object that says who holds it, and until when. It is renewed while it is held; once it has expired,
//! another process may take it over. Clocks must agree within ten seconds.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use object_store::{Error, ObjectStoreExt as _, PutMode, UpdateVersion};
use serde::{Deserialize, Serialize};

use super::client::Client;
use super::{Lock, Meanwhile, PATIENCE};

/// How long a lease holds, how much of that is left for clocks that differ, and how often it is renewed.
const LEASE_MS: i64 = 20_000;
const MARGIN_MS: i64 = LEASE_MS / 2;
const RENEWAL: Duration = Duration::from_secs(5);

/// How often to look at a lease of another process.
const GLANCE: Duration = Duration::from_millis(300);

/// The object.
#[derive(Serialize, Deserialize)]
struct Written {
    owner: String,
    expires_ms: i64,
}

/// The leases that this process holds.
pub struct Leases {
    client: Arc<Client>,
    held: Arc<Mutex<Vec<Weak<Mutex<Held>>>>>,
}

/// A lease that is held; it is given back when it is dropped.
pub struct Lease(Arc<Mutex<Held>>);

struct Held {
    client: Arc<Client>,
    path: String,
    owner: String,
    version: UpdateVersion,
    expires_ms: i64,
}

impl Leases {
    /// Begins to renew what will be held.
    pub fn new(client: &Arc<Client>) -> Leases {
        let held: Arc<Mutex<Vec<Weak<Mutex<Held>>>>> = Arc::default();
        let watched = Arc::downgrade(&held);
        thread::spawn(move || {
            loop {
                thread::sleep(RENEWAL);
                let Some(held) = watched.upgrade() else { return };
                let mut held = held.lock().unwrap_or_else(PoisonError::into_inner);
                held.retain(|lease| lease.strong_count() > 0);
                let leases: Vec<_> = held.iter().filter_map(Weak::upgrade).collect();
                drop(held);
                // What fails here is tried again by whoever needs the lease.
                leases.into_iter().for_each(|lease| _ = Lease(lease).renewed());
            }
        });
        Leases { client: Arc::clone(client), held }
    }

    /// Waits until the lease of this name is free or has expired, and takes it.
    pub fn take(&self, path: &str, meanwhile: Meanwhile<'_>) -> Result<Lease, String> {
        const SOURCE: &str = "/proc/sys/kernel/random/uuid";
        let owner = std::fs::read_to_string(SOURCE).map_err(|error| format!("{SOURCE}: {error}"))?;
        let owner = owner.trim().to_owned();
        let deadline = Instant::now() + PATIENCE;
        let mut mode = PutMode::Create;
        loop {
            if let Some((version, expires_ms)) = write(&self.client, path, &owner, mode)? {
                let client = Arc::clone(&self.client);
                let held = Held { client, path: path.to_owned(), owner, version, expires_ms };
                let held = Arc::new(Mutex::new(held));
                self.held.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(&held));
                return Ok(Lease(held));
            }
            mode = loop {
                let Some((found, version)) = read(&self.client, path)? else { break PutMode::Create };
                // The answer to the attempt before may have been lost.
                if found.owner == owner || found.expires_ms < now_ms() {
                    break PutMode::Update(version);
                }
                if Instant::now() > deadline {
                    let name = self.client.name();
                    return Err(format!(
                        "{name}/{path}: another process holds this lock: try again when it has ended"
                    ));
                }
                meanwhile()?;
                thread::sleep(GLANCE);
            };
        }
    }
}

impl Lease {
    /// Renews it, unless somebody has taken it over.
    fn renewed(&self) -> Result<(), String> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mode = PutMode::Update(held.version.clone());
        let written = write(&held.client, &held.path, &held.owner, mode)?;
        let lost =
            || format!("{}: this took too long, and another process has taken over: run it again", held.path);
        let (version, expires_ms) = written.ok_or_else(lost)?;
        (held.version, held.expires_ms) = (version, expires_ms);
        Ok(())
    }
}

impl Lock for Lease {
    fn check(&self) -> Result<(), String> {
        let expires_ms = self.0.lock().unwrap_or_else(PoisonError::into_inner).expires_ms;
        // What follows must not take longer than the rest.
        if expires_ms - now_ms() > MARGIN_MS { Ok(()) } else { self.renewed() }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // It is not removed if it may be another's by then; then it expires.
        let left = self.expires_ms - now_ms() - MARGIN_MS;
        if let (Ok(left), Ok(key)) = (u64::try_from(left), self.client.key(&self.path)) {
            self.client.try_within(Duration::from_millis(left), self.client.store().delete(&key));
        }
    }
}

/// Writes a lease, and returns its version and when it expires; none if another process was faster.
fn write(
    client: &Client,
    path: &str,
    owner: &str,
    mode: PutMode,
) -> Result<Option<(UpdateVersion, i64)>, String> {
    let expires_ms = now_ms() + LEASE_MS;
    let lease = Written { owner: owner.to_owned(), expires_ms };
    let bytes = serde_json::to_vec(&lease).map_err(|error| error.to_string())?;
    let key = client.key(path)?;
    client.run(path, "lock", async {
        match client.store().put_opts(&key, bytes.into(), mode.into()).await {
            Ok(done) => Ok(Some((done.into(), expires_ms))),
            Err(Error::AlreadyExists { .. } | Error::Precondition { .. } | Error::NotFound { .. }) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    })
}

/// The lease that is there; one that cannot be read has expired.
fn read(client: &Client, path: &str) -> Result<Option<(Written, UpdateVersion)>, String> {
    let key = client.key(path)?;
    client.run(path, "lock", async {
        let got = match client.store().get(&key).await {
            Err(Error::NotFound { .. }) => return Ok(None),
            got => got?,
        };
        let version = UpdateVersion { e_tag: got.meta.e_tag.clone(), version: got.meta.version.clone() };
        let written = serde_json::from_slice(&got.bytes().await?);
        Ok(Some((written.unwrap_or(Written { owner: String::new(), expires_ms: 0 }), version)))
    })
}

fn now_ms() -> i64 {
    Timestamp::now().as_millisecond()
}
