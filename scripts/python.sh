#!/usr/bin/env bash
# Prints the Python of a virtual environment in target/python that has these packages, and installs what is missing there.
#
#   scripts/python.sh duckdb
#
# Ends with status 77 and the reason if that is not possible here, e.g. without a network, or takes longer than
# PYTHON_TIMEOUT seconds, by default 60.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$PWD/target/python
unavailable() {
	echo "$*" >&2
	exit 77
}

mkdir --parents target
exec 9>target/python.lock
flock 9
command -v python3 >/dev/null || unavailable "python3 is not installed"
if [ ! -x "$folder/bin/pip" ]; then
	rm --recursive --force "$folder"
	python3 -m venv "$folder" >/dev/null 2>&1 || {
		rm --recursive --force "$folder"
		unavailable "python3 cannot make virtual environments (package python3-venv)"
	}
fi
for package in "$@"; do
	"$folder/bin/python" -c "import importlib.util, sys; sys.exit(importlib.util.find_spec('${package%%[=<>[]*}') is None)" ||
		timeout "${PYTHON_TIMEOUT:-60}" "$folder/bin/pip" --quiet --disable-pip-version-check --timeout 10 --retries 1 install "$package" >&2 ||
		unavailable "Python's package $package cannot be installed"
done
echo "$folder/bin/python"
