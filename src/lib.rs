//! Valkey's six LTTng-UST providers, ready to call.

lttng_provider::include_events!();
