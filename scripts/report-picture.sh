#!/usr/bin/env bash
# Draws docs/report.png, the picture of a report in the README: the first screen of the recorded Valkey trace's page.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mktemp --directory)
trap 'rm --recursive --force "$folder"' EXIT
cp tests/data/valkey-mixed.tar.xz "$folder/valkey.tar.xz"
TZ=UTC cargo run --quiet --package ltt-top -- html "$folder/valkey.tar.xz" --output "$folder/report.html"
HOME=$folder chromium --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars \
	--user-data-dir="$folder/profile" --window-size=1200,1120 --virtual-time-budget=3000 \
	--screenshot="$PWD/docs/report.png" "file://$folder/report.html" 2>/dev/null
