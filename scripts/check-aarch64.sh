#!/usr/bin/env bash
# Builds every crate for aarch64 with both back ends on, and runs under QEMU what needs no LTTng: a viewer reads a trace, a
# traced program starts, its events and probes are listed.
#
# LTTng's headers are the same for all processors, and its library is loaded at run time, so those of this machine do for
# compiling. Babeltrace 2 is linked, so its bindings are left out. Ends with status 77 if a tool is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
target=aarch64-unknown-linux-gnu

missing() {
	echo "$1"
	exit 77
}
command -v aarch64-linux-gnu-gcc >/dev/null || missing "no compiler for aarch64: install gcc-aarch64-linux-gnu and libc6-dev-arm64-cross"
command -v qemu-aarch64 >/dev/null || missing "no emulator of aarch64: install qemu-user"
if [ ! -d "$(rustc --print target-libdir --target $target)" ]; then
	timeout 120 rustup target add $target >/dev/null 2>&1 || missing "no Rust for aarch64: install it with rustup target add $target"
fi

# To compare with; `make test` has built it. Before all that follows changes what Cargo would build.
[ -x target/debug/ltt-top ] || cargo build --offline --package ltt-top

# Only the headers of LTTng and of what it includes, so that no other header of this processor is found.
headers=$PWD/target/lttng-headers
rm --recursive --force "$headers"
mkdir --parents "$headers/include"
here=$(pkg-config --variable=includedir lttng-ust)
for folder in "$here" "$here/$(gcc -print-multiarch)"; do
	for part in lttng urcu; do
		[ ! -d "$folder/$part" ] || ln --symbolic "$folder/$part" "$headers/include/$part"
	done
	[ ! -e "$folder/urcu.h" ] || ln --symbolic "$folder"/urcu*.h "$headers/include/"
done
cat >"$headers/lttng-ust.pc" <<-EOF
	Name: LTTng-UST
	Description: the headers alone
	Version: $(pkg-config --modversion lttng-ust)
	Cflags: -I$headers/include
EOF

export PKG_CONFIG_ALLOW_CROSS=1 PKG_CONFIG_LIBDIR=$headers
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
# Debug information would double the time and the space.
export CARGO_PROFILE_DEV_DEBUG=none
. scripts/workspace.sh
cargo build --offline --target $target "${everything[@]}"
# For scripts/record-aarch64.sh.
cargo build --offline --target $target "${everything[@]}" --example emit-all

built=target/$target/debug
emulate=(qemu-aarch64 -L /usr/aarch64-linux-gnu)
echo "a program with both back ends starts without LTTng"
"${emulate[@]}" $built/every-type
echo "its events and probes are found"
"${emulate[@]}" $built/lttng-catalog list $built/valkey-lite | grep "35 LTTng-UST events and 35 USDT probes"
echo "a trace is read as it is here"
top=(top --format json tests/data/valkey-mixed.tar.xz)
here=$(target/debug/ltt-top "${top[@]}")
there=$("${emulate[@]}" $built/ltt-top "${top[@]}")
diff <(echo "$here") <(echo "$there")
