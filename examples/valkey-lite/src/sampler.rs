//! A second thread that looks at the data: it and the event loop take turns under one lock, as Valkey and the
//! threads of its modules do.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::database::Database;
use crate::stall::StallPoint;

/// The time between two samples.
const INTERVAL: Duration = Duration::from_millis(20);
/// Values in a sample.
const SAMPLES: usize = 64;

/// Starts the thread; it ends with the process.
pub fn start(shared: &Arc<Mutex<Database>>) -> io::Result<()> {
    let shared = Arc::clone(shared);
    thread::Builder::new().name("sampler".into()).spawn(move || {
        loop {
            thread::sleep(INTERVAL);
            sample(&mut lock(&shared));
        }
    })?;
    Ok(())
}

/// Takes the lock, even if a thread has panicked with it: the server goes on.
pub fn lock(shared: &Mutex<Database>) -> MutexGuard<'_, Database> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn sample(database: &mut Database) {
    StallPoint::Sampler.reached();
    let (length, mut parts) = (database.len(), 0);
    if length > 0 {
        for _ in 0..SAMPLES {
            parts += database.value_at(fastrand::usize(..length)).map_or(0, |value| value.parts());
        }
    }
    database.sampled_parts = parts as f64 / SAMPLES as f64;
}
