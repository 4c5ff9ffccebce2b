//! A thread that looks at the data beside the event loop.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::database::Database;
use crate::stall;

/// The time between two samples.
const INTERVAL: Duration = Duration::from_millis(20);

/// Starts a thread that looks at the data: it and the event loop take turns under one lock, as Valkey and the
/// threads of its modules do. It ends with the process.
pub fn start_sampler(shared: &Arc<Mutex<Database>>) -> io::Result<()> {
    let shared = Arc::clone(shared);
    thread::Builder::new().name("sampler".into()).spawn(move || {
        loop {
            thread::sleep(INTERVAL);
            let database = lock(&shared);
            stall::SAMPLER.reached();
            std::hint::black_box(database.len());
        }
    })?;
    Ok(())
}

/// Takes the lock, even if a thread has panicked with it: the server goes on.
pub fn lock(shared: &Mutex<Database>) -> MutexGuard<'_, Database> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
