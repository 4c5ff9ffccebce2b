#!/usr/bin/env bash
# Packs the published crates as `cargo publish` would, and unpacks them into target/packages, a workspace without
# the rest of the repository. Sourced by the checks of what is published; defines `chosen`, the crates to check (the arguments,
# or all that are published), and `features`, which lists the features of one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

metadata=$(cargo metadata --no-deps --offline --format-version 1)
mapfile -t published < <(jq --raw-output '.packages[] | select(.publish != []) | .name' <<<"$metadata" | sort)
chosen=("${published[@]}")
[ $# -eq 0 ] || chosen=("$@")
features() { jq --raw-output --arg name "$1" '.packages[] | select(.name == $name) | .features | keys[]' <<<"$metadata"; }

# Cargo's own verification would build everything again for each crate, with debug information and machine code.
cargo package --quiet "${published[@]/#/--package=}" --no-verify --allow-dirty --offline 2>&1 |
	{ grep --invert-match --regexp='^warning: ignoring' --regexp='manifest has no documentation' --regexp='^ *|$' --regexp='^ *= note: see' || true; }

packages=$PWD/target/packages
before=$packages.before
rm --recursive --force "$before"
[ ! -d "$packages" ] || mv "$packages" "$before"
mkdir "$packages"
{
	echo '[workspace]'
	echo 'resolver = "3"'
	echo 'members = ["*"]'
	# The same as in the repository, so that dependencies are compiled once for both.
	sed --quiet '/^\[profile\.dev\]/,/^$/p' Cargo.toml
	echo '[patch.crates-io]'
} >"$packages/Cargo.toml"
for name in "${published[@]}"; do
	version=$(jq --raw-output --arg name "$name" '.packages[] | select(.name == $name) | .version' <<<"$metadata")
	mkdir "$packages/$name"
	# All files of a package have the same old time, by which Cargo would not notice that they changed.
	tar --extract --gzip --touch --file "target/package/$name-$version.crate" --directory "$packages/$name" --strip-components=1
	echo "$name = { path = \"$name\" }" >>"$packages/Cargo.toml"
done
cp Cargo.lock "$packages/Cargo.lock"
# What did not change since the last run keeps its time, and is not compiled again.
(cd "$packages" && find . -type f) | while read -r file; do
	! cmp --quiet "$packages/$file" "$before/$file" || touch --reference="$before/$file" "$packages/$file"
done
rm --recursive --force "$before"
export CARGO_TARGET_DIR=$PWD/target
