#!/usr/bin/env bash
# Installs the system packages that are missing, if it may; otherwise prints the one command to run.
set -euo pipefail

packages=(
	# Tracing, and reading traces.
	lttng-tools liblttng-ust-dev babeltrace babeltrace2 libbabeltrace2-dev
	# Building: C providers, bindings for tests, both linkers.
	gcc libc6-dev pkg-config libclang-dev lld binutils
	# Counting instructions, driving the example server, unpacking the recorded trace.
	valgrind redis-tools xz-utils
)

if ! command -v cargo >/dev/null; then
	echo "setup: Rust is not installed: install it with rustup" >&2
	exit 1
fi

if ! command -v dpkg-query >/dev/null; then
	echo "setup: no Debian or Ubuntu; make sure that these are installed:"
	echo "  Fedora: sudo dnf install lttng-tools lttng-ust-devel babeltrace babeltrace2 libbabeltrace2-devel gcc pkgconf clang-devel lld binutils valgrind redis xz"
	echo "  Arch:   sudo pacman -S lttng-tools lttng-ust babeltrace gcc pkgconf clang lld binutils valgrind redis xz"
	exit 0
fi

missing=()
for package in "${packages[@]}"; do
	status=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
	[ "$status" = installed ] || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
	exit 0
fi

install=(env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "${missing[@]}")
if [ "$(id -u)" -eq 0 ]; then
	as_root=()
elif sudo --non-interactive true 2>/dev/null; then
	as_root=(sudo --non-interactive)
else
	echo "setup: packages are missing; run: sudo apt-get install ${missing[*]}" >&2
	exit 1
fi
echo "setup: installing ${missing[*]}"
# The package lists may be too old to install from, or not there at all.
"${as_root[@]}" "${install[@]}" >/dev/null 2>&1 ||
	{ "${as_root[@]}" apt-get update --quiet && "${as_root[@]}" "${install[@]}"; }
