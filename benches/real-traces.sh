#!/usr/bin/env bash
# Records the traces of a real Valkey that docs/performance.md measures commands of ltt-top by: FOLDER/held-up, long-pipelines, mixed
# and plain, each of some ten million events.
#
#   benches/real-traces.sh FOLDER [SECONDS]
#   cargo bench -p ltt-top --bench reading -- commands FOLDER/{held-up,long-pipelines,mixed,plain}
#
# Builds Valkey with tracepoints from Debian's source package in FOLDER, if that was not done before, and ltt-top. The server
# has a private port and session daemon. Traces vary by machine and load, so compare ratios.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(realpath --canonicalize-missing "${1:?"name a folder: benches/real-traces.sh FOLDER [SECONDS]"}")
seconds=${2:-14}
mkdir --parents "$folder"/{valkey,home}

if [ ! -x "$folder/valkey/src/valkey-server" ]; then
	archive=$(scripts/debian-source.sh valkey "$folder/source" sid)
	tar --extract --file "$archive" --directory "$folder/valkey" --strip-components=1
	make --silent --directory "$folder/valkey" --jobs="$(nproc)" USE_LTTNG=yes >"$folder/make.log" 2>&1 || {
		echo "real-traces: Valkey cannot be built: see $folder/make.log" >&2
		exit 1
	}
fi
cargo build --quiet --release --package ltt-top
ltt_top=${CARGO_TARGET_DIR:-target}/release/ltt-top
valkey=$folder/valkey/src
port=$((20000 + $$ % 20000))
# So that no other session daemon is used.
export LTTNG_HOME=$folder/home

ask() { "$valkey/valkey-cli" -p "$port" "$@"; }

# Clients that do this for the given time, in the background.
load() { timeout "$seconds" "$valkey/valkey-benchmark" -p "$port" -q -n 1000000000 "$@" >/dev/null 2>&1 & }

# Commands that are sent once a second.
each_second() {
	local until=$((SECONDS + seconds))
	while [ "$SECONDS" -lt "$until" ]; do
		for command in "$@"; do ask "$command" >/dev/null 2>&1 || true; done
		sleep 1
	done &
}

script() { echo "for i = 1, $1 do server.call('incr', 'n:' .. i) end"; }

# record NAME [OPTION]...: a server with these options, under the load that the function `load_NAME` starts.
record() {
	local name=$1 data recording
	shift
	rm --recursive --force "${folder:?}/$name"
	data=$(mktemp --directory "$folder/data-XXXXXX")
	"$ltt_top" record --enable 'valkey_*' --no-samples --output "$folder/$name" -- \
		"$valkey/valkey-server" --port "$port" --bind 127.0.0.1 --dir "$data" --save '' "$@" >"$folder/$name.log" 2>&1 &
	recording=$!
	timeout 30 bash -c "until '$valkey/valkey-cli' -p $port ping >/dev/null 2>&1; do sleep 0.1; done" || {
		echo "real-traces: the server does not answer within 30 s: see $folder/$name.log" >&2
		kill "$recording" 2>/dev/null
		exit 1
	}
	"load_${name//-/_}"
	sleep "$seconds"
	ask shutdown nosave || true
	wait "$recording" || true
	wait
	rm --recursive --force "$data"
	"$ltt_top" incidents --limit 1 "$folder/$name" | head --lines=2
}

# Turns of milliseconds, one after the other.
load_held_up() {
	load -c 8 -P 40 -d 100 -r 200000 -t set,get,lpush,mset,sadd
	load -c 4 -P 10 EVAL "$(script 20)" 0
	each_second BGREWRITEAOF
}

# Turns of tens of milliseconds.
load_long_pipelines() {
	load -c 30 -P 200 -d 400 -r 200000 -t set,get,lpush,mset
	load -c 8 -P 20 EVAL "$(script 100)" 0
	each_second BGREWRITEAOF
}

# Many kinds of commands, some of them slow.
load_mixed() {
	load -c 20 -P 16 -d 64 -r 200000 -t set,get,lpush,sadd,hset,zadd
	load -c 4 EVAL "$(script 200)" 0
	each_second BGREWRITEAOF "KEYS nothing*"
}

# What it says: clients that wait for each answer, and some that do not.
load_plain() {
	load -c 50 -r 200000 -t set,get,incr,lpush,lpop,sadd,hset
	load -c 20 -P 4 -r 200000 -t get
}

trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
record held-up --appendonly yes --maxmemory 60mb --maxmemory-policy allkeys-lru
record long-pipelines --appendonly yes --maxmemory 60mb --maxmemory-policy allkeys-lru
record mixed --appendonly yes
record plain
