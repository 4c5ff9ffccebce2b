//! Records a span of the `tracing` crate.

use tracing_subscriber::prelude::*;

lttng_provider::include_events!();

#[tracing::instrument]
fn delivery(street: &str) {}

fn main() {
    tracing_subscriber::registry().with(lttng_provider_tracing::layer!()).init();
    delivery("Main Street");
}
