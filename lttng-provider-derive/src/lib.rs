//! Structs, enums and functions become LTTng-UST tracepoints, checked against the catalog.
