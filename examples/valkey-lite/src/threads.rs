//! The threads beside the event loop.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::database::Database;
use crate::stall;

/// The queue's end in the event loop. Workers print nothing and take no lock that a forked child could need.
pub struct Worker<Task> {
    queue: Sender<Task>,
    pending: Arc<AtomicUsize>,
}

impl<Task: Send + 'static> Worker<Task> {
    /// Starts the thread, which does `work` with one task after the other.
    pub fn start(name: &str, work: impl Fn(Task) + Send + 'static) -> io::Result<Self> {
        let (queue, tasks) = channel();
        let pending = Arc::new(AtomicUsize::new(0));
        let done = Arc::clone(&pending);
        thread::Builder::new().name(name.into()).spawn(move || {
            for task in tasks {
                work(task);
                done.fetch_sub(1, Ordering::Release);
            }
        })?;
        Ok(Self { queue, pending })
    }

    /// Queues a task.
    pub fn submit(&self, task: Task) {
        self.pending.fetch_add(1, Ordering::Relaxed);
        if self.queue.send(task).is_err() {
            // The thread ends only by a panic in `work`; the task has been dropped with the error.
            self.pending.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Tasks queued or being worked on.
    pub fn pending(&self) -> usize {
        self.pending.load(Ordering::Acquire)
    }
}

/// The time between two samples.
const INTERVAL: Duration = Duration::from_millis(20);
/// Values in a sample.
const SAMPLES: usize = 64;

/// Starts a thread that looks at the data: it and the event loop take turns under one lock, as Valkey and the
/// threads of its modules do. It ends with the process.
pub fn start_sampler(shared: &Arc<Mutex<Database>>) -> io::Result<()> {
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
    stall::SAMPLER.reached();
    let (length, mut parts) = (database.len(), 0);
    if length > 0 {
        for _ in 0..SAMPLES {
            parts += database.value_at(fastrand::usize(..length)).map_or(0, |value| value.parts());
        }
    }
    database.sampled_parts = parts as f64 / SAMPLES as f64;
}
