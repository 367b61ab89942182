#!/usr/bin/env bash
# Runs the page in a real browser on the real server: builds both, then runs e2e/browser.
# With arguments it runs only the cases of these files: scripts/browser.sh e2e/browser/cases/phone.test.mjs
# TIDINGS is the path of a program that was built already; e2e/browser/run.mjs has more settings.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/page.sh
e2e/browser/install.sh
[ -n "${TIDINGS:-}" ] || cargo build -p tidings-cli
cases=("$@")
[ $# -gt 0 ] || cases=(e2e/browser/cases/*.test.mjs)
node e2e/browser/run.mjs "${cases[@]}"
