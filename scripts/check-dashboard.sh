#!/usr/bin/env bash
# Checks the dashboard with the types that Grafana publishes for dashboards (npm's @grafana/schema), in target/dashboard.
#
#   scripts/check-dashboard.sh
#
# Fails on fields that Grafana does not know, and on values that a field cannot have. Ends with status 77 and the reason if the
# types cannot be installed here, e.g. without a network.
set -euo pipefail
cd "$(dirname "$0")/.."
dashboard=$PWD/contrib/prometheus/grafana-dashboard.json
mkdir --parents target/dashboard
cd target/dashboard
exec 9>lock
flock 9
if [ ! -x node_modules/.bin/tsc ] || [ ! -d node_modules/@grafana/schema ]; then
	echo '{ "private": true }' >package.json
	timeout 120 npm install --silent --no-audit --no-fund --no-package-lock --ignore-scripts typescript@5 @grafana/schema@13 >&2 || {
		echo "npm cannot install typescript and @grafana/schema" >&2
		exit 77
	}
fi
{
	echo 'import type { Dashboard } from "@grafana/schema";'
	echo 'export const dashboard: Dashboard ='
	cat "$dashboard"
} >dashboard.ts
node_modules/.bin/tsc --noEmit --strict --skipLibCheck --module esnext --moduleResolution bundler dashboard.ts
