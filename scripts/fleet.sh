#!/usr/bin/env bash
# A fleet on one machine: N hosts, each with its own network, hostname, session daemon and traced server, stream to one relay; one
# of them is killed in the middle. Then the relay's folder is exported and asked.
#
#   scripts/fleet.sh FOLDER [HOSTS]      3 hosts by default; FOLDER must not exist
#
# Needs root or user namespaces, `ip` (iproute2), LTTng, redis-benchmark, and TEST_PROGRAMS or target/debug with the programs.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(realpath --canonicalize-missing "${1:?usage: scripts/fleet.sh FOLDER [HOSTS]}")
hosts=${2:-3}
if [ -z "${FLEET_INSIDE:-}" ]; then
	# All of it in namespaces: networks, mounts and processes go with the last process.
	exec env FLEET_INSIDE=yes unshare --user --map-root-user --net --mount --pid --fork --kill-child --mount-proc "$0" "$folder" "$hosts"
fi
programs=${TEST_PROGRAMS:+$TEST_PROGRAMS/traced}
programs=${programs:-$PWD/target/debug}
commands=${COMMANDS:-20000}
mkdir --parents "$folder/relay" "$folder/hosts"

# Waits until a command succeeds, for two minutes at most.
until_true() {
	for _ in $(seq 1200); do
		if "$@" >/dev/null 2>&1; then return; fi
		sleep 0.1
	done
	echo "fleet: timed out waiting for: $*" >&2
	exit 1
}

# A daemon that serves the machine is not ours.
[ ! -d /var/run/lttng ] || mount -t tmpfs none /var/run/lttng
ip link set lo up
ip link add fleet type bridge
ip address add 10.77.0.1/24 dev fleet
ip link set fleet up
mkdir "$folder/relay-home"
# Not root: LTTng's daemons would want what only the machine's root may.
plain=(unshare --user --map-user=1000 --map-group=1000)
LTTNG_HOME=$folder/relay-home "${plain[@]}" lttng-relayd --output="$folder/relay" --control-port=tcp://10.77.0.1:5342 \
	--data-port=tcp://10.77.0.1:5343 --live-port=tcp://10.77.0.1:5344 >"$folder/relay.log" 2>&1 &
until_true bash -c 'exec 3<>/dev/tcp/10.77.0.1/5342'

cat >"$folder/host.sh" <<'HOST'
# What runs on a host: $1 its name, $2 its address, $3 the programs, $4 a folder for what it says, $5 the number of commands.
hostname "$1"
until ip link show eth0 >/dev/null 2>&1; do sleep 0.05; done
ip link set lo up
ip address add "$2/24" dev eth0
ip link set eth0 up
mount -t tmpfs none /dev/shm
# Not root: LTTng would serve the whole machine.
exec unshare --user --map-user=1000 --map-group=1000 env LTTNG_HOME="$4" LTTNG_UST_REGISTER_TIMEOUT=-1 sh -ec '
	lttng-sessiond --no-kernel &
	until lttng --no-sessiond list; do sleep 0.1; done
	lttng --no-sessiond create fleet --live=200000 --set-url=net://10.77.0.1:5342:5343
	lttng --no-sessiond enable-channel --userspace --subbuf-size=4M --num-subbuf=8 all
	lttng --no-sessiond enable-event --userspace --channel=all "valkey_*"
	for context in vpid vtid procname; do lttng --no-sessiond add-context --userspace --type=$context; done
	lttng --no-sessiond start
	"$1/valkey-lite" --port 7000 &
	until redis-cli -p 7000 ping; do sleep 0.1; done
	redis-benchmark -p 7000 -n "$3" -c 10 -t set -q
	touch "$2/loaded"
	until [ -e "$2/../end" ]; do sleep 0.1; done
	lttng --no-sessiond stop
	lttng --no-sessiond destroy --no-wait
	touch "$2/done"
' sh "$3" "$4" "$5"
HOST

pids=()
for host in $(seq "$hosts"); do
	mkdir "$folder/hosts/$host"
	unshare --net --uts --mount --pid --fork --kill-child sh "$folder/host.sh" "host-$host" "10.77.0.$((host + 10))" \
		"$programs" "$folder/hosts/$host" "$((host < hosts ? commands : 1000000000))" >"$folder/hosts/$host/log" 2>&1 &
	pids+=($!)
	until_true pgrep --parent $!
	ip link add "host$host" type veth peer name eth0 netns "$(pgrep --parent $!)"
	ip link set "host$host" master fleet up
done
for host in $(seq $((hosts - 1))); do
	until_true test -e "$folder/hosts/$host/loaded"
done
# The last host is still busy when it dies, with all that is on it.
kill -KILL "$(pgrep --parent "${pids[-1]}")"
touch "$folder/hosts/end"
for host in $(seq $((hosts - 1))); do
	until_true test -e "$folder/hosts/$host/done"
done
sleep 1

"$programs/ltt-parquet" "$folder/relay" --output "$folder/tables"
"$programs/ltt-top" top --by host --event command_call --where name=set --format json "$folder/relay" >"$folder/top.json"
python3 - "$folder/top.json" "$commands" "$hosts" <<'PYTHON'
import json, sys

found, commands, hosts = json.load(open(sys.argv[1])), int(sys.argv[2]), int(sys.argv[3])
counts = {group["key"]["host"]: group["count"] for group in found["groups"]}
trace = found["trace"]
print(f"{trace['events']} events of {len(trace['hosts'])} hosts, {trace['discarded_events']} discarded, {trace['lost_packets']} packets lost")
for host in range(1, hosts + 1):
    received = counts.get(f"host-{host}", 0)
    if host == hosts:
        print(f"host-{host}: {received} commands received until it was killed; what its buffers held is lost")
        continue
    print(f"host-{host}: {received} of {commands} commands received")
    if received != commands:
        sys.exit(f"host-{host} lost {commands - received} commands")
PYTHON
