#!/usr/bin/env bash
# The whole story in about a minute: a traced server, load with a few slow commands, and who was slow.
# Everything is private and goes away at the end, also after Ctrl-C; only the trace stays, in out/demo.
set -euo pipefail
cd "$(dirname "$0")/.."

# Sockets live below it, and their paths may have 108 bytes at most.
home=$(mktemp -d /tmp/ltt-demo-XXXXXX)
trace=$PWD/out/demo
log=$home/log
: >"$log"
pids=()
# Headings stand out on a terminal only.
[ -t 1 ] && heading='\n\033[1m%s\033[0m\n' || heading='\n%s\n'

clean_up() {
	status=$?
	trap - EXIT
	[ $status -eq 0 ] || [ $status -eq 130 ] || tail --lines=20 "$log" >&2
	for pid in "${pids[@]}"; do
		kill "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	rm --recursive --force "$home"
	exit "$status"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

# As root there is one session daemon for the whole machine; in a user namespace this one is ours.
private=(env LTTNG_HOME="$home" LTTNG_UST_REGISTER_TIMEOUT=-1)
if [ "$(id -u)" -eq 0 ]; then
	private=(unshare --user --map-user=1000 --map-group=1000 "${private[@]}")
fi
lttng() { "${private[@]}" lttng --no-sessiond "$@" >>"$log" 2>&1; }
client() { redis-cli -p "$port" "$@" >/dev/null 2>>"$log"; }
load() { redis-benchmark -p "$port" "$@" >/dev/null 2>>"$log"; }
say() { printf "$heading" "$1"; }

# Waits, for a minute at most, until a command succeeds.
until_true() {
	for _ in $(seq 600); do
		if "$@" >/dev/null 2>&1; then return; fi
		sleep 0.1
	done
	echo "demo: waited in vain for: $*" >&2
	exit 1
}

show() {
	say "$ ltt-top $* out/demo"
	printf '  %s\n' "${explanation[@]}"
	echo
	target/release/ltt-top "$@" out/demo
}

scripts/setup.sh demo
say "Building valkey-lite (traced) and ltt-top"
cargo build --release --quiet --package valkey-lite --features lttng
cargo build --release --quiet --package ltt-top

say "Recording valkey-lite under load, for about half a minute"
rm --recursive --force "$trace"
mkdir --parents "$trace" "$home/data"
"${private[@]}" lttng-sessiond --no-kernel >>"$log" 2>&1 &
pids+=($!)
until_true lttng list
"${private[@]}" target/release/valkey-lite --port 0 --dir "$home/data" >>"$log" 2>&1 &
pids=($! "${pids[@]}")
until_true grep --quiet "ready on port" "$log"
port=$(sed --quiet 's/.*ready on port //p' "$log")

echo "  500,000 keys, and a set of a million members"
client DEBUG POPULATE 500000
load -n 1000000 -P 64 -r 100000000 SADD big __rand_int__

lttng create demo --output="$trace"
lttng enable-event --userspace 'valkey_*'
lttng add-context --userspace --type=vpid --type=vtid --type=procname
lttng start

echo "  50 clients that set, get, push and pop"
load -n 50000 -r 100000 -t set,get,incr,lpush,lpop,hset &
mixed=$!
pids+=($mixed)
echo "  meanwhile: KEYS *, DEL of the big set, BGSAVE, keys that expire, a client that waits in vain"
client KEYS '*'
client BGSAVE
load -n 5000 -r 1000000 SET short:__rand_int__ value PX 200
client BLPOP nothing 0.2
client DEL big
wait "$mixed"
unset "pids[-1]"
echo "  then: every write forced to disk before it is answered, and rewriting the file"
client CONFIG SET appendfsync always appendonly yes
until_true sh -c "redis-cli -p $port INFO persistence | grep --quiet aof_enabled:1"
load -n 2000 -c 4 -r 100000 -t set
client BGREWRITEAOF
until_true sh -c "redis-cli -p $port INFO persistence | grep --count --extended-regexp 'aof_rewrite_(scheduled|in_progress):0' | grep --quiet 2"
lttng stop
lttng destroy demo

explanation=("What held the server up, why, who waited for it, and what helps?"
	"UNEXPL. is the part of a turn of the event loop that no event covers.")
show incidents --limit 8
explanation=("Where did the time go? Each command by its name, and the work between commands:"
	"how often, how long in total, and how long the slowest hundredth took at least.")
show top --limit 12
explanation=("Which single calls were the slowest, when, and for which client?"
	"BECAUSE OF: what within a call took most of its time.")
show slow --event command_call --limit 8
explanation=("What took improbably long, compared with others of its kind?"
	"A command that was seen only once is judged by all the others.")
show outliers --limit 8
explanation=("How long does a client wait for its turn of the event loop? Some microseconds,"
	"but for the bump at milliseconds: there the loop waited for the disk.")
show hist --event eventloop --event aof_fsync_always

if [ -t 1 ]; then
	say "$ ltt-top live -e 'valkey_*'"
	echo "  The same server, live for 20 seconds: ? lists the keys, q ends it."
	sleep 2
	client CONFIG SET appendonly no
	(while :; do load -n 100000 -r 100000 -t set,get,incr,lpush,lpop; done) &
	busy=$!
	pids+=($busy)
	(while sleep 3; do client KEYS '*'; done) &
	slow=$!
	pids+=($slow)
	"${private[@]}" target/release/ltt-top live -e 'valkey_*' --for 20s
	for pid in "$busy" "$slow"; do
		kill "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
fi

say "The trace is in out/demo. What to try next:"
cat <<-'EOF'
	  target/release/ltt-top slow out/demo
	      commands, and the work between them: what was in the way of whom?
	  target/release/ltt-top hist out/demo --event eventloop --over-time
	      when was the event loop slow?
	  target/release/ltt-top top out/demo --event command_call --by addr
	      which client cost the most?
	  target/release/ltt-top events out/demo --where name=keys --context 5
	      what happened just before and after KEYS?
	  target/release/ltt-top record -e 'valkey_*' --for 10s
	      record a server of your own, and say what held it up
	  target/release/ltt-top live -e 'valkey_*'
	      what is slow right now?
EOF
