//! A service with spans, and the catalog that names them.

use tracing_subscriber::Registry;
use tracing_subscriber::layer::Layered;
use tracing_subscriber::prelude::*;

pub mod sales;

lttng_provider::include_events!();

/// The subscriber of most examples.
pub type Bridged = Layered<Option<lttng_provider_tracing::CatalogLayer<Registry>>, Registry>;

/// A registry with the layer alone.
pub fn subscriber() -> Bridged {
    tracing_subscriber::registry().with(lttng_provider_tracing::layer!())
}

/// The events of the catalog, for layers on other subscribers.
pub fn events() -> &'static [lttng_provider_tracing::generated::Event] {
    lttng_provider_tracing::events!()
}
