#!/usr/bin/env bash
# The memory of `ltt-top live --metrics` beside a real server that is restarted again and again, minute by minute; docs/prometheus.md
# has the figures of an hour. It needs redis-tools, a release build of ltt-top, and the module (`make module`).
#
#   scripts/soak.sh [MINUTES [SECONDS from one start of the server to the next]]
#
# SERVER=... is another server. TOOL=... runs ltt-top under a tool, such as `heaptrack --output FILE`.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/step.sh

minutes=${1:-60}
period=${2:-60}
home=$(mktemp -d /tmp/ltt-soak-XXXXXX)
private=(env LTTNG_HOME="$home" LTTNG_UST_REGISTER_TIMEOUT=-1)
if [ "$(id -u)" -eq 0 ]; then
	# Root has one session daemon for the whole machine.
	private=(setpriv --reuid=65534 --regid=65534 --clear-groups "${private[@]}")
	chown 65534:65534 "$home"
fi
watcher='' server=''
clean_up() {
	for pid in $server $watcher; do
		kill "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	rm --recursive --force "$home"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

# Copies: the repository may be where only root can look.
install --mode=755 "${LTT_TOP:-target/release/ltt-top}" "$home/ltt-top"
# The package redis-tools has the server as redis-check-rdb, which serves if it is called redis-server.
install --mode=755 "${SERVER:-$(command -v redis-check-rdb)}" "$home/redis-server"
install --mode=755 out/module/libvalkey_trace.so "$home/module.so"
"${private[@]}" mkdir "$home/data"
port=$((20000 + RANDOM % 10000)) metrics=$((30000 + RANDOM % 10000))
figure() { awk -v name="$1" 'index($1, name) == 1 { sum += $2 } END { print sum + 0 }' "$home/metrics"; }

# shellcheck disable=SC2086 # A tool has options.
"${private[@]}" ${TOOL:-} "$home/ltt-top" live -e '*' --metrics "$metrics" >"$home/log" 2>&1 &
watcher=$!
begin=$SECONDS next=0
printf 'minute\tRSS KiB\tpeak KiB\tevents\tincidents\taged threads\tforgotten\tdiscarded\n'
while [ $((SECONDS - begin)) -le $((minutes * 60)) ]; do
	# Killed, as by a supervisor in a hurry: none of its threads says good-bye.
	if [ -n "$server" ]; then
		kill -9 "$server"
		wait "$server" 2>/dev/null || true
	fi
	"${private[@]}" "$home/redis-server" --port "$port" --dir "$home/data" --save '' --enable-debug-command yes \
		--loadmodule "$home/module.so" >"$home/server.log" 2>&1 &
	server=$!
	restart=$((SECONDS + period))
	sleep 1
	kill -0 "$server" 2>/dev/null || fail "the server ended: $(tail --lines=3 "$home/server.log")"
	redis-cli -p "$port" DEBUG POPULATE 20000 >/dev/null 2>&1 || true
	while [ "$SECONDS" -lt "$restart" ]; do
		redis-benchmark -p "$port" -c 20 -n 1000 -t set,get,lpush,incr >/dev/null 2>&1 || true
		redis-cli -p "$port" KEYS '*' >/dev/null 2>&1 || true
		sleep 1
		if [ $((SECONDS - begin)) -ge "$next" ] && curl --silent --max-time 10 "http://127.0.0.1:$metrics/metrics" >"$home/metrics"; then
			memory=$(sed --quiet --regexp-extended 's/^Vm(HWM|RSS):\s*([0-9]+) kB/\2/p' "/proc/$(pgrep --oldest --full "^$home/ltt-top live" || echo self)/status" | tac | paste --serial)
			printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' $(((SECONDS - begin) / 60)) "$memory" "$(figure ltt_top_events_total)" \
				"$(figure ltt_top_incidents_total)" "$(figure 'ltt_top_aged_out_total{what="threads"')" "$(figure ltt_top_forgotten_total)" "$(figure ltt_top_discarded)"
			next=$((next + 60))
		fi
		kill -0 "$watcher" 2>/dev/null || fail "ltt-top ended: $(tail --lines=3 "$home/log")"
	done
done
