//! The layer beside others: `layers KIND`. Does the same each time, and prints what the other layer has.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use lttng_provider_tracing::{Bridge, CatalogLayer};
use tracing::{debug, debug_span, info, info_span};
use tracing_subscriber::filter::{EnvFilter, LevelFilter};
use tracing_subscriber::prelude::*;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{Registry, fmt, reload};

fn bridge<S: tracing::Subscriber + for<'s> LookupSpan<'s>>() -> Option<CatalogLayer<S>> {
    Bridge::new(bridged_service::events()).layer()
}

fn main() {
    let kind = std::env::args().nth(1).expect("usage: layers KIND");
    let log = Log::default();
    let text = log.clone();
    macro_rules! log {
        () => {{
            let text = text.clone();
            fmt::layer().without_time().with_ansi(false).with_writer(move || text.clone())
        }};
    }
    let registry = || tracing_subscriber::registry();
    match kind.as_str() {
        "alone" => registry().with(bridge()).init(),
        "log-inside" => registry().with(log!()).with(bridge()).init(),
        "log-outside" => registry().with(bridge()).with(log!()).init(),
        "log-filtered" => registry().with(log!().with_filter(LevelFilter::INFO)).with(bridge()).init(),
        "log-filtered-outside" => {
            registry().with(bridge()).with(log!().with_filter(LevelFilter::INFO)).init()
        }
        "filtered" => registry().with(log!()).with(bridge().with_filter(LevelFilter::INFO)).init(),
        "globally-filtered" => registry().with(EnvFilter::new("info")).with(bridge()).with(log!()).init(),
        "boxed" => registry().with(bridge::<Registry>().boxed()).with(log!()).init(),
        "reloaded" => {
            let (layer, handle) = reload::Layer::new(LevelFilter::OFF);
            registry().with(log!().with_filter(layer)).with(bridge()).init();
            handle.modify(|level| *level = LevelFilter::TRACE).expect("the layer is there");
        }
        "twice" => registry().with(bridge()).with(bridge()).with(log!()).init(),
        other => panic!("no kind {other}"),
    }
    work();
    print!("{}", String::from_utf8_lossy(&log.0.lock().unwrap()));
}

fn work() {
    info_span!("wait", order = 1).in_scope(|| info!(request = "info", "in a span"));
    debug_span!("wait", order = 2).in_scope(|| debug!(request = "debug", "in a span"));
    info_span!("unnamed", order = 3).in_scope(|| info!("unrelated"));
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
