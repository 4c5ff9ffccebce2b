//! Requests that take turns on one thread, as in a service: each begins before the one before has ended, and their parts
//! interleave.

use std::time::Duration;

use tracing::{info, instrument};
use tracing_subscriber::prelude::*;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    bridged_service::subscriber().init();
    tokio::join!(request(1), request(2), request(3));
}

#[instrument]
async fn request(order: u64) {
    not_recorded(order).await;
    part(10 * order + 2, 5).await;
}

/// The catalog does not name it: what is in it is a part of the request.
#[instrument]
async fn not_recorded(order: u64) {
    part(10 * order + 1, 40).await;
}

#[instrument]
async fn part(order: u64, milliseconds: u64) {
    for _ in 0..milliseconds {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    info!(name: "said", order);
}
