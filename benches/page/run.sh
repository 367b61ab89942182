#!/usr/bin/env bash
# Measures the page in Chromium on a release server, and fails when a bar is missed.
# TIDINGS=path takes a program that is there already, ROUNDS=9 measures longer, UPDATE=1 writes docs/performance-results.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

scripts/page.sh
e2e/browser/install.sh
if [ -z "${TIDINGS-}" ]; then
    cargo build --profile bench --locked -p tidings-cli
    export TIDINGS=${CARGO_TARGET_DIR:-$PWD/target}/release/tidings
fi
exec node benches/page/measure.mjs
