#!/usr/bin/env bash
# Runs the page in a real browser on the real server: builds both, then runs e2e/browser.
# With arguments it runs only the cases of these files: scripts/browser.sh e2e/browser/cases/phone.test.mjs
# With QUICK=1 it leaves out the files that `docs/testing.md` names.
# TIDINGS is the path of a program that was built already; e2e/browser/run.mjs has more settings.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/page.sh
e2e/browser/install.sh
[ -n "${TIDINGS:-}" ] || cargo build -p tidings-cli
cases=("$@")
# Looks and comfort: what fails here loses nothing and lets nobody in.
comfort=' finding keys large layout-shifts links list pictures reader reading screenshots server-settings suggest typing '
if [ $# -eq 0 ]; then
    for file in e2e/browser/cases/*.test.mjs; do
        [ -n "${QUICK:-}" ] && [[ $comfort == *" $(basename "$file" .test.mjs) "* ]] || cases+=("$file")
    done
fi
node e2e/browser/run.mjs "${cases[@]}"
