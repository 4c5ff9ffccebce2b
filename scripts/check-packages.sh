#!/usr/bin/env bash
#   scripts/check-packages.sh [CRATE]...
#
# Checks that each published crate has what the registry shows, and builds from its package alone: with its default features,
# without any, with each one alone, and with all.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/packages.sh

cd "$packages"
for name in "${chosen[@]}"; do
	for file in README.md LICENSE-MIT LICENSE-APACHE; do
		if [ ! -s "$name/$file" ] || [ -L "$name/$file" ]; then
			echo "$name: its package lacks $file: link it beside Cargo.toml and name it in \`include\`" >&2
			exit 1
		fi
	done
	for key in description keywords categories license rust-version; do
		if ! grep --quiet "^$key = " "$name/Cargo.toml"; then
			echo "$name: Cargo.toml lacks $key" >&2
			exit 1
		fi
	done
done

# Warnings are errors: users of one feature alone would see what nobody here does.
check() {
	local said
	echo "cargo check --package $*"
	if ! said=$(cargo check --quiet --offline --package "$@" 2>&1) || [ -n "$said" ]; then
		echo "$said" >&2
		exit 1
	fi
}
for name in "${chosen[@]}"; do
	check "$name"
	[ -n "$(features "$name")" ] || continue
	check "$name" --no-default-features
	for feature in $(features "$name"); do
		[ "$feature" = default ] || check "$name" --no-default-features --features "$feature"
	done
	check "$name" --all-features
done
