#!/usr/bin/env bash
#   scripts/check-minimum-rust.sh [CRATE]...
#
# Checks each published crate, from its package, by a compiler of the version that its `rust-version` claims: with all features
# but those that `package.metadata.newer-rust` names. Such a compiler comes from rustup, or is the system's own.
#
# Ends with status 77 if there is no compiler of some version; clippy's lint `incompatible_msrv`, which knows the standard
# library but not the language, is then all that checks the claim.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/packages.sh
export CARGO_TARGET_DIR=$CARGO_TARGET_DIR/minimum-rust
cd "$packages"

declare -A crates options
for name in "${chosen[@]}"; do
	version=$(sed --quiet 's/^rust-version = "\(.*\)"$/\1/p' "$name/Cargo.toml")
	crates[$version]+=" --package $name"
	newer=$(jq --raw-output --arg name "$name" '.packages[] | select(.name == $name) | .metadata["newer-rust"]? // [] | .[]' <<<"$metadata")
	for feature in $(features "$name"); do
		grep --quiet --line-regexp --fixed-strings "$feature" <<<"$newer" || options[$version]+=" --features $name/$feature"
	done
done

# Prints the command that is `cargo` with a compiler of a version, if one can be found or fetched.
cargo_of() {
	local toolchain=$1
	# A toolchain is named by three numbers.
	[[ $toolchain =~ ^[0-9]+\.[0-9]+$ ]] && toolchain+=.0
	if command -v rustup >/dev/null; then
		if rustup run "$toolchain" rustc --version >/dev/null 2>&1 ||
			timeout 120 rustup toolchain install "$toolchain" --profile minimal --no-self-update >/dev/null 2>&1; then
			echo "rustup run $toolchain cargo"
			return
		fi
	fi
	if [[ $(/usr/bin/rustc --version 2>/dev/null) == "rustc ${1%.0}."* ]]; then
		echo "env RUSTC=/usr/bin/rustc /usr/bin/cargo"
	fi
}

without=()
for version in "${!crates[@]}"; do
	cargo=$(cargo_of "$version")
	if [ -z "$cargo" ]; then
		without+=("$version")
		continue
	fi
	echo "Rust $version:${crates[$version]//--package /}"
	$cargo check --quiet --offline ${crates[$version]} ${options[$version]:-}
done
if [ ${#without[@]} -gt 0 ]; then
	echo "no compiler of Rust ${without[*]}: install it with rustup toolchain install VERSION"
	exit 77
fi
