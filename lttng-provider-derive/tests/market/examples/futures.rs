//! Runs traced futures on several threads; orders have numbers, to tell them apart.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_core::Stream;
use lttng_provider::traced;
use market::warehouse::{self, Hall};
use tokio::runtime::Handle;
use tokio::sync::Barrier;

#[traced(
    warehouse::packed,
    fields(order = 1, address = "whole", counts = [], position = [0; 3], hall = Hall::North, waited = 0)
)]
async fn whole() -> Result<(), std::num::ParseIntError> {
    let number: u32 = polls("7").await?;
    assert_eq!(number, 7);
    Ok(())
}

#[traced(
    warehouse::packed,
    fields(order = 2, address = number, counts = [], position = [0; 3], hall = Hall::North, waited = 0),
    polling
)]
async fn polls(number: &str) -> Result<u32, std::num::ParseIntError> {
    std::thread::sleep(Duration::from_millis(5));
    tokio::time::sleep(Duration::from_millis(200)).await;
    let number = number.parse()?;
    Ok(number)
}

trait Packer {
    async fn pack(&mut self, order: u64);
}

struct Robot {
    packed: Vec<u64>,
}

impl Packer for Robot {
    #[traced(
        warehouse::packed,
        fields(address = %self.packed.len(), counts = [], position = [0; 3], hall = Hall::South, waited = 0)
    )]
    async fn pack(&mut self, order: u64) {
        tokio::task::yield_now().await;
        self.packed.push(order);
    }
}

/// Ends only when as many are in it as the barrier wants.
#[traced(
    warehouse::packed,
    fields(address = "together", counts = [], position = [0; 3], hall = Hall::South, waited = 0)
)]
async fn together(order: u64, barrier: Arc<Barrier>) {
    barrier.wait().await;
}

#[traced(
    warehouse::packed,
    fields(address = "endless", counts = [], position = [0; 3], hall = Hall::South, waited = 0)
)]
async fn endless(order: u64) {
    std::future::pending().await
}

#[traced(
    warehouse::packed,
    fields(address = "panics", counts = [], position = [0; 3], hall = Hall::South, waited = 0),
    polling
)]
async fn panics(order: u64) {
    tokio::task::yield_now().await;
    panic!("as it should");
}

/// Counts down to 0.
struct Countdown(u32);

impl Stream for Countdown {
    type Item = u32;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<u32>> {
        std::thread::sleep(Duration::from_millis(2));
        self.0 = match self.0.checked_sub(1) {
            Some(left) => left,
            None => return Poll::Ready(None),
        };
        context.waker().wake_by_ref();
        Poll::Ready(Some(self.0))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.0 as usize, Some(self.0 as usize))
    }
}

#[traced(
    warehouse::packed,
    fields(address = %cancelled, counts = [], position = [0; 3], hall = Hall::South, waited = 0)
)]
fn stream(order: u64, count: u32) -> impl Stream<Item = u32> + Unpin {
    if order == 0 {
        return Countdown(0);
    }
    Countdown(count)
}

#[traced(
    warehouse::packed,
    fields(address = name, counts = [], position = [0; 3], hall = Hall::South, waited = 0),
    polling
)]
fn boxed(order: u64, name: &str) -> Pin<Box<dyn Stream<Item = u32> + Send>> {
    Box::pin(Countdown(3))
}

async fn next(stream: &mut (impl Stream<Item = u32> + Unpin)) -> Option<u32> {
    std::future::poll_fn(|context| Pin::new(&mut *stream).poll_next(context)).await
}

#[traced(
    warehouse::packed,
    fields(order = 24, address = "all", counts = [], position = [0; 3], hall = Hall::South, waited = 0)
)]
async fn streams() {
    drop(stream(20, 3)); // never polled
    let mut whole = stream(21, 2);
    assert_eq!(whole.size_hint(), (2, Some(2)));
    tokio::time::sleep(Duration::from_millis(50)).await; // does not count
    assert_eq!(
        [next(&mut whole).await, next(&mut whole).await, next(&mut whole).await],
        [Some(1), Some(0), None]
    );
    assert_eq!(next(&mut whole).await, None, "it may be polled again, and is recorded once");
    let mut cancelled = stream(22, 2);
    assert_eq!(next(&mut cancelled).await, Some(1));
    drop(cancelled);
    let name = String::from("a name");
    let mut boxed = tokio::spawn(async move { boxed(23, &name) }).await.unwrap();
    while next(&mut boxed).await.is_some() {
        tokio::time::sleep(Duration::from_millis(50)).await; // does not count
    }
}

#[tokio::main(worker_threads = 4)]
async fn main() {
    streams().await;
    whole().await.unwrap();
    let mut robot = Robot { packed: vec![8] };
    robot.pack(3).await;
    assert_eq!(robot.packed, [8, 3]);

    // Each blocks a thread of its own until all have come.
    let barrier = Arc::new(Barrier::new(3));
    let threads = [4, 4, 4].map(|order| {
        let future = together(order, Arc::clone(&barrier));
        tokio::task::spawn_blocking(|| Handle::current().block_on(future))
    });
    for thread in threads {
        thread.await.unwrap();
    }

    // Tasks may continue on another thread after each wait.
    let barrier = Arc::new(Barrier::new(100));
    let tasks: Vec<_> = (0..100).map(|_| tokio::spawn(together(8, Arc::clone(&barrier)))).collect();
    for task in tasks {
        task.await.unwrap();
    }

    drop(endless(5)); // never polled
    {
        let mut cancelled = pin!(endless(6));
        assert!(cancelled.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    assert!(tokio::spawn(panics(7)).await.unwrap_err().is_panic());
}
