# shellcheck shell=bash
# Sourced by scripts/test.sh and scripts/check.sh: runs stages one after the other, whatever becomes of each, and sums up.
#
#   begin                            starts to count
#   stage NAME COMMAND [ARGUMENT]... says its name, and shows the command's output only if it fails; all is in target/stages
#   finish                           times, what could not run, what failed, and `N passed, N failed, N skipped`
#
# A command that ends with status 77 could not run here; its last line says why. Tests count themselves: target/debug/run-tests
# adds to TEST_RESULTS. A stage without tests is counted if it fails.
. scripts/step.sh
. scripts/workspace.sh

begin() {
	export CARGO_TERM_PROGRESS_WHEN=never CARGO_TERM_COLOR=never
	export TEST_RESULTS=$PWD/target/test-results NOT_RUN_LIST=$PWD/target/not-run TEST_PROGRAMS=$PWD/target/programs
	# As root each session daemon under test is in a user namespace. Where those are refused, as in some containers, all tests
	# run as nobody, with root's access to files.
	as_user=()
	if [ "$(id -u)" -eq 0 ] && ! unshare --user true 2>/dev/null; then
		as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all,+dac_override,+fowner
			--ambient-caps=-all,+dac_override,+fowner)
		"${as_user[@]}" true 2>/dev/null || fail "as root it needs user namespaces or setpriv, and both are refused here; run it as another user"
	fi
	scripts/missing.sh begin
	: >"$TEST_RESULTS"
	stage_times=()
	mkdir --parents target/stages
	# An interrupt does not reach what runs in the background: the report of progress, and what is made beside a stage.
	progress= beside=
	trap 'kill $progress $beside 2>/dev/null || true' EXIT
}

# The latest line that is not empty, cut to fit.
latest() { { tac "$stage_output" || true; } | sed --quiet '/[^[:space:]]/{s/^[[:space:]]*//p;q}' | cut --characters=1-100; }

# Shows every 30 seconds the latest line, so that nobody has to guess whether it still runs.
show_progress() {
	local line shown=""
	# A `sleep` would outlive this function and keep the pipe of `make test | less` open.
	while ! read -r -t 30 <> <(:); do
		line=$(latest)
		if [ "$line" = "$shown" ]; then step "    still running: $line"; else step "    $line"; fi
		shown=$line
	done
}

failures() { grep --count '^failed' "$TEST_RESULTS" || true; }

stage() {
	local name=$1 status=0 failures_before reason took TIMEFORMAT='%R %U %S'
	shift
	stage_output=target/stages/${name//[^a-zA-Z0-9]/-}.log
	step "$name"
	failures_before=$(failures)
	show_progress &
	progress=$!
	took=$({ time "$@" >"$stage_output" 2>&1 </dev/null; } 2>&1) || status=$?
	kill "$progress" 2>/dev/null || true
	wait "$progress" 2>/dev/null || true
	progress=
	stage_times+=("$took $name")
	case $status in
	0) ;;
	77)
		reason=$(latest)
		reason=${reason#*not run: }
		step "    not run: $reason"
		scripts/missing.sh add "stage \"$name\"" "what is not installed" "$reason"
		;;
	*)
		grep --invert-match --extended-regexp '^test .* \.\.\. (ok|ignored.*)$|^running [0-9]+ tests?$|^$' "$stage_output" || true
		step "failed with status $status: $name ($*)"
		[ "$(failures)" -gt "$failures_before" ] || printf 'failed\tstage "%s"\n' "$name" >>"$TEST_RESULTS"
		;;
	esac
	return "$status"
}

finish() {
	local passed failed skipped skipped_tests
	printf '\n%10s %10s  stage\n' seconds processor
	printf '%s\n' "${stage_times[@]}" | awk '{
		printf "%10.0f %10.0f  %s\n", $1, $2 + $3, substr($0, index($0, $4)); wall += $1; cpu += $2 + $3
	} END { printf "%10.0f %10.0f  all\n\n", wall, cpu }'
	scripts/missing.sh list
	sed --quiet 's/^failed\t/failed: /p' "$TEST_RESULTS"
	skipped=$(cut --fields=2 "$NOT_RUN_LIST" | sort --unique | wc --lines)
	# libtest takes a test that could not run as passed.
	skipped_tests=$(cut --fields=2 "$NOT_RUN_LIST" | sort --unique | grep --count --invert-match '^stage ' || true)
	passed=$(awk -F '\t' '$1 ~ /^[0-9]+$/ { sum += $1 } END { print sum + 0 }' "$TEST_RESULTS")
	failed=$(failures)
	echo "$((passed - skipped_tests)) passed, $failed failed, $skipped skipped"
	[ "$failed" -eq 0 ]
}

# Builds all tests and lists them in a file for target/debug/run-tests.
binaries=$PWD/target/test-binaries.json
build_tests() { cargo test "${everything[@]}" --lib --bins --tests --no-run --message-format=json-render-diagnostics >"$binaries"; }

# `cargo` with a deadline for each test of `cargo test`.
cargo_with_deadlines() {
	"${as_user[@]}" cargo --config "target.'cfg(all())'.runner = '$PWD/target/debug/run-tests'" "$@"
}
