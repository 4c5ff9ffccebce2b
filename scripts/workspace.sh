# shellcheck shell=bash
# Sourced by the other scripts: what `make test` builds, in one configuration, so that nothing is compiled twice.

# All but the one that needs libclang, which `make check` builds.
crates=(--workspace --exclude ltt-babeltrace2)
# With tracing on, by LTTng and by probes.
everything=("${crates[@]}" --features "valkey-trace/lttng,valkey-trace/usdt,ltt-parquet/man")
