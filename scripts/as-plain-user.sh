#!/usr/bin/env bash
# Runs the tests of `make test`, as they are built, once more as a plain user: no test may need root, a right of root's, or a
# folder of root's. `make check` does it, for the sake of CI, which is root.
#
#   scripts/as-plain-user.sh      needs root, and `make test` before
#
# The user exists in a private mount namespace only, and owns overlays of this folder and of Cargo's: what tests write goes
# away with them, as does every process. Adds to TEST_RESULTS and NOT_RUN_LIST. Ends with status 77 where mounts are refused.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/stages.sh

not_run() {
	echo "not run: $1"
	exit 77
}
if [ "$(id -u)" -ne 0 ]; then
	echo "make test has run as a plain user before"
	exit
fi
if [ -z "${INSIDE:-}" ]; then
	build_tests
	unshare --mount true 2>/dev/null || not_run "mount namespaces are refused here, as in some containers"
	INSIDE=yes exec unshare --mount --pid --fork --kill-child --mount-proc "$0"
fi

cargo=${CARGO_HOME:-$HOME/.cargo} rustup=${RUSTUP_HOME:-$HOME/.rustup}
# What is below these folders is covered from here on.
exec 8>>"${TEST_RESULTS:-/dev/null}" 9>>"${NOT_RUN_LIST:-/dev/null}"
own=$(mktemp --directory /tmp/plain-user-XXXXXX)
trap 'umount --lazy "$own" && rmdir "$own"' EXIT
mount --types tmpfs --options mode=755 none "$own"
id=40000
while getent passwd $id || getent group $id; do id=$((id + 1)); done >/dev/null
for file in passwd group; do cp /etc/$file "$own"; done
echo "plain-user:x:$id:$id::$own/home:/bin/sh" >>"$own/passwd"
echo "plain-user:x:$id:" >>"$own/group"
for file in passwd group; do mount --bind "$own/$file" /etc/$file; done
install --directory --owner=$id --group=$id "$own/home"
as_user=(setpriv --reuid=$id --regid=$id --clear-groups --inh-caps=-all)

folders=("$PWD")
for folder in "$cargo" "$rustup"; do [ ! -d "$folder" ] || folders+=("$folder"); done
for i in "${!folders[@]}"; do
	mkdir "$own/$i" "$own/$i"/{below,above,work}
	mount --bind "${folders[i]}" "$own/$i/below"
done
for i in "${!folders[@]}"; do
	# A tmpfs covers what only root may enter, which has the paths that were compiled in.
	folder=
	while read -r part; do
		folder+=/$part
		mkdir --parents "$folder"
		"${as_user[@]}" test -x "$folder" || mount --types tmpfs --options mode=755 none "$folder"
	done < <(tr / '\n' <<<"${folders[i]#/}")
	mount --types overlay --options "lowerdir=$own/$i/below,upperdir=$own/$i/above,workdir=$own/$i/work,metacopy=on" none "$folder" ||
		not_run "overlays are refused here"
	chown --recursive $id:$id "$folder"
done

cd "${folders[0]}"
status=0
"${as_user[@]}" env --ignore-environment HOME="$own/home" USER=plain-user PATH="$cargo/bin:/usr/local/bin:/usr/bin:/bin" \
	CARGO_HOME="$cargo" RUSTUP_HOME="$rustup" ${RUSTUP_TOOLCHAIN:+RUSTUP_TOOLCHAIN="$RUSTUP_TOOLCHAIN"} TEST_PROGRAMS="$PWD/target/programs" \
	TEST_RESULTS="$own/home/results" NOT_RUN_LIST="$own/home/not-run" target/debug/run-tests --all "$binaries" || status=$?
touch "$own/home"/{results,not-run}
sed 's/^failed\t/&as a plain user: /' "$own/home/results" >&8
sed 's/\t/&as a plain user: /' "$own/home/not-run" >&9
exit $status
