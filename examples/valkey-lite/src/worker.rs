//! A thread that works off a queue, so that the event loop need not wait.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;

/// The queue's end in the event loop. Workers print nothing and take no lock that a forked child could need.
pub struct Worker<Job> {
    queue: Sender<Job>,
    pending: Arc<AtomicUsize>,
}

impl<Job: Send + 'static> Worker<Job> {
    /// Starts the thread, which does `work` with one job after the other.
    pub fn start(name: &str, work: impl Fn(Job) + Send + 'static) -> io::Result<Self> {
        let (queue, jobs) = channel();
        let pending = Arc::new(AtomicUsize::new(0));
        let done = Arc::clone(&pending);
        thread::Builder::new().name(name.into()).spawn(move || {
            for job in jobs {
                work(job);
                done.fetch_sub(1, Ordering::Release);
            }
        })?;
        Ok(Self { queue, pending })
    }

    /// Queues a job.
    pub fn submit(&self, job: Job) {
        self.pending.fetch_add(1, Ordering::Relaxed);
        if self.queue.send(job).is_err() {
            // The thread ends only by a panic in `work`; the job has been dropped with the error.
            self.pending.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Jobs queued or being worked on.
    pub fn pending(&self) -> usize {
        self.pending.load(Ordering::Acquire)
    }
}
