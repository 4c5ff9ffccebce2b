# shellcheck shell=bash
# Sourced by the other scripts: one line a step, with the time since the first of them began.

export STEPS_BEGAN=${STEPS_BEGAN:-$(date +%s)}

step() { printf '[%3d s] %s\n' $(($(date +%s) - STEPS_BEGAN)) "$*"; }

# Says in one line what is wrong and what to do.
fail() {
	echo "$(basename "$0" .sh): $*" >&2
	exit 1
}

# need_shared_memory MIB WHO ADVISED: LTTng's buffers are there, and containers have little of it.
need_shared_memory() {
	local room
	room=$(df --output=avail --block-size=1M /dev/shm 2>/dev/null | tail --lines=1 | tr --delete --complement 0-9) || room=0
	[ "${room:-0}" -ge "$1" ] ||
		fail "/dev/shm has ${room:-no} MiB free, $2 $1; in a container, use --shm-size=$3m"
}

# Runs a command with its output in a file; on a terminal, its latest line is shown while it runs.
quietly() {
	local output=$1
	shift
	if [ ! -t 1 ]; then
		"$@" >>"$output" 2>&1
		return
	fi
	local status=0
	"$@" 2>&1 | tee --append "$output" | while IFS= read -r line; do
		printf '\r\033[K        %.*s' $((${COLUMNS:-80} - 9)) "$line"
	done || status=$?
	printf '\r\033[K'
	return "$status"
}
