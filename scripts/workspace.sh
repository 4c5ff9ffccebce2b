# shellcheck shell=bash
# Sourced by the other scripts: what `make test` builds, in one configuration, so that nothing is compiled twice.

# Every crate with tracing on, by LTTng and by probes. The bindings of Babeltrace 2 need libclang, and `make check` has them.
everything=(--workspace --exclude babeltrace2-source --features "valkey-trace/lttng,valkey-trace/usdt")
