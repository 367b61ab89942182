# Entry points for people and CI. The work is done in scripts/, so that it can be run without make.
.DEFAULT_GOAL := help
.PHONY: help run page packages crates semver drift pin test check shake bench bench-acp bench-bridge bench-client bench-decode bench-fleet bench-fold bench-hooks bench-hosts bench-page bench-sessions fuzz soak generate schema

# Seconds that `make fuzz` runs for.
S ?= 60
# Rounds of `make shake`.
N ?= 3

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' Makefile

run: ## Build everything and serve the page with a demo; needs no key and no `claude`
	@scripts/page.sh
	cargo run -p tidings-cli -- serve --demo

page: ## Build the page that is embedded in the program; needs Node.js
	@scripts/page.sh

packages: ## Build and install every package: archive, wheel, npm, deb; takes minutes
	@scripts/packages.sh

crates: ## Pack every crate as for crates.io, and build each from its package; takes minutes
	@scripts/crates.sh

semver: ## Compare the public API with a git tag: make semver TAG=v0.1.0
	@test -n "$(TAG)" || { echo "error: no tag given"; echo "hint: make semver TAG=v0.1.0"; exit 2; } >&2
	@scripts/crates.sh semver $(TAG)

drift: ## Compare a version of Claude Code with the pinned one: make drift CLI=2.1.x
	@test -n "$(CLI)" || { echo "error: no version given"; echo "hint: make drift CLI=2.1.330"; exit 2; } >&2
	@e2e/drift.py $(CLI)

pin: ## Prepare another version of Claude Code: compare, pin, list what to look at: make pin CLI=2.1.x
	@test -n "$(CLI)" || { echo "error: no version given"; echo "hint: make pin CLI=2.1.330"; exit 2; } >&2
	@e2e/pin.py $(CLI)

test: ## Run the whole suite, as CI does; installs missing tools
	@scripts/test.sh

check: ## Run the quick checks: format, lints, unit tests
	@scripts/test.sh fmt unit

shake: ## Run the tests N times without second tries, each time under another load
	@scripts/shake.py $(N)

bench: bench-decode bench-fold bench-client bench-bridge bench-sessions bench-hosts bench-hooks bench-fleet bench-page bench-acp ## Run all benchmarks; takes minutes

bench-acp: ## Measure `tidings acp`, compared with claude-agent-acp
	benches/acp/run.py

bench-bridge: ## Measure the server's overhead, compared with another bridge
	benches/bridge/run.sh

bench-decode: ## Measure decoding, compared with other decoders
	benches/decode/run.sh

bench-fleet: ## Measure a fleet: latency, throughput, CPU, recovery
	benches/fleet/run.py

bench-fold: ## Measure the cost of turning frames into events
	benches/fold/run.sh

bench-client: ## Measure the SDK, compared with the official ones
	benches/client/run.py

bench-hooks: ## Measure hooks: time, CPU and memory, and the cost of following terminal sessions
	benches/hooks/run.py

bench-hosts: ## Measure agent hosts: memory, latency, an unresponsive bridge
	benches/hosts/run.py

bench-page: ## Measure the page in a browser: a session of 10,000 events, 200 deltas a second
	benches/page/run.sh

bench-sessions: ## Measure the session commands, compared with other programs
	benches/transcripts/run.py

fuzz: ## Fuzz one target: make fuzz T=name S=seconds (default 60)
	@test -n "$(T)" || { echo "error: no target given"; echo "hint: make fuzz T=name, one of the files in fuzz/fuzz_targets/"; exit 2; } >&2
	fuzz/run.sh $(T) $(S)

soak: ## Run the long tests: sessions, reconnecting subscribers, kills
	@scripts/soak.sh

generate: ## Regenerate all files that are written from the code: schema/, the settings in docs and packaging, the plugin
	@scripts/generate.sh

schema: ## Regenerate schema/ from the types
	@scripts/schema.sh
