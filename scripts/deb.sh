#!/usr/bin/env bash
# Builds Debian packages of ltt-top, lttng-catalog and ltt-parquet (program, man pages, completions, catalogs, queries) and of the
# module for stock servers. They go to out/deb, or to the folder that is named.
#
#   scripts/deb.sh [DIR]
#
# A commit without a tag gives a version that sorts before the release. DEBFULLNAME and DEBEMAIL name the maintainer, by
# default the author of the commit. ltt-top has `--source babeltrace2` and comes with the plugin for Babeltrace 2, which is loaded when
# it is used: building needs its headers and libclang, running needs neither. For tests: DEB_PROFILE=dev builds faster.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/step.sh

out=${1:-out/deb}
profile=${DEB_PROFILE:-release}
target=${CARGO_TARGET_DIR:-target}
programs=$target/${profile/#dev/debug}
for tool in dpkg-deb dpkg-shlibdeps strip; do
	command -v $tool >/dev/null ||
		fail "$tool is missing; run: sudo apt-get update && sudo apt-get install --yes --no-install-recommends dpkg-dev binutils"
done
if ! command -v pkg-config >/dev/null || ! pkg-config --exists babeltrace2 lttng-ust; then
	fail "the headers of Babeltrace 2 or LTTng-UST are missing; run: sudo apt-get update && sudo apt-get install --yes --no-install-recommends libbabeltrace2-dev libclang-dev liblttng-ust-dev pkg-config"
fi
git rev-parse --quiet --verify HEAD >/dev/null || fail "this is not a Git repository: version and date come from the commit"

step "Building ltt-top, lttng-catalog and ltt-parquet"
cargo build --locked --profile "$profile" --package ltt-top --package ltt-babeltrace2 --package lttng-catalog-cli --package ltt-parquet \
	--features ltt-parquet/man,ltt-parquet/object-storage,ltt-top/babeltrace2
step "Building the module for stock servers"
MODULE_PROFILE=$profile scripts/module.sh >/dev/null

version=$(sed --quiet 's/^version *= *"\(.*\)"/\1/p' Cargo.toml | head --lines=1)
# Everything in the package is as old as the commit, so that the same commit gives the same package.
SOURCE_DATE_EPOCH=$(git log --max-count=1 --format=%ct)
export SOURCE_DATE_EPOCH
if ! git tag --points-at HEAD | grep --quiet --line-regexp "v$version"; then
	version+="~git$(date --utc --date="@$SOURCE_DATE_EPOCH" +%Y%m%d).$(git rev-parse --short=10 HEAD)"
fi
maintainer="${DEBFULLNAME:-$(git log --max-count=1 --format=%an)} <${DEBEMAIL:-$(git log --max-count=1 --format=%ae)}>"
architecture=$(dpkg --print-architecture)
work=$(mktemp -d)
trap 'rm --recursive --force "$work"' EXIT

# compress FILE…: as Debian wants it, without a time.
compress() { gzip --best --no-name "$@"; }

# The crates that are part of a program: name and version, and their licences.
crates() {
	local features=()
	if [ "$1" = ltt-top ]; then features=(--features babeltrace2); fi
	if [ "$1" = ltt-parquet ]; then features=(--features object-storage); fi
	cargo tree --locked --offline --package "$1" "${features[@]}" --edges normal --prefix none --format '{p}|{l}' |
		grep --invert-match "($PWD" | sort --unique
}

copyright() {
	cat <<-TEXT
		Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
		Upstream-Name: valkey-trace
		Comment: The program contains these crates, whose notices are in licenses.gz:
		$(crates "$1" | sed --regexp-extended 's/^([^ ]+) v([^ |]+)[^|]*\|(.*)/  \1 \2: \3/')

		Files: *
		Copyright: $(sed --quiet 's/^Copyright (c) //p' LICENSE-MIT)
		License: Expat or Apache-2.0

		License: Expat
		$(sed '1,/^Permission/{/^Permission/!d}; s/^$/./; s/^/ /' LICENSE-MIT)

		License: Apache-2.0
		 The text is in /usr/share/common-licenses/Apache-2.0.
	TEXT
}

# The notices of those crates, of two licences to choose from the shorter one.
notices() {
	local name version folder
	crates "$1" | while IFS=' |' read -r name version _; do
		# `cargo metadata` would know, but downloads every crate of the workspace for that.
		folder=$(find "${CARGO_HOME:-$HOME/.cargo}/registry/src" -mindepth 2 -maxdepth 2 -name "$name-${version#v}" | head --lines=1)
		[ -n "$folder" ] || continue
		printf '\n==== %s %s\n\n' "$name" "${version#v}"
		if compgen -G "$folder/*MIT*" >/dev/null; then
			cat "$folder"/*MIT*
		else
			find "$folder" -maxdepth 1 -type f \( -iname 'licen[cs]e*' -o -iname 'copying*' -o -iname 'unlicense*' \) -exec cat {} +
		fi
	done
}

# program NAME CRATE: stages a program with all that belongs to it, and builds its package.
program() {
	local name=$1 root=$work/$1 program=$programs/$1
	local share=$root/usr/share doc=$root/usr/share/doc/$1
	install -D --strip --mode=755 "$program" "$root/usr/bin/$name"
	"$program" man "$share/man/man1"
	compress "$share"/man/man1/*
	install -D --mode=644 <("$program" completions bash) "$share/bash-completion/completions/$name"
	install -D --mode=644 <("$program" completions zsh) "$share/zsh/vendor-completions/_$name"
	install -D --mode=644 <("$program" completions fish) "$share/fish/vendor_completions.d/$name.fish"
	if [ "$name" = ltt-top ]; then
		for catalog in catalog/*.toml; do
			[ "$catalog" = catalog/Cargo.toml ] || install -D --mode=644 "$catalog" "$share/$name/$catalog"
		done
		install -D --mode=644 docs/verdicts.md "$doc/verdicts.md"
		install -D --mode=644 babeltrace2/README.md "$doc/babeltrace2.md"
		install -D --strip --mode=644 "$programs/libltt_babeltrace2.so" \
			"$root/usr/lib/$(dpkg-architecture --query DEB_HOST_MULTIARCH)/babeltrace2/plugins/babeltrace-plugin-ltt-top.so"
	fi
	if [ "$name" = ltt-parquet ]; then
		install -D --mode=644 fleet/job.py "$share/$name/job.py"
		install -D --mode=644 --target-directory="$share/$name/sql" docs/sql/*.sql
		install -D --mode=644 docs/fleet.md "$doc/fleet.md"
	fi
	package "$name" "$2" "usr/bin/$name"
}

# library NAME CRATE FILE DOCUMENT: stages a library that no program links, and builds its package.
library() {
	install -D --mode=644 "$3" "$work/$1/usr/lib/valkey-trace/${3##*/}"
	install -D --mode=644 "$4" "$work/$1/usr/share/doc/$1/${4##*/}"
	package "$1" "$2" "usr/lib/valkey-trace/${3##*/}"
}

