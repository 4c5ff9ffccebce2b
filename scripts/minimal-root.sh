#!/usr/bin/env bash
# Tries the first five minutes on a minimal Debian: a root file system with make, Rust and a clone of this commit. Each scene
# says what was done and how long it took; a scene that fails ends the script.
#
#   sudo scripts/minimal-root.sh [SCENE…]
#
#   hints        what a user sees without rights, without Rust, with an old Rust, without a network
#   demo         `make demo` as root
#   demo-user    `make demo` as a plain user without sudo; the packages are there after `demo`
#   namespaces   `make demo` as root where user namespaces are refused
#   quickstart   README's quickstart, as root and as a plain user
#   install      `cargo install --path viewer`
#   deb          all Debian packages: built, installed with apt, run; man pages and completions
#   test         `make test` as root; only if it is named
#   test-user    `make test` as a plain user without sudo; only if it is named
#   test-namespaces  `make test` as root where user namespaces are refused; only if it is named
#
# Environment:
#   SUITE=bookworm     the Debian release
#   MIRROR=…           the Debian mirror, by default that of mmdebstrap
#   ROOT_ARCHIVE=…     keeps the minimal root in this archive, and uses it if it exists
#   TARGET=…           a target folder for root to use instead of building everything anew; times then say little
#   TMPDIR=/tmp        where the root is unpacked and everything is built: some 10 GB for the tests
#   DEMO_PROFILE, DEB_PROFILE=dev   build faster
#   DEMO_SHARE=20      a twentieth of the demo's load
#
# Everything is mounted in a private namespace and goes away at the end. Needs root, mmdebstrap and rustup.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/step.sh

[ "$(id -u)" -eq 0 ] || fail "it mounts folders; run: sudo scripts/minimal-root.sh"
for tool in mmdebstrap unshare rustup; do
	command -v $tool >/dev/null || fail "$tool is missing; mmdebstrap and util-linux are packages, rustup is at https://rustup.rs"
done
if [ -z "${INSIDE:-}" ]; then
	INSIDE=yes exec unshare --mount --pid --fork --kill-child --mount-proc "$0" "$@"
fi

