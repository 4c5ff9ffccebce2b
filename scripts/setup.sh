#!/usr/bin/env bash
# Installs the system packages that are missing, if it may; otherwise prints the one command to run.
#
#   scripts/setup.sh demo    what `make demo` needs: to build with tracing, to record, to drive the example server
#   scripts/setup.sh test    that, and what tests and benchmarks compare with (default)
set -euo pipefail

demo=(
	# Tracing.
	lttng-tools liblttng-ust-dev
	# Building C providers.
	gcc libc6-dev pkg-config
	# Driving the example server.
	redis-tools
)
tests=(
	# Reading traces with something else.
	babeltrace babeltrace2 libbabeltrace2-dev
	# Bindings for tests, the other linker, looking into programs.
	libclang-dev lld binutils
	# Programs with USDT probes.
	systemtap-sdt-dev
	# Compilers for other processors, and a reader of what Cargo says.
	gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-s390x-linux-gnu libc6-dev-s390x-cross
	gcc-i686-linux-gnu libc6-dev-i386-cross jq
	# Other compilers of generated C, other readers of USDT probes.
	g++ clang bpftrace gdb make
	# Counting instructions, unpacking the recorded trace.
	valgrind tar xz-utils zstd
	# A terminal for the live screen.
	tmux
)
case ${1:-test} in
demo)
	packages=("${demo[@]}")
	fedora="lttng-tools lttng-ust-devel gcc pkgconf redis"
	arch="lttng-tools lttng-ust gcc pkgconf redis"
	;;
test)
	packages=("${demo[@]}" "${tests[@]}")
	fedora="lttng-tools lttng-ust-devel gcc pkgconf redis babeltrace babeltrace2 libbabeltrace2-devel clang-devel clang gcc-c++ bpftrace gdb make lld binutils systemtap-sdt-devel valgrind tar xz tmux"
	arch="lttng-tools lttng-ust gcc pkgconf redis babeltrace clang bpftrace gdb make lld binutils systemtap valgrind tar xz tmux"
	;;
*)
	echo "usage: scripts/setup.sh [demo|test]" >&2
	exit 2
	;;
esac

if ! command -v cargo >/dev/null; then
	echo "setup: Rust is not installed: install it with rustup" >&2
	exit 1
fi

if ! command -v dpkg-query >/dev/null; then
	echo "setup: not Debian or Ubuntu; make sure that these are installed:"
	echo "  Fedora: sudo dnf install $fedora"
	echo "  Arch:   sudo pacman -S $arch"
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
