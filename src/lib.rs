//! Valkey's six LTTng-UST providers, ready to call.
