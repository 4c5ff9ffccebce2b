#!/usr/bin/env bash
# Builds the programs that the tests run, each once: TARGET/programs/traced has those of the whole workspace with tracing on,
# TARGET/programs/off those that are also tested with tracing off.
#
#   scripts/programs.sh TARGET
#
# They are links to what Cargo has built, which stay when Cargo builds a program of the same name with other features. Tests
# find them by TEST_PROGRAMS=TARGET/programs, and without it run this script on a target folder that is theirs alone.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/workspace.sh
export CARGO_TARGET_DIR=${1:?usage: scripts/programs.sh TARGET}
unset USE_LTTNG USE_USDT

# The same packages as for all others, so that dependencies have the same features.
examples=(emit-all layers structs functions futures lazy outcomes drops signatures)

mkdir --parents "$CARGO_TARGET_DIR"
exec 9>"$CARGO_TARGET_DIR/programs.lock"
flock 9

# keep NAME FILE...: links what Cargo has built last.
keep() {
	local folder=$CARGO_TARGET_DIR/programs/$1 file
	mkdir --parents "$folder/examples"
	shift
	for file in "$@"; do
		# Whoever starts it at this moment must find the one or the other.
		[ "$CARGO_TARGET_DIR/debug/$file" -ef "$folder/$file" ] || {
			ln --force "$CARGO_TARGET_DIR/debug/$file" "$folder/$file.new"
			mv --force "$folder/$file.new" "$folder/$file"
		}
	done
}

cargo build "${crates[@]}" --bin scenario "${examples[@]/#/--example=}"
keep off scenario "${examples[@]/#/examples/}"
cargo build "${everything[@]}" --lib --bins --examples
mapfile -t built < <(cd "$CARGO_TARGET_DIR/debug" && find . examples -maxdepth 1 -type f \
	\( -perm -u+x -o -name '*.a' \) ! -name '*-????????????????' ! -name '*.cargo-*')
keep traced "${built[@]}"
# Nothing of these is traced.
ln --force "$CARGO_TARGET_DIR"/programs/traced/{ltt-top,ltt-parquet,lttng-catalog} "$CARGO_TARGET_DIR/programs/off/"