scenes=("$@")
[ $# -gt 0 ] || scenes=(hints demo demo-user namespaces quickstart install deb)
suite=${SUITE:-bookworm}
work=$(mktemp --directory --tmpdir minimal-root-XXXXXX)
root=$work/root
mkdir "$root"
# A mount of its own, so that everything below it is unmounted at once. What is mounted there belongs to the machine:
# nothing is removed unless all of it is gone.
mount --bind "$root" "$root"
clean_up() {
	umount --recursive --lazy "$root" || true
	if grep --quiet " $work/" /proc/self/mounts; then
		echo "minimal-root: $work is still mounted and stays" >&2
	else
		rm --recursive --force --one-file-system "$work"
	fi
}
trap clean_up EXIT
archive=${ROOT_ARCHIVE:-$work/root.tar}

if [ ! -e "$archive" ]; then
	step "Making a minimal root of Debian $suite"
	mmdebstrap --quiet --variant=minbase --include=make,git,ca-certificates "$suite" "$archive" ${MIRROR:+"$MIRROR"}
fi
tar --extract --file "$archive" --directory "$root"
step "Debian $suite: $(chroot "$root" dpkg-query --show | wc --lines) packages, $(du --summarize --human-readable "$root" | cut --fields=1)"

# The file systems that a container has.
mount --type proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --make-rslave "$root/dev"
mount --type tmpfs --options size=64m,mode=1777 tmpfs "$root/dev/shm"
# The network as this machine has it, with whom it trusts.
cp /etc/resolv.conf /etc/hosts "$root/etc"
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs"
# Rust, for everybody to read. What cargo downloads is each user's own.
mkdir --parents "$root/opt/rustup" "$root/opt/rust/bin"
mount --bind --options ro "${RUSTUP_HOME:-$HOME/.rustup}" "$root/opt/rustup"
cp --no-dereference "${CARGO_HOME:-$HOME/.cargo}"/bin/{rustup,cargo,cargo-clippy,cargo-fmt,clippy-driver,rustc,rustdoc,rustfmt} "$root/opt/rust/bin"
chroot "$root" useradd --create-home user
for home in root home/user; do
	git clone --quiet . "$root/$home/valkey-trace"
done
if [ -n "${TARGET:-}" ]; then
	mkdir "$root/root/valkey-trace/target"
	mount --bind "$TARGET" "$root/root/valkey-trace/target"
fi
chroot "$root" chown --recursive --no-dereference user:user /home/user

# in_root USER COMMAND: as somebody who has just logged in. $wrap goes before, $rust is the PATH to Rust.
rust=/opt/rust/bin:
wrap=()
# After a `chroot` Linux would refuse user namespaces, which it grants on a real machine.
enter=(unshare --mount bash -euc 'cd "$0"; pivot_root . mnt; umount --lazy /mnt; exec "$@"' "$root")
in_root() {
	local user=$1 home
	home=$(chroot "$root" getent passwd "$user" | cut --delimiter=: --fields=6)
	"${wrap[@]}" "${enter[@]}" setpriv --reuid="$user" --regid="$user" --init-groups env --ignore-environment HOME="$home" USER="$user" \
		PATH="${rust}/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" RUSTUP_HOME=/opt/rustup RUSTUP_TOOLCHAIN=stable \
		DEMO_PROFILE="${DEMO_PROFILE:-}" DEMO_SHARE="${DEMO_SHARE:-}" DEB_PROFILE="${DEB_PROFILE:-}" CARGO_TERM_PROGRESS_WHEN=never \
		bash -euc "cd ~/valkey-trace; $2"
}

# fails USER COMMAND TEXT: the command fails, and says in its last line what TEXT (a pattern) is.
fails() {
	local said
	if said=$(in_root "$1" "$2" 2>&1); then fail "$2 did not fail: $said"; fi
	said=$(grep --invert-match '^make: ' <<<"$said" | tail --lines=1)
	# shellcheck disable=SC2053 # a pattern
	[[ $said == $3 ]] || fail "$2 says: $said; expected: $3"
	echo "        $said"
}

installed() { chroot "$root" dpkg-query --show --showformat='${Installed-Size}\n' | awk '{ sum += $1 } END { print int(sum / 1000) }'; }

hints() {
	step "As a user without sudo:"
	fails user "make demo" "setup: packages are missing; run: sudo apt-get update && sudo apt-get install --yes *lttng-tools*redis-tools"
	step "Without Rust:"
	rust='' fails root "make demo" "setup: Rust is not installed; install * or newer from https://rustup.rs"
	step "With an old Rust:"
	mkdir "$root/opt/old"
	printf '#!/bin/sh\necho "rustc 1.70.0 (90c541806 2023-05-31)"\n' >"$root/opt/old/rustc"
	chmod +x "$root/opt/old/rustc"
	rust=/opt/old:$rust fails root "make demo" "setup: Rust 1.70.0 is too old, * or newer is needed; run: rustup update *"
	step "Without a network, as root:"
	wrap=(unshare --net)
	fails root "make demo" "setup: packages cannot be downloaded: no network? (*)"
	wrap=()
}

# first_table USER: runs the demo and says how long it took until the first table.
first_table() {
	local before
	before=$(installed)
	step "make demo, as $1"
	in_root "$1" "make demo" | tee "$work/demo" | grep --line-buffered '^\[' || fail "make demo fails: $(tail --lines=3 "$work/demo")"
	# How slow it was depends on the machine.
	grep --quiet ':command_call keys ' "$work/demo" || fail "the demo does not show KEYS among the slowest commands"
	step "make demo as $1: first table after $(sed --quiet 's/^\[ *\([0-9]*\) s\] Recorded.*/\1/p' "$work/demo") s, $(($(installed) - before)) MB of packages installed"
}

demo() { first_table root; }

demo-user() {
	first_table user
	step "Without a network and without crates, as a plain user:"
	wrap=(unshare --net)
	fails user "CARGO_HOME=/tmp/nothing make demo" "demo: crates cannot be downloaded: no network? (*)"
	wrap=()
}

namespaces() {
	step "make demo as root, where user namespaces are refused"
	local enter=(chroot "$root")
	in_root root "! unshare --user true 2>/dev/null; make demo" | grep --line-buffered '^\['
}

quickstart() {
	step "Installing what README's quickstart names"
	in_root root "apt-get update --quiet=2; $(scripts/setup.sh --print quickstart | sed 's/.*&& sudo //') >/dev/null"
	for user in root user; do
		step "The quickstart, as $user"
		in_root $user "cd ..; rm --recursive --force hello; bash -euo pipefail <(valkey-trace/scripts/readme.sh 'Add a tracepoint to your service in two minutes')" \
			>"$work/quickstart" 2>&1 || { tail --lines=20 "$work/quickstart"; fail "the quickstart fails"; }
		[ "$(grep --count 'hello:greeted: ' "$work/quickstart")" -eq 3 ] || fail "the quickstart does not show three events"
		tail --lines=3 "$work/quickstart"
	done
}

install() {
	step "cargo install --path viewer, as a plain user"
	in_root root "apt-get update --quiet=2; apt-get install --quiet=2 --yes --no-install-recommends gcc libc6-dev >/dev/null"
	in_root user "cargo install --quiet --locked --path viewer && ~/.cargo/bin/ltt-top --version"
}

deb() {
	step "All Debian packages, built as a plain user"
	in_root root "apt-get update --quiet=2; apt-get install --quiet=2 --yes --no-install-recommends git dpkg-dev binutils gcc libc6-dev libbabeltrace2-dev libclang-dev liblttng-ust-dev pkg-config man-db bash-completion zsh fish >/dev/null"
	in_root user "scripts/deb.sh ~/deb"
	step "Installed with apt"
	in_root root "apt-get install --quiet=2 --yes --no-install-recommends /home/user/deb/*.deb >/dev/null"
	in_root user "ltt-top --version && lttng-catalog --version && ltt-parquet --version && ltt-top info tests/data/valkey-mixed.tar.xz | head -1"
	in_root user "man --warnings ltt-top-live 2>&1 | grep -q 'ltt-top live' && echo 'man ltt-top-live: there'" ||
		step "man pages are left out of minimal systems by dpkg; the package has $(in_root root "dpkg --listfiles ltt-top | grep --count man1/") "
	in_root user "bash -ic '. /usr/share/bash-completion/bash_completion; _completion_loader ltt-top; complete -p ltt-top' 2>/dev/null"
	in_root user "zsh -fic 'autoload -U compinit; compinit -u -D; echo zsh: \$_comps[ltt-top]'"
	in_root user "fish --command \"complete --do-complete 'ltt-top inc'\""
	in_root root "apt-get remove --quiet=2 --yes ltt-top lttng-catalog ltt-parquet >/dev/null; ! command -v ltt-top"
}

# A container's shared memory is too small for tests, which say so.
test() {
	fails root "make test" "*: /dev/shm has 64 MiB free, the tests need *"
	mount --options remount,size=256m "$root/dev/shm"
	step "make test, as root"
	in_root root "make test"
}

test-user() {
	mount --options remount,size=256m "$root/dev/shm"
	step "Installing what make test needs"
	in_root root "scripts/setup.sh test >/dev/null"
	step "make test, as a plain user"
	in_root user "make test"
}

test-namespaces() {
	mount --options remount,size=256m "$root/dev/shm"
	step "make test as root, where user namespaces are refused"
	local enter=(chroot "$root")
	in_root root "! unshare --user true 2>/dev/null; make test"
}

for scene in "${scenes[@]}"; do
	case $scene in
	hints | demo | demo-user | namespaces | quickstart | install | deb | test | test-user | test-namespaces) "$scene" ;;
	*) fail "there is no scene $scene" ;;
	esac
done
step "All of it works: ${scenes[*]}"
