//! Spans of futures: polled many times, on any thread, dropped before they end.

use std::thread::sleep;
use std::time::Duration;

use tracing::{Instrument, info_span, instrument};
use tracing_subscriber::prelude::*;

#[tokio::main(worker_threads = 3)]
async fn main() {
    bridged_service::subscriber().init();
    wait(1).await;
    let tasks: Vec<_> = (100..200).map(|order| tokio::spawn(yield_often(order))).collect();
    for task in tasks {
        task.await.expect("the task ends");
    }
    // Made long before it is polled, which does not count.
    let late = async {}.instrument(info_span!("wait", order = 2));
    sleep(Duration::from_millis(30));
    late.await;
    // Never polled; `Instrumented` enters the span to drop the future.
    drop(async {}.instrument(info_span!("wait", order = 3)));
    let endless = std::future::pending::<()>().instrument(info_span!("wait", order = 4));
    assert!(tokio::time::timeout(Duration::from_millis(1), endless).await.is_err());
}

/// 10 ms of work, 30 ms of waiting.
#[instrument(name = "wait")]
async fn wait(order: u64) {
    sleep(Duration::from_millis(5));
    tokio::time::sleep(Duration::from_millis(30)).await;
    sleep(Duration::from_millis(5));
}

#[instrument(name = "wait")]
async fn yield_often(order: u64) {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}
