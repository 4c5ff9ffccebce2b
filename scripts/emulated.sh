#!/bin/sh
# Runs the reader's tests that need no LTTng where bytes are in another order and where addresses have 32 bits:
# on s390x, emulated by qemu-user, and on i686, which x86-64 runs by itself.
#
# Usage: scripts/emulated.sh
# Exit status: 0 passed, 77 not run because something is missing (one line says what), else failed.
#
# Debian packages: gcc-s390x-linux-gnu libc6-dev-s390x-cross gcc-i686-linux-gnu libc6-dev-i386-cross qemu-user
set -eu
cd "$(dirname "$0")/.."

not_run() {
    echo "emulated.sh: not run: $1" >&2
    exit 77
}

installed=$(rustc --print sysroot)/lib/rustlib
for architecture in s390x i686; do
    command -v $architecture-linux-gnu-gcc >/dev/null ||
        not_run "$architecture-linux-gnu-gcc is missing (package gcc-$architecture-linux-gnu)"
    [ -d "$installed/$architecture-unknown-linux-gnu" ] ||
        not_run "the Rust target is missing: rustup target add $architecture-unknown-linux-gnu"
done
command -v qemu-s390x >/dev/null || not_run "qemu-s390x is missing (package qemu-user)"

export CARGO_TARGET_S390X_UNKNOWN_LINUX_GNU_LINKER=s390x-linux-gnu-gcc
export CARGO_TARGET_S390X_UNKNOWN_LINUX_GNU_RUNNER="qemu-s390x"
export CARGO_TARGET_I686_UNKNOWN_LINUX_GNU_LINKER=i686-linux-gnu-gcc
# Static programs need no libraries of another architecture when they run.
export RUSTFLAGS="-C target-feature=+crt-static"
# Emulation is slow enough.
export CARGO_PROFILE_DEV_OPT_LEVEL=1

# The tests of bytes and layouts. Those of damaged metadata count bytes of a text, in no byte order.
for architecture in s390x i686; do
    target=$architecture-unknown-linux-gnu
    cargo test --quiet --target $target --package ctf-reader --lib
    cargo test --quiet --target $target --package ctf-reader --test reader -- cases:: ordered:: packets:: large:: \
        special_files:: fuzz_corpus lists_of_nothing --skip in_bounded_memory
    cargo test --quiet --target $target --package lttng-live --test receiver -- honest lengths
done
