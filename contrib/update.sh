#!/usr/bin/env bash
# Makes a patch of contrib/ again after its catalog or the generator changed: applies it to a tree of the version that it is for,
# generates its files, and takes the difference.
#
#   contrib/update.sh valkey|memcached TREE
set -euo pipefail
name=${1:?usage: contrib/update.sh valkey|memcached TREE}
tree=$(realpath "${2:?usage: contrib/update.sh valkey|memcached TREE}")
cd "$(dirname "$0")/.."
case $name in
valkey) generated=(catalog/valkey.toml --out src/trace) ;;
memcached) generated=(--dtrace catalog/memcached.toml --out .) ;;
*)
	echo "unknown patch: $name" >&2
	exit 2
	;;
esac
patch=$PWD/contrib/$name/$name.patch
work=$(mktemp --directory)
trap 'rm --recursive --force "$work"' EXIT
cp --recursive "$tree/." "$work"
git -C "$work" init --quiet
git -C "$work" add --all --force
git -C "$work" -c user.name=contrib -c user.email=contrib@localhost commit --quiet --message=upstream
patch --directory "$work" -p1 --silent --input "$patch"
generated[-1]=$work/${generated[-1]}
cargo run --quiet --package lttng-catalog-cli -- c "${generated[@]}" >/dev/null
git -C "$work" add --all --force
git -C "$work" diff --cached --no-renames >"$patch"
git -C "$work" diff --cached --stat | tail --lines=1
