# shellcheck shell=bash
# Sourced by the other scripts: what `make test` builds, in one configuration, so that nothing is compiled twice.

# Every crate; the bindings of Babeltrace 2 need libclang, and `make check` has them.
crates=(--workspace)
[ ! -d babeltrace2 ] || crates+=(--exclude babeltrace2-source)
# With tracing on, by LTTng and by probes.
everything=("${crates[@]}" --features "valkey-trace/lttng,valkey-trace/usdt")
