#!/usr/bin/env bash
# Writes every file that follows from the code: the tests of the cli that compare them write the files instead.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/schema.sh
UPDATE_GENERATED=1 cargo test -q -p tidings-cli --bin tidings -- is_current are_current
