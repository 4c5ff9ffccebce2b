#!/usr/bin/env bash
# The whole story in about a minute: a traced server, load with a few slow commands, and who was slow.
# Everything is private and goes away at the end, also after Ctrl-C; only the trace stays, in out/demo.
#
# For tests: DEMO_PROFILE=dev builds faster, DEMO_SHARE=20 makes a twentieth of the load, DEMO_TRACE says where to.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/step.sh

profile=${DEMO_PROFILE:-release}
share=${DEMO_SHARE:-1}
trace=${DEMO_TRACE:-out/demo}
target=${CARGO_TARGET_DIR:-target}
programs=$target/${profile/#dev/debug}
# Sockets live below it, and their paths may have 108 bytes at most.
home=$(mktemp -d /tmp/ltt-demo-XXXXXX)
log=$home/log
: >"$log"
pids=()
# Headings stand out on a terminal only.
bold='' plain=''
if [ -t 1 ]; then bold=$'\033[1m' plain=$'\033[0m'; fi

clean_up() {
	status=$?
	trap - EXIT
	for pid in "${pids[@]}"; do
		kill "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	rm --recursive --force "$home"
	exit "$status"
}
trap clean_up EXIT
trap 'exit 130' INT TERM
# Where fail was not called, the log says why.
trap 'tail --lines=20 "$log" >&2; fail "line $LINENO failed, after what is above"' ERR

lttng() { "${private[@]}" lttng --no-sessiond "$@" >>"$log" 2>&1; }
client() { redis-cli -p "$port" "$@" >/dev/null 2>>"$log"; }
load() { redis-benchmark -p "$port" "$@" >/dev/null 2>>"$log"; }
say() { printf '\n%s%s%s\n' "$bold" "$1" "$plain"; }

# Waits until a command succeeds: for a minute at most, and while all that was started runs.
until_true() {
	for _ in $(seq 600); do
		if "$@" >/dev/null 2>&1; then return; fi
		kill -0 "${pids[@]}" 2>/dev/null || break
		sleep 0.1
	done
	tail --lines=20 "$log" >&2
	fail "timed out waiting for: $*"
}

show() {
	say "$ ltt-top $* $trace"
	printf '  %s\n' "${explanation[@]}"
	echo
	"$programs/ltt-top" "$@" "$trace"
}

step "Checking Rust and the packages lttng-tools, liblttng-ust-dev, gcc and redis-tools"
# It has said why.
scripts/setup.sh demo || exit

# Root has one session daemon for the whole machine, and the demo must not disturb it. Any other user has a daemon for
# each LTTNG_HOME: so as root everything traced runs as nobody, or in a user namespace in which it is not root.
private=(env LTTNG_HOME="$home" LTTNG_UST_REGISTER_TIMEOUT=-1)
if [ "$(id -u)" -eq 0 ]; then
	as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	in_namespace=(unshare --user --map-user=1000 --map-group=1000)
	if "${as_nobody[@]}" true 2>/dev/null; then
		private=("${as_nobody[@]}" "${private[@]}")
		chown 65534:65534 "$home"
	elif "${in_namespace[@]}" true 2>/dev/null; then
		private=("${in_namespace[@]}" "${private[@]}")
	else
		fail "as root, neither another user (setpriv) nor a user namespace (unshare) is allowed here; run it as a plain user"
	fi
fi

# With less, ltt-top does not record, and would say so after all is built.
cores=$(getconf _NPROCESSORS_CONF)
need_shared_memory $((cores + 1)) "LTTng needs" $((32 * cores))

what=(--locked --package valkey-lite --package ltt-top --features valkey-lite/lttng)
# It downloads exactly the crates that the build needs.
crates() { cargo tree --quiet "${what[@]}" --edges normal,build "$@"; }
if ! crates --offline >/dev/null 2>&1; then
	step "Downloading crates"
	quietly "$log" crates --prefix none ||
		fail "crates cannot be downloaded: no network? ($(tail --lines=1 "$log" | sed 's/^ *//'))"
fi
step "Building valkey-lite (traced) and ltt-top, for some minutes the first time (five on two processors)"
cargo build --profile "$profile" --offline "${what[@]}" || fail "the build failed, after what is above"
# The repository may be where only root can look.
server=$programs/valkey-lite
viewer=$programs/ltt-top
if ! "${private[@]}" test -x "$server"; then
	cp "$server" "$viewer" "$home"
	chmod 755 "$home"/{valkey-lite,ltt-top}
	server=$home/valkey-lite
	viewer=$home/ltt-top
fi

step "Starting a private session daemon and the server"
"${private[@]}" mkdir "$home/data"
"${private[@]}" lttng-sessiond --no-kernel >>"$log" 2>&1 &
pids+=($!)
until_true lttng list
"${private[@]}" "$server" --port 0 --dir "$home/data" >>"$log" 2>&1 &
pids=($! "${pids[@]}")
until_true grep --quiet "ready on port" "$log"
port=$(sed --quiet 's/.*ready on port //p' "$log")

step "Filling it: $((500000 / share)) keys, and a set of $((1000000 / share)) members"
client DEBUG POPULATE $((500000 / share))
load -n $((1000000 / share)) -P 64 -r 100000000 SADD big __rand_int__

# ltt-top also samples what the scheduler does with the server, which explains what no event does.
"${private[@]}" "$viewer" record -e 'valkey_*' -o "$home/trace" >>"$log" 2>>"$home/recorder" &
recorder=$!
pids+=("$recorder")
until_true grep --quiet "recording into" "$home/recorder"

step "Recording 50 clients that set, get, push and pop, for about half a minute"
load -n $((50000 / share)) -r 100000 -t set,get,incr,lpush,lpop,hset &
mixed=$!
pids+=("$mixed")
# Who waits for KEYS is shown only if somebody was served before. A short load may be over by then.
has_clients() { redis-cli -p "$port" INFO 2>>"$log" | grep --quiet '^connected_clients:5[0-9]'; }
for _ in $(seq 20); do
	! has_clients || break
	sleep 0.05
done
step "Meanwhile: KEYS *, BGSAVE, keys that expire, a client that waits until it times out, DEL of the big set"
client KEYS '*'
client BGSAVE
load -n $((5000 / share)) -r 1000000 SET short:__rand_int__ value PX 200
client BLPOP nothing 0.2
client DEL big
wait "$mixed"
unset "pids[-1]"
step "Then: every write forced to disk before it is answered, and the file rewritten"
client CONFIG SET appendfsync always appendonly yes
until_true sh -c "redis-cli -p $port INFO persistence | grep --quiet aof_enabled:1"
load -n $((2000 / share)) -c 4 -r 100000 -t set
client BGREWRITEAOF
until_true sh -c "redis-cli -p $port INFO persistence | grep --count --extended-regexp 'aof_rewrite_(scheduled|in_progress):0' | grep --quiet 2"
kill -INT "$recorder"
wait "$recorder"
unset "pids[-1]"
rm --recursive --force "$trace"
mkdir --parents "$(dirname "$trace")"
cp --recursive "$home/trace" "$trace"
step "Recorded $(du --summarize --human-readable "$trace" | cut --fields=1); what it shows:"

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
	(while load -n 100000 -r 100000 -t set,get,incr,lpush,lpop; do :; done) &
	busy=$!
	pids+=("$busy")
	(while sleep 3; do client KEYS '*'; done) &
	slow=$!
	pids+=("$slow")
	"${private[@]}" "$viewer" live -e 'valkey_*' --for 20s
	for pid in "$busy" "$slow"; do
		kill "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
fi

report=$trace.html
say "$ ltt-top html $trace --output $report"
echo "  All of it as one page for a browser, to look at and to share."
"$programs/ltt-top" html "$trace" --output "$report" --force

say "The trace is in $trace, the report in $report. What to try next:"
cat <<-EOF
	  $programs/ltt-top slow $trace
	      commands, and the work between them: what was in the way of whom?
	  $programs/ltt-top hist $trace --event eventloop --over-time
	      when was the event loop slow?
	  $programs/ltt-top top $trace --event command_call --by addr
	      which client cost the most?
	  $programs/ltt-top events $trace --where name=keys --context 5
	      what happened just before and after KEYS?
	  $programs/ltt-top record -e 'valkey_*' --for 10s
	      record a server of your own, and say what held it up
	  $programs/ltt-top live -e 'valkey_*'
	      what is slow right now?
EOF
