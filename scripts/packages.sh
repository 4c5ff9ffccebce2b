#!/usr/bin/env bash
# Packs all crates as `cargo publish` would, and unpacks those that are published into target/packages, a workspace without
# the rest of the repository. Sourced by the checks of what is published; defines `published`, the names of those crates,
# and `features`, which lists the features of one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

metadata=$(cargo metadata --no-deps --offline --format-version 1)
mapfile -t published < <(jq --raw-output '.packages[] | select(.publish != []) | .name' <<<"$metadata" | sort)
features() { jq --raw-output --arg name "$1" '.packages[] | select(.name == $name) | .features | keys[]' <<<"$metadata"; }

# Cargo's own verification would build everything again for each crate, with debug information and machine code.
cargo package --quiet --workspace --no-verify --allow-dirty --offline 2>&1 |
	{ grep --invert-match --regexp='^warning: ignoring' --regexp='manifest has no documentation' --regexp='^ *|$' --regexp='^ *= note: see' || true; }

packages=$PWD/target/packages
rm --recursive --force "$packages"
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
	tar --extract --gzip --file "target/package/$name-$version.crate" --directory "$packages/$name" --strip-components=1
	echo "$name = { path = \"$name\" }" >>"$packages/Cargo.toml"
done
cp Cargo.lock "$packages/Cargo.lock"
export CARGO_TARGET_DIR=$PWD/target
