#!/bin/sh
# Runs the tests of code with `unsafe` under Miri, as far as Miri can: it interprets Rust and calls no C, so what crosses
# to LTTng, libc or Babeltrace is left out.
#
# Usage: scripts/miri.sh
# Exit status: 0 passed, 77 not run because there is no nightly compiler with Miri (one line says so), else failed.
set -eu
cd "$(dirname "$0")/.."

if ! cargo +nightly miri --version >/dev/null 2>&1; then
    echo "miri.sh: not run: no nightly compiler with Miri: rustup toolchain install nightly --component miri,rust-src" >&2
    exit 77
fi

# Packing of events, copying of text, switches.
cargo +nightly miri test --quiet --package lttng-provider --lib
# Futures read the clock, which is there with tracing on.
USE_USDT=yes cargo +nightly miri test --quiet --package lttng-provider --lib ffi::future
# The reader has no `unsafe` of its own; this checks how it uses vectors and searches.
cargo +nightly miri test --quiet --package ctf-reader --lib -- brief:: every_nul_has_its_bit leb128 packets::index
