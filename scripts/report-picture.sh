#!/usr/bin/env bash
# Draws docs/report.png, the picture of a report in the README: the first screen of the page of `make demo`, which comes first.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mktemp --directory)
trap 'rm --recursive --force "$folder"' EXIT
HOME=$folder TZ=UTC chromium --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars \
	--user-data-dir="$folder/profile" --window-size=1200,1120 --virtual-time-budget=3000 \
	--screenshot="$PWD/docs/report.png" "file://$PWD/${DEMO_TRACE:-out/demo}.html" 2>/dev/null
