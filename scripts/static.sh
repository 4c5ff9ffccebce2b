#!/usr/bin/env bash
# Builds ltt-top as static binaries, which run on any Linux of their processor: out/static/ltt-top-VERSION-PROCESSOR.
# Then runs each on the traces of the tests, a foreign one under emulation, and compares what they say.
#
#   scripts/static.sh [x86_64] [aarch64]    by default both
#
# For tests: STATIC_PROFILE=dev builds faster.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/step.sh

profile=${STATIC_PROFILE:-release}
target=${CARGO_TARGET_DIR:-target}
processors=("$@")
[ $# -gt 0 ] || processors=(x86_64 aarch64)
version=$(sed --quiet 's/^version *= *"\(.*\)"/\1/p' Cargo.toml | head --lines=1)
traces=(tests/data/*.tar.xz)
out=out/static
mkdir --parents "$out"

# What one binary says of all traces, in every form.
answers() {
	local trace command
	for trace in "${traces[@]}"; do
		for command in report outliers hist info "events --limit 1000"; do
			# shellcheck disable=SC2086 # a command and its options
			"$@" $command "$trace" --format json || echo "exit status $?"
		done
	done | sha256sum
}

first=
for processor in "${processors[@]}"; do
	triple=$processor-unknown-linux-musl
	# rustup says that a target is missing only in many lines, when the first crate is compiled.
	[ -d "$(rustc --print sysroot)/lib/rustlib/$triple" ] ||
		fail "the target $triple is missing; run: rustup target add $triple"
	step "Building for $triple"
	# Rust brings a linker and musl, so no cross compiler is needed.
	linker=CARGO_TARGET_$(tr a-z- A-Z_ <<<"$triple")_LINKER
	env "$linker=rust-lld" cargo build --locked --profile "$profile" --package ltt-top --target "$triple"
	binary=$out/ltt-top-$version-$processor
	cp "$target/$triple/${profile/#dev/debug}/ltt-top" "$binary"

	run=()
	if [ "$processor" != "$(uname --machine)" ]; then
		command -v "qemu-$processor" >/dev/null || {
			step "$binary: not run, qemu-$processor is missing (package qemu-user)"
			continue
		}
		run=("$(command -v "qemu-$processor")")
	fi
	step "Reading ${traces[*]} with it"
	said=$(answers env --ignore-environment TZ=UTC "${run[@]}" "$binary")
	[ -z "$first" ] || [ "$said" = "$first" ] || fail "$binary finds something else in the traces than ${processors[0]}"
	first=${first:-$said}
	step "$binary: $(du --apparent-size --human-readable "$binary" | cut --fields=1), $("${run[@]}" "$binary" --version)"
done
