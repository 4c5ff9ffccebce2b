#!/usr/bin/env bash
# What could not run for lack of a tool or a right: one list, printed after all tests.
#
#   scripts/missing.sh begin                       starts an empty list
#   scripts/missing.sh add WHAT NEEDS WHY          adds what no package would make possible on this machine
#   scripts/missing.sh add WHAT NEEDS WHY PACKAGE  adds what needs a package that is not installed
#   scripts/missing.sh list                        prints the list
#   scripts/missing.sh installable                 fails if a package on the list could be installed
#
# Tests add to the list through `need` of the crate `lttng-testing`. NOT_RUN_LIST names another file for it.
set -euo pipefail
cd "$(dirname "$0")/.."
list=${NOT_RUN_LIST:-target/not-run}

# Whether `make setup` installs packages here, so that a missing one is an error.
can_install() {
	command -v apt-get >/dev/null && { [ "$(id -u)" -eq 0 ] || sudo --non-interactive true 2>/dev/null; }
}

case ${1:-} in
begin)
	mkdir --parents "$(dirname "$list")"
	: >"$list"
	;;
add)
	[ $# -ge 4 ] || { echo "usage: scripts/missing.sh add WHAT NEEDS WHY [PACKAGE]" >&2; exit 2; }
	[ $# -gt 4 ] && kind=installable why="$4 (package $5)" || kind=machine why=$4
	printf '%s\t%s\t%s\t%s\n' "$kind" "$2" "$3" "$(tr --squeeze-repeats '[:space:]' ' ' <<<"$why" | sed 's/ $//')" >>"$list"
	;;
list)
	# Without a list, nothing has said whether anything is missing.
	[ -e "$list" ] || { echo "missing.sh: no list at $list: run scripts/missing.sh begin before the tests" >&2; exit 2; }
	sort --unique "$list" | while IFS=$'\t' read -r _ what needs why; do
		echo "not run: $what needs $needs: $why"
	done
	;;
installable)
	! { grep --quiet '^installable' "$list" && can_install; }
	;;
*)
	sed --quiet '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2
	exit 2
	;;
esac
