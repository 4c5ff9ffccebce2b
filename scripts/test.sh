#!/usr/bin/env bash
# `make test`: what must hold before a change lands and needs nothing but LTTng, a C compiler and Babeltrace. All is built in
# one configuration, with tracing on. What is slow or needs more is in scripts/check.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/stages.sh

# Several sessions record at a time, each with buffers for all processors.
needed=$((128 * $(getconf _NPROCESSORS_CONF)))
need_shared_memory $needed "the tests need" $needed

begin
fail_early() { finish || exit 1; }
stage "fetching dependencies" cargo fetch --locked || fail_early
stage "formatting" cargo fmt --all --check || true
stage "programs that are traced" scripts/programs.sh "$PWD/target" || fail_early
stage "building tests" build_tests || fail_early
# Done beside the tests, which wait for daemons a part of the time; their own stages show what is wrong.
lints=(cargo clippy "${everything[@]}" --all-targets -- --deny warnings)
documentation=(env RUSTDOCFLAGS="--deny warnings" cargo doc "${everything[@]}" --no-deps)
"${lints[@]}" >/dev/null 2>&1 </dev/null &
beside=$!
"${documentation[@]}" >/dev/null 2>&1 </dev/null &
beside+=" $!"
stage "tests" "${as_user[@]}" target/debug/run-tests --all "$binaries" || true
stage "lints" "${lints[@]}" || true
stage "documentation" "${documentation[@]}" || true
stage "examples in documentation" "${as_user[@]}" target/debug/run-tests cargo test "${everything[@]}" --no-fail-fast --doc || true
finish
