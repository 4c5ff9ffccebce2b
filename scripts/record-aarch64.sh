#!/usr/bin/env bash
# Records on aarch64 under QEMU, with Debian's LTTng for that processor: `emit-all` runs where a session daemon traces it, and all
# 35 events come back with their values, as Babeltrace and `ltt-top` read them. scripts/check-aarch64.sh has built the programs.
#
# The root file system is unpacked, not booted: QEMU is told where it is, so programs of other processors need not be registered
# with the kernel. It is kept in target/aarch64-root. Ends with status 77 if something is missing.
#
# Environment: SUITE=bookworm, the Debian release; MIRROR=…, by default that of mmdebstrap
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/step.sh
built=$PWD/target/aarch64-unknown-linux-gnu/debug
root=$PWD/target/aarch64-root

missing() {
	echo "not run: $1"
	exit 77
}
for program in mmdebstrap:mmdebstrap qemu-aarch64:qemu-user babeltrace:babeltrace; do
	command -v "${program%:*}" >/dev/null || missing "${program%:*} is not installed (package ${program#*:})"
done
[ -x "$built/examples/emit-all" ] || missing "no programs for aarch64: scripts/check-aarch64.sh builds them"
# As root there would be one session daemon for the machine.
private=()
[ "$(id -u)" -ne 0 ] || private=(unshare --user --map-user=99999 --map-group=99999)
"${private[@]}" true 2>/dev/null || missing "as root it needs user namespaces"
if [ ! -d "$root" ]; then
	rm --recursive --force "$root.new"
	timeout 600 mmdebstrap --quiet --mode=chrootless --variant=extract --arch=arm64 --include=lttng-tools,liblttng-ust1 \
		"${SUITE:-bookworm}" "$root.new" ${MIRROR:+"$MIRROR"} || missing "Debian's packages for arm64 cannot be downloaded"
	mv "$root.new" "$root"
fi

# The path of a socket has at most 108 bytes.
home=$(mktemp --directory /tmp/aarch64-XXXXXX)
daemon=
clean_up() {
	[ -z "$daemon" ] || { kill "$daemon" 2>/dev/null; wait "$daemon"; } || true
	rm --recursive --force "$home"
}
trap clean_up EXIT
emulate=(env LTTNG_HOME="$home" LTTNG_UST_REGISTER_TIMEOUT=-1 "${private[@]}" qemu-aarch64 -L "$root")
# The daemon starts its consumer by this script, which the kernel can run.
cat >"$home/consumerd" <<-EOF
	#!/bin/sh
	exec qemu-aarch64 -L '$root' '$root/usr/lib/aarch64-linux-gnu/lttng/libexec/lttng-consumerd' "\$@"
EOF
chmod +x "$home/consumerd"
lttng() { timeout 60 "${emulate[@]}" "$root/usr/bin/lttng" --no-sessiond "$@"; }

"${emulate[@]}" "$root/usr/bin/lttng-sessiond" --no-kernel --consumerd64-path="$home/consumerd" >"$home/log" 2>&1 &
daemon=$!
for ((tries = 0; ; tries++)); do
	! lttng list >/dev/null 2>&1 || break
	[ $tries -lt 100 ] && kill -0 $daemon 2>/dev/null || fail "the session daemon does not start: $(tail --lines=3 "$home/log")"
	sleep 0.1
done
lttng create aarch64 --output="$home/trace"
lttng enable-event --userspace 'valkey_*'
lttng start
timeout 60 "${emulate[@]}" "$built/examples/emit-all"
lttng destroy

babeltrace --no-delta "$home/trace" >"$home/events"
grep --only-matching 'valkey_[a-z]*:[a-z_]*' "$home/events" | sort >"$home/names"
diff <(grep --only-matching 'valkey_[a-z]*:[a-z_]*' tests/data/valkey-metadata.tsdl | sort) "$home/names"
diff <(seq 35) <(sed 's/.*duration = \([0-9]*\).*/\1/' "$home/events")
grep 'command_call: .*"UNIX" : container = 1.* addr = "client:1", laddr = "server:2", name = "get"' "$home/events"
read=(top --limit 100 --format json "$home/trace")
diff <(target/debug/ltt-top "${read[@]}") <("${emulate[@]}" "$built/ltt-top" "${read[@]}")
echo "$(wc --lines <"$home/events") of 35 events are back"
