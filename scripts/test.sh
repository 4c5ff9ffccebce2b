#!/usr/bin/env bash
# `make test`: what must hold before a change lands and needs nothing but LTTng, a C compiler and Babeltrace. All is built in
# one configuration, with tracing on. What is slow or needs more is in scripts/check.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/stages.sh

begin
fail_early() { finish || exit 1; }
stage "fetching dependencies" cargo fetch --locked || fail_early
stage "formatting" cargo fmt --all --check || true
stage "lints" cargo clippy "${everything[@]}" --all-targets -- --deny warnings || true
stage "documentation" env RUSTDOCFLAGS="--deny warnings" cargo doc "${everything[@]}" --no-deps || true
stage "programs that are traced" scripts/programs.sh "$PWD/target" || fail_early
stage "building tests" cargo test "${everything[@]}" --no-run || fail_early
stage "tests" cargo_with_deadlines test "${everything[@]}" --no-fail-fast --lib --bins --tests || true
stage "examples in documentation" target/debug/run-tests cargo test "${everything[@]}" --no-fail-fast --doc || true
finish
