#!/usr/bin/env bash
# Checks Rust and installs the system packages that are missing, if it may; otherwise prints the command to run.
#
#   scripts/setup.sh demo          what `make demo` needs
#   scripts/setup.sh quickstart    what README's quickstart needs
#   scripts/setup.sh test          both, and what `make test` compares with
#   scripts/setup.sh check         that, and what `make check` and benchmarks need (default)
#   scripts/setup.sh --print SET   prints the command that installs all packages of a set
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/step.sh

traced=(
	# Recording, and building programs that can be recorded.
	lttng-tools liblttng-ust-dev gcc libc6-dev pkg-config
)
demo=(
	# The server, as redis-check-rdb, and load for it. The package redis-server would start a service.
	redis-tools
)
quickstart=(
	# Reading traces with something else.
	babeltrace
)
tests=(
	babeltrace2
	# Programs with USDT probes.
	systemtap-sdt-dev
)
check=(
	# Bindings for tests, the other linker, looking into programs.
	libclang-dev libbabeltrace2-dev lld binutils
	# Compilers for other processors, and a reader of what Cargo says.
	gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-s390x-linux-gnu libc6-dev-s390x-cross
	gcc-i686-linux-gnu libc6-dev-i386-cross jq
	# Other compilers of generated C, other readers of USDT probes.
	g++ clang bpftrace gdb make cmake
	# What the sources of memcached and Valkey need, and their tests.
	libevent-dev autoconf automake patch perl tcl
	# Counting instructions, unpacking the recorded trace.
	valgrind tar xz-utils zstd
	# A terminal for the live screen, shells that parse the completions.
	tmux zsh fish
	# A browser for the pages of reports.
	chromium
	# Other processors, and LTTng for one of them.
	qemu-user mmdebstrap
	# A monitor that asks for live figures.
	prometheus
	# Engines that read exported tables, and networks for hosts that are made up.
	default-jre-headless python3-venv iproute2
	# Another language that declares events at run time.
	ruby
	# Whether man pages and Debian packages are as they should be.
	man-db dpkg-dev lintian
)

print=no
if [ "${1:-}" = --print ]; then
	print=yes
	shift
fi
fedora="lttng-tools lttng-ust-devel gcc pkgconf"
arch="lttng-tools lttng-ust gcc pkgconf"
case ${1:-check} in
demo)
	packages=("${traced[@]}" "${demo[@]}")
	fedora+=" redis" arch+=" redis"
	;;
quickstart)
	packages=("${traced[@]}" "${quickstart[@]}")
	fedora+=" babeltrace" arch+=" babeltrace"
	;;
test)
	packages=("${traced[@]}" "${demo[@]}" "${quickstart[@]}" "${tests[@]}")
	fedora+=" redis babeltrace babeltrace2 systemtap-sdt-devel" arch+=" redis babeltrace systemtap"
	;;
check)
	packages=("${traced[@]}" "${demo[@]}" "${quickstart[@]}" "${tests[@]}" "${check[@]}")
	fedora+=" redis babeltrace babeltrace2 libbabeltrace2-devel clang-devel clang gcc-c++ bpftrace gdb make cmake libevent-devel lld binutils ruby systemtap-sdt-devel valgrind tar xz tmux zsh fish qemu-user man-db"
	arch+=" redis babeltrace clang bpftrace gdb make cmake libevent lld binutils ruby systemtap valgrind tar xz tmux zsh fish qemu-user man-db"
	;;
*)
	echo "usage: scripts/setup.sh [--print] [demo|quickstart|test|check]" >&2
	exit 2
	;;
esac

install_command() {
	echo "sudo apt-get update && sudo apt-get install --yes --no-install-recommends $*"
}

if [ $print = yes ]; then
	install_command "${packages[@]}"
	exit
fi

