# What a newcomer needs; longer than a few lines goes to scripts/.

.PHONY: setup demo test check bench module plugin deb static

# Installs the system packages that are missing for all of these, or says which.
setup:
	@scripts/setup.sh check

# A traced server under load, and who was slow: about a minute after building.
demo:
	@scripts/demo.sh

# What must hold before a change lands. Each stage says its name; the last line counts tests.
test: export STEPS_BEGAN := $(shell date +%s)
test:
	@scripts/setup.sh test
	@scripts/test.sh

# What must hold before a release, after `make test`: slow tests, packages, other compilers, linkers and processors.
check: export STEPS_BEGAN := $(shell date +%s)
check: setup
	@scripts/check.sh

# Figures, each beside its floor; nothing fails on them.
bench: setup
	cargo bench --quiet --package valkey-trace --bench producer --bench shapes --bench traced --bench bridge --bench parts
	cargo bench --quiet --package valkey-trace-module --bench cost
	cargo bench --quiet --package ltt-top --bench reading --bench live
	cargo bench --quiet --package ltt-parquet --bench export

# The module for stock servers, in out/module; docs/stock-servers.md says how to load it.
module:
	@scripts/module.sh

# Debian packages of ltt-top, lttng-catalog, ltt-parquet and the module, in out/deb.
deb:
	@scripts/deb.sh

# ltt-top for any Linux on x86_64 and aarch64, in out/static.
static:
	@scripts/static.sh

# The plugin for Babeltrace 2, in out/babeltrace2; BABELTRACE_PLUGIN_PATH makes Babeltrace look there. Needs libclang.
plugin:
	cargo build --release --quiet --package ltt-babeltrace2
	install -D "$${CARGO_TARGET_DIR:-target}/release/libltt_babeltrace2.so" out/babeltrace2/babeltrace-plugin-ltt-top.so