# package NAME CRATE FILE: adds what every package has, and builds NAME_VERSION_ARCHITECTURE.deb of what is staged.
package() {
	local name=$1 crate=$2 root=$work/$1 doc=$work/$1/usr/share/doc/$1
	mkdir --parents "$doc"
	copyright "$crate" >"$doc/copyright"
	notices "$crate" >"$doc/licenses"
	cp CHANGELOG.md "$doc/NEWS"
	cat >"$doc/changelog" <<-TEXT
		$name ($version) unstable; urgency=medium

		  * Built from commit $(git rev-parse --short=10 HEAD); NEWS.gz has what changed.

		 -- $maintainer  $(date --utc --rfc-email --date="@$SOURCE_DATE_EPOCH")
	TEXT
	compress "$doc"/{licenses,NEWS,changelog}

	mkdir --parents "$root/DEBIAN" "$work/debian"
	printf 'Source: %s\n\nPackage: %s\nArchitecture: any\n' "$name" "$name" >"$work/debian/control"
	depends=$(cd "$work" && dpkg-shlibdeps -O "$name/$3" 2>/dev/null | sed --quiet 's/^shlibs:Depends=//p')
	{
		printf '%s: %s\n' Package "$name" Version "$version" Architecture "$architecture" Maintainer "$maintainer" \
			Installed-Size "$(du --summarize --apparent-size --block-size=1K "$root" | cut --fields=1)" \
			Depends "$depends" Priority optional
		cat "scripts/deb/$name"
	} >"$root/DEBIAN/control"
	(cd "$root" && find usr -type f -print0 | sort --zero-terminated | xargs --null md5sum) >"$root/DEBIAN/md5sums"
	chmod --recursive u+rwX,go+rX,go-w "$root"
	local file=$out/${name}_${version}_$architecture.deb
	dpkg-deb --root-owner-group -Zxz --build "$root" "$file" >/dev/null
	step "$file: $(du --apparent-size --human-readable "$file" | cut --fields=1), needs $depends"
}

mkdir --parents "$out"
program ltt-top ltt-top
program lttng-catalog lttng-catalog-cli
program ltt-parquet ltt-parquet
library valkey-trace-module valkey-trace-module out/module/libvalkey_trace.so docs/stock-servers.md
