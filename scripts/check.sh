#!/usr/bin/env bash
# `make check`: what must hold before a release and is slow, or needs other tools than `make test`, which comes first.
# Tests are its own if they are marked `#[ignore = "make check: …"]`.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/stages.sh

begin
export TEST_DEADLINE=900
providers=(--package lttng-provider --package lttng-provider-derive --package market --package lttng-provider-tracing
	--package valkey-trace --package valkey-lite)
# alone FOLDER: a crate that is outside of the workspace because of what it needs.
alone() {
	local crate=(--manifest-path "$1/Cargo.toml")
	export CARGO_TARGET_DIR=$PWD/target USE_LTTNG=yes
	cargo fmt "${crate[@]}" --check &&
		cargo clippy "${crate[@]}" --locked --all-targets -- --deny warnings &&
		cargo_with_deadlines test "${crate[@]}" --locked --no-fail-fast
}

# What needs libclang and the headers of Babeltrace 2: its crate, and ltt-top with it.
babeltrace2() {
	local with=(--workspace --features "valkey-trace/lttng,valkey-trace/usdt,ltt-top/babeltrace2")
	cargo clippy "${with[@]}" --all-targets -- --deny warnings &&
		cargo build "${with[@]}" --bin ltt-top &&
		LTT_TOP=$PWD/target/debug/ltt-top cargo_with_deadlines test "${with[@]}" --test babeltrace2 --no-fail-fast &&
		target/debug/run-tests cargo test "${with[@]}" --doc -- babeltrace2/src
}

stage "programs that are traced" scripts/programs.sh "$PWD/target" || { finish || exit 1; }
stage "tests as a plain user" scripts/as-plain-user.sh || true
# They compute for so long that they are worth optimising.
stage "long statistics" cargo_with_deadlines --config profile.dev.package.ltt-analysis.opt-level=1 \
	test "${everything[@]}" --no-fail-fast --lib -- --ignored --skip in_another_process || true
stage "slow tests" cargo_with_deadlines test "${everything[@]}" --no-fail-fast --bins --test '*' -- --ignored --skip in_another_process || true
stage "mini-redis" alone examples/mini-redis || true
stage "bindings to LTTng-UST" alone tests/bindings || true
stage "Babeltrace 2" babeltrace2 || true
# 106 crates more, which nothing else needs.
stage "object storage" cargo_with_deadlines test "${everything[@]}" --features ltt-parquet/object-storage --test export -- --ignored bucket:: || true
stage "lints, tracing off" cargo clippy "${crates[@]}" --all-targets -- --deny warnings || true
stage "tests of the providers, tracing off" cargo_with_deadlines test "${providers[@]}" --no-fail-fast --lib --bins || true
stage "examples in documentation, tracing off" target/debug/run-tests cargo test "${providers[@]}" --no-fail-fast --doc || true
stage "packages, each feature alone" scripts/check-packages.sh || true
stage "minimum Rust" scripts/check-minimum-rust.sh || true
stage "aarch64" scripts/check-aarch64.sh || true
stage "recording on aarch64" scripts/record-aarch64.sh || true
stage "big-endian and 32-bit" scripts/emulated.sh || true
stage "Miri" scripts/miri.sh || true
stage "workflows" scripts/check-workflows.sh || true
scripts/missing.sh installable || printf 'failed\tpackages are missing although they can be installed here\n' >>"$TEST_RESULTS"
finish
