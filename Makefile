# What a newcomer needs; longer than a few lines goes to scripts/.

.PHONY: setup demo test bench deb static

# Installs the system packages that are missing for all of these, or says which.
setup:
	@scripts/setup.sh test

# A traced server under load, and who was slow: about a minute after building.
demo:
	@scripts/demo.sh

# All that must hold before a change lands, with tracing off and on. Each stage says its name; what could not run is listed last.
stage := scripts/stage.sh
test: export STEPS_BEGAN := $(shell date +%s)
test: setup
	@scripts/missing.sh begin
	@$(stage) "fetching dependencies" cargo fetch --locked
	@$(stage) "formatting" cargo fmt --all --check
	@$(stage) "lints, tracing on" cargo clippy --workspace --all-targets --all-features -- --deny warnings
	@$(stage) "lints, tracing off" cargo clippy --workspace --all-targets -- --deny warnings
	@$(stage) "documentation" env RUSTDOCFLAGS="--deny warnings" cargo doc --workspace --no-deps
	@$(stage) "packages, each feature alone" scripts/check-packages.sh
	@$(stage) "minimum Rust" scripts/check-minimum-rust.sh
	@$(stage) "tests, Babeltrace 2 beside the reader" cargo test --workspace --features ltt-top/babeltrace2
	@$(stage) "tests of the providers, tracing on" cargo test --package lttng-provider --package valkey-trace --package valkey-lite --all-features --lib --bins
	@$(stage) "examples in documentation, tracing on" cargo test --package lttng-provider --package lttng-provider-tracing --package valkey-trace --all-features --doc
	@$(stage) "aarch64" scripts/check-aarch64.sh
	@$(stage) "big-endian and 32-bit" scripts/emulated.sh
	@$(stage) "Miri" scripts/miri.sh
	@scripts/missing.sh end

# Figures, each beside its floor; nothing fails on them.
bench: setup
	cargo bench --quiet --package valkey-trace --bench producer --bench shapes --bench traced --bench bridge --bench parts
	cargo bench --quiet --package valkey-lite --bench overhead
	cargo bench --quiet --package ltt-top --bench reading --bench live

# Debian packages of ltt-top and lttng-catalog, in out/deb.
deb:
	@scripts/deb.sh

# ltt-top for any Linux on x86_64 and aarch64, in out/static.
static:
	@scripts/static.sh