# Rust: there, and new enough for every crate. The oldest one that works is what the manifests say.
check_rust() {
	local needed found
	needed=$(sed --quiet 's/^rust-version *= *"\(.*\)"/\1/p' Cargo.toml ./*/Cargo.toml ./*/*/Cargo.toml |
		sort --version-sort | tail --lines=1)
	if ! command -v cargo >/dev/null || ! command -v rustc >/dev/null; then
		if [ -x "${CARGO_HOME:-$HOME/.cargo}/bin/cargo" ]; then
			echo "Rust is installed but not in PATH; run: . \"${CARGO_HOME:-$HOME/.cargo}/env\""
		else
			echo "Rust is not installed; install $needed or newer from https://rustup.rs"
		fi
	elif ! found=$(rustc --version 2>/dev/null); then
		echo "rustc does not run; with rustup, run: rustup default stable"
	else
		found=${found#rustc }
		found=${found%%[ -]*}
		if ! printf '%s\n' "$needed" "$found" | sort --version-sort --check=quiet; then
			if command -v rustup >/dev/null; then
				echo "Rust $found is too old, $needed or newer is needed; run: rustup update stable && rustup default stable"
			else
				echo "Rust $found is too old, $needed or newer is needed; install it from https://rustup.rs"
			fi
		fi
	fi
}
rust=$(check_rust)

# Not Debian or Ubuntu: what is missing cannot be installed from here, only said.
if ! command -v dpkg-query >/dev/null; then
	[ -z "$rust" ] || fail "$rust"
	for program in lttng cc pkg-config redis-benchmark babeltrace; do
		case $program:${1:-check} in redis-benchmark:quickstart | babeltrace:demo) continue ;; esac
		command -v $program >/dev/null ||
			fail "$program is missing; on Fedora: sudo dnf install $fedora; on Arch: sudo pacman -S $arch"
	done
	exit 0
fi

missing=()
for package in "${packages[@]}"; do
	status=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
	[ "$status" = installed ] || missing+=("$package")
done
as_root=()
if [ ${#missing[@]} -gt 0 ] && [ "$(id -u)" -ne 0 ]; then
	if sudo --non-interactive true 2>/dev/null; then
		as_root=(sudo --non-interactive)
	else
		# Both at once: nobody should be sent away twice.
		[ -z "$rust" ] || echo "setup: $rust" >&2
		fail "packages are missing; run: $(install_command "${missing[@]}")"
	fi
fi
[ -z "$rust" ] || fail "$rust"
[ ${#missing[@]} -gt 0 ] || exit 0

log=$(mktemp)
trap 'rm --force "$log"' EXIT
apt() {
	"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get --quiet --option Dpkg::Use-Pty=0 \
		--option Acquire::http::Timeout=30 "$@"
}
install=(install --no-install-recommends "${missing[@]}")
# How much it would be; fails if the package lists are not there or too old.
amount() {
	apt --assume-no "${install[@]}" 2>/dev/null | sed --quiet --regexp-extended \
		's/^Need to get ([^ ]+ [^ ]+).*/\1 to download, /p; s/^After this operation, (.+) of additional.*/\1 on disk/p' |
		tr --delete '\n' || true
}
update() {
	step "Updating the package lists"
	quietly "$log" apt update || true
}

size=$(amount)
if [ -z "$size" ]; then
	update
	size=$(amount)
fi
step "Installing ${missing[*]}${size:+ ($size)}"
if ! quietly "$log" apt --yes "${install[@]}"; then
	# Lists that are too old name versions that are gone.
	update
	if ! quietly "$log" apt --yes "${install[@]}"; then
		if grep --quiet --extended-regexp 'resolv|connect|unreachable|timed out' "$log"; then
			fail "packages cannot be downloaded: no network? ($(grep --extended-regexp --only-matching --max-count=1 \
				"(Temporary failure|Could not|Cannot|Unable to connect|Connection|Network is).*" "$log"))"
		fi
		tail --lines=20 "$log" >&2
		fail "packages are missing; run: $(install_command "${missing[@]}")"
	fi
fi
