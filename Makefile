# What a newcomer needs; longer than a few lines goes to scripts/.

.PHONY: setup demo test bench deb static

# Installs the system packages that are missing for all of these, or says which.
setup:
	@scripts/setup.sh test

# A traced server under load, and who was slow: about a minute after building.
demo:
	@scripts/demo.sh

# All that must hold before a change lands, with tracing off and on.
test: setup
	cargo fmt --all --check
	cargo clippy --quiet --workspace --all-targets -- --deny warnings
	cargo clippy --quiet --workspace --all-targets --all-features -- --deny warnings
	RUSTDOCFLAGS="--deny warnings" cargo doc --quiet --workspace --no-deps
	cargo test --quiet --workspace
	cargo test --quiet --package ltt-top --features babeltrace2 --test cli -- valkey damage recorded hosts # from both sources
	cargo test --quiet --workspace --all-features --lib --bins
	cargo test --quiet --workspace --all-features --doc --exclude lttng-provider-derive # its examples run in tests/market

# Figures, each beside its floor; nothing fails on them.
bench: setup
	cargo bench --quiet --package valkey-trace --bench producer --bench traced --bench parts
	cargo bench --quiet --package valkey-lite --bench overhead
	cargo bench --quiet --package ltt-top --bench reading --bench live

# Debian packages of ltt-top and lttng-catalog, in out/deb.
deb:
	@scripts/deb.sh

# ltt-top for any Linux on x86_64 and aarch64, in out/static.
static:
	@scripts/static.sh
