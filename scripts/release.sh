#!/usr/bin/env bash
# Builds what is attached to a release, in out/release: static binaries, Debian packages, a bill of materials (CycloneDX) for
# each program, the section of CHANGELOG.md, and SHA-256 sums of all.
#
#   scripts/release.sh [static] [deb] [sbom]    by default all of them
#
# On a tag it refuses if the tag, the version in Cargo.toml and CHANGELOG.md do not agree. For tests: STATIC_PROFILE=dev and
# DEB_PROFILE=dev build faster.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/step.sh

out=$PWD/out/release
version=$(sed --quiet 's/^version *= *"\(.*\)"/\1/p' Cargo.toml | head --lines=1)
parts=("$@")
[ $# -gt 0 ] || parts=(static deb sbom)
# The section of a version, or of what is not released yet.
section() { awk -v title="## $1" 'index($0, title) == 1 { found = 1; next } found && /^## / { exit } found' CHANGELOG.md; }

tag=$(git tag --points-at HEAD --list 'v*' | head --lines=1)
if [ -n "$tag" ]; then
	[ "$tag" = "v$version" ] || fail "the tag is $tag, but Cargo.toml has version $version; set one to the other"
	notes=$(section "$version")
	[ -n "$notes" ] || fail "CHANGELOG.md has no section \"## $version\"; give Unreleased that title"
else
	step "This commit has no tag: the notes are those of Unreleased"
	notes=$(section Unreleased)
fi

rm --recursive --force "$out"
mkdir --parents "$out"
for part in "${parts[@]}"; do
	case $part in
	static)
		scripts/static.sh
		cp "out/static/ltt-top-$version"-* "$out"
		;;
	deb) scripts/deb.sh "$out" ;;
	sbom)
		cargo cyclonedx --version >/dev/null 2>&1 || fail "cargo-cyclonedx is missing; run: cargo install --locked cargo-cyclonedx"
		for program in ltt-top:viewer lttng-catalog:catalog-tool ltt-parquet:fleet; do
			folder=${program#*:} file=${program%:*}-$version.cdx
			cargo cyclonedx --quiet --format json --manifest-path "$folder/Cargo.toml" --override-filename "$file"
			mv "$folder/$file.json" "$out"
			# It writes one for every crate of the workspace.
			git ls-files --others --exclude-standard -z -- "*$file.json" | xargs --null --no-run-if-empty rm
		done
		;;
	*) fail "unknown part: $part; expected static, deb or sbom" ;;
	esac
done
(cd "$out" && sha256sum -- * >SHA256SUMS)
printf '%s\n' "$notes" >"$out/NOTES.md"
step "$out: $(find "$out" -type f | wc --lines) files"
