#!/usr/bin/env bash
# Builds the module for stock servers: out/module/libvalkey_trace.so, or in the folder that is named.
#
#   scripts/module.sh [DIR]
#
# For tests: MODULE_PROFILE=dev builds faster.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/step.sh

out=${1:-out/module}
profile=${MODULE_PROFILE:-release}
built=${CARGO_TARGET_DIR:-target}/${profile/#dev/debug}/libvalkey_trace_module.so
step "Building the module"
cargo build --locked --quiet --profile "$profile" --package valkey-trace-module --features lttng
# In one step: a server may be running with the old one, which must not change under it.
install -D --strip --mode=755 "$built" "$out/libvalkey_trace.so.new"
mv --force "$out/libvalkey_trace.so.new" "$out/libvalkey_trace.so"
step "$out/libvalkey_trace.so: load it with: redis-server --loadmodule $(realpath "$out")/libvalkey_trace.so"
