#!/usr/bin/env bash
# Runs one stage of `make test`: says its name and the time since the first stage, and shows its output only if it fails.
# Every 30 seconds it shows the stage's latest line of output, so that nobody has to guess whether it still runs.
#
#   scripts/stage.sh NAME COMMAND [ARGUMENT]...
#
# A command that ends with status 77 could not run here; its last line says why, and goes to the list that
# scripts/missing.sh prints at the end.
set -euo pipefail
. "$(dirname "$0")/step.sh"

[ $# -ge 2 ] || { echo "usage: scripts/stage.sh NAME COMMAND [ARGUMENT]..." >&2; exit 2; }
name=$1
shift
export CARGO_TERM_PROGRESS_WHEN=never
output=$(mktemp)

# The latest line that is not empty, cut to fit.
latest() { { tac "$output" || true; } | sed --quiet '/[^[:space:]]/{s/^[[:space:]]*//p;q}' | cut --characters=1-100; }

show_progress() {
	local line shown=""
	# A `sleep` would outlive this function and keep the pipe of `make test | less` open.
	while ! read -r -t 30 <> <(:); do
		line=$(latest)
		if [ "$line" = "$shown" ]; then step "    still running: $line"; else step "    $line"; fi
		shown=$line
	done
}

step "$name"
show_progress &
progress=$!
trap 'kill "$progress" 2>/dev/null || true; rm --force "$output"' EXIT
status=0
"$@" >"$output" 2>&1 </dev/null || status=$?

case $status in
0) ;;
77)
	reason=$(latest)
	reason=${reason#*not run: }
	step "    not run: $reason"
	scripts/missing.sh add "stage \"$name\"" "what is not installed" "$reason"
	;;
*)
	cat "$output"
	step "failed with status $status: $name ($*)"
	exit "$status"
	;;
esac
