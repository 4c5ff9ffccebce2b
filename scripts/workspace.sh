# shellcheck shell=bash
# Sourced by the other scripts: what `make test` builds, in one configuration, so that nothing is compiled twice.

crates=(--workspace)
# With tracing on, by LTTng and by probes.
everything=("${crates[@]}" --features "valkey-trace/lttng,valkey-trace/usdt")
