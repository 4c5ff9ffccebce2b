# shellcheck shell=bash
# Sourced by the other scripts: one line a step, with the time since the first of them began.

export STEPS_BEGAN=${STEPS_BEGAN:-$(date +%s)}

step() { printf '[%3d s] %s\n' $(($(date +%s) - STEPS_BEGAN)) "$*"; }

# Says in one line what is wrong and what to do.
fail() {
	echo "$(basename "$0" .sh): $*" >&2
	exit 1
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
