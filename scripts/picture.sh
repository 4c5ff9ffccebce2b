#!/usr/bin/env bash
# Draws docs/live.svg, the picture of the live screen in the README: what a terminal shows of a recorded scene.
set -euo pipefail
cd "$(dirname "$0")/.."
OVERWRITE=1 cargo test --quiet --package ltt-top --test program -- --ignored picture
