#!/usr/bin/env bash
# The whole story in about a minute: a stock server with the module, load with a few slow commands, and who was slow.
# Everything is private and goes away at the end, also after Ctrl-C; only the trace stays, in out/demo.
#
# For tests: DEMO_PROFILE=dev builds faster, DEMO_SHARE=20 makes a twentieth of the load, DEMO_TRACE says where to.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/step.sh

profile=${DEMO_PROFILE:-demo}
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
	in_namespace=(unshare --user --map-user=99999 --map-group=99999)
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

what=(--locked --package valkey-trace-module --package ltt-top --features valkey-trace-module/lttng)
# It downloads exactly the crates that the build needs.
crates() { cargo tree --quiet "${what[@]}" --edges normal,build "$@"; }
if ! crates --offline >/dev/null 2>&1; then
	step "Downloading crates"
	quietly "$log" crates --prefix none ||
		fail "crates cannot be downloaded: no network? ($(tail --lines=1 "$log" | sed 's/^ *//'))"
fi
step "Building the module and ltt-top, for some minutes the first time"
cargo build --profile "$profile" --offline "${what[@]}" || fail "the build failed, after what is above"
# Copies: the repository may be where only root can look.
module=$home/libvalkey_trace.so
viewer=$home/ltt-top
install --mode=755 "$programs/libvalkey_trace_module.so" "$module"
install --mode=755 "$programs/ltt-top" "$viewer"

# A server of the distribution, or one on the PATH; what runs already is not touched. Debian's redis-tools has the whole server as
# redis-check-rdb, which serves if it is called redis-server; unlike the package redis-server it starts no service.
server=$(command -v valkey-server || command -v redis-server || true)
if [ -z "$server" ]; then
	ln --symbolic "$(command -v redis-check-rdb)" "$home/redis-server"
	server=$home/redis-server
fi

step "Starting a private session daemon and $("$server" --version | cut --delimiter=' ' --fields=1-3)"
"${private[@]}" mkdir "$home/data"
"${private[@]}" lttng-sessiond --no-kernel >>"$log" 2>&1 &
pids+=($!)
until_true lttng list
# On a loopback port that nobody listens on; another program may take it first.
for _ in $(seq 10); do
	port=$((20000 + RANDOM % 20000))
	if (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then continue; fi
	"${private[@]}" LD_PRELOAD="$module" "$server" --port "$port" --bind 127.0.0.1 --dir "$home/data" --save '' \
		--enable-debug-command local --lazyfree-lazy-user-del no --loadmodule "$module" >"$home/server" 2>&1 &
	until_true grep --quiet --ignore-case --extended-regexp "ready to accept connections|address already in use" "$home/server"
	if grep --quiet --ignore-case "ready to accept connections" "$home/server"; then
		pids=($! "${pids[@]}")
		break
	fi
	port=
done
[ -n "$port" ] || fail "ten ports in a row were taken"

step "Filling it: $((500000 / share)) keys, and a set of $((1000000 / share)) members"
client DEBUG POPULATE $((500000 / share))
load -n $((1000000 / share)) -P 64 -r 100000000 SADD big __rand_int__

# ltt-top also samples what the scheduler does with the server, which explains stalls without events.
"${private[@]}" "$viewer" record -e 'valkey_*' -o "$home/trace" >>"$log" 2>>"$home/recorder" &
recorder=$!
pids+=("$recorder")
until_true grep --quiet "recording into" "$home/recorder"

step "Recording 50 clients that set, get, push and pop, for some seconds"
load -n $((50000 / share)) -r 100000 -t set,get,incr,lpush,lpop,hset &
mixed=$!
pids+=("$mixed")
# Who waits for KEYS is shown only if somebody was served before. A short load may be over by then.
has_clients() { redis-cli -p "$port" INFO 2>>"$log" | grep --quiet '^connected_clients:5[0-9]'; }
for _ in $(seq 20); do
	! has_clients || break
	sleep 0.05
done
step "Meanwhile: KEYS *, a script, BGSAVE, keys that expire, a client that waits until it times out, DEL of the big set"
client KEYS '*'
client EVAL "for i = 1, $((200000 / share)) do redis.call('get', 'key:' .. i) end" 0
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
	"NO EVENT is the part of a turn of the event loop that no event covers.")
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
