//! A thread that does one task after the other.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;

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
        self.queue.send(task).expect("the thread ends with the process");
    }

    /// Tasks queued or being worked on.
    pub fn pending(&self) -> usize {
        self.pending.load(Ordering::Acquire)
    }
}
