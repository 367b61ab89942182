#!/usr/bin/env bash
# A thousand sessions that end at all the wrong moments; fails if a process, a task or an open file is left of them.
# SESSIONS=n for another number, SEED=n for another run; a failure names its seed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export TIDINGS_SOAK_SESSIONS=${SESSIONS:-1000}
[ -z "${SEED:-}" ] || export TIDINGS_SOAK_SEED=$SEED
# The stand-in for `claude` that the sessions start is an example.
cargo build -p tidings --all-features --example stand_in
cargo test -p tidings --all-features --test soak -- --nocapture
