#!/usr/bin/env bash
# Downloads the source of a Debian package as its authors released it, and prints the archive's path. The machine's
# configuration of apt stays as it is: lists of sources are in the folder, and root is not needed.
#
#   scripts/debian-source.sh PACKAGE FOLDER [SUITE]
#
# SUITE is another release of Debian than the machine's, e.g. sid. An archive that is in the folder already is taken.
set -euo pipefail
package=$1
suite=${3:-}
mkdir --parents "$2"
cd "$2"
archive() { find "$PWD" -maxdepth 1 -name "${package}_*.orig.tar.*" ! -name '*.asc' | head --lines=1; }

if [ -z "$(archive)" ]; then
	mkdir --parents lists/partial cache/archives/partial sources
	# The machine's own sources of Debian or Ubuntu, with `deb-src` in the place of `deb`.
	for file in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
		[ -f "$file" ] && grep --quiet --extended-regexp 'debian|ubuntu' "$file" || continue
		sed --regexp-extended 's/^Types:.*/Types: deb-src/; s/^deb(-src)? /deb-src /' "$file" >"sources/$(basename "$file")"
		[ -z "$suite" ] || sed --in-place --regexp-extended "s/^Suites:.*/Suites: $suite/
			s/^(deb-src (\\[[^]]*\\] )?[^ ]+) [^ ]+/\\1 $suite/" "sources/$(basename "$file")"
	done
	options=(--quiet --option "Dir::Etc::SourceList=/dev/null" --option "Dir::Etc::SourceParts=$PWD/sources"
		--option "Dir::State::Lists=$PWD/lists" --option "Dir::Cache=$PWD/cache" --option Acquire::http::Timeout=30)
	[ "$(id -u)" -ne 0 ] || options+=(--option APT::Sandbox::User=root)
	{
		# A source that cannot be reached may not be the one that is needed.
		apt-get "${options[@]}" update || true
		apt-get "${options[@]}" source --download-only "$package"
	} >&2
fi
archive | grep .
