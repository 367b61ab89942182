# What people and CI call. The work itself is in scripts/, so that it can be read and run without make.
.DEFAULT_GOAL := help
.PHONY: help run page test check shake bench bench-bridge bench-client bench-decode bench-fold bench-hosts bench-page bench-sessions fuzz soak schema

# Seconds that `make fuzz` runs for.
S ?= 60
# Rounds of `make shake`.
N ?= 3

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' Makefile

run: ## Build everything and serve the page with a demo; needs no key and no `claude`
	@scripts/page.sh
	cargo run -p tidings-cli -- serve --demo

page: ## Build the page that becomes part of the program; needs Node.js
	@scripts/page.sh

test: ## The whole suite, as CI runs it; installs what is missing
	@scripts/test.sh

check: ## The quick loop: format, lints, unit tests
	@scripts/test.sh fmt unit

shake: ## Run the tests N times without second tries, each time beside another disturbance
	@scripts/shake.py $(N)

bench: bench-decode bench-fold bench-client bench-bridge bench-sessions bench-hosts bench-page ## Measure everything that has a bar; takes minutes

bench-bridge: ## Measure what the server adds, beside another bridge
	benches/bridge/run.sh

bench-decode: ## Measure decoding against other ways to read the same frames
	benches/decode/run.sh

bench-fold: ## Measure what turning frames into events costs
	benches/fold/run.sh

bench-client: ## Measure the SDK beside the official ones
	benches/client/run.py

bench-hosts: ## Measure the processes that keep agents: memory, latency, a mute bridge
	benches/hosts/run.py

bench-page: ## Measure the page in a browser: a session of 10,000 events, 200 pieces a second
	benches/page/run.sh

bench-sessions: ## Measure the commands for sessions against other programs
	benches/transcripts/run.py

fuzz: ## Fuzz one target: make fuzz T=name S=seconds (60 unless told)
	@test -n "$(T)" || { echo "error: no target given"; echo "hint: make fuzz T=name, one of the files in fuzz/fuzz_targets/"; exit 2; } >&2
	fuzz/run.sh $(T) $(S)

soak: ## Run for long what must hold for long: sessions, readers that come and go, kills
	@scripts/soak.sh

schema: ## Write schema/ anew from the types
	@scripts/schema.sh
