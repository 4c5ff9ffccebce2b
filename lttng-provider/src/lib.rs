//! Runtime of catalog-driven LTTng-UST providers.
