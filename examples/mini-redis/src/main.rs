//! `mini-redis-server` with its existing spans recorded: `traced-mini-redis [ADDRESS]`, by default 127.0.0.1:6379.
//!
//! Lines that end in `// +`, here and in `Cargo.toml`, and `build.rs` are what recording adds to a service.

use tokio::net::TcpListener;
use tokio::signal;
use tracing_subscriber::prelude::*;

lttng_provider::include_events!(); // +

#[tokio::main]
async fn main() -> mini_redis::Result<()> {
    tracing_subscriber::registry()
        .with(lttng_provider_tracing::layer!()) // +
        .init();
    let address = std::env::args().nth(1).unwrap_or("127.0.0.1:6379".to_owned());
    let listener = TcpListener::bind(address).await?;
    println!("listening on {}", listener.local_addr()?);
    mini_redis::server::run(listener, signal::ctrl_c()).await
}
