#!/usr/bin/env bash
# Generates schema/ from the types: the tests of the cli that compare them write the files instead.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

UPDATE_SCHEMA=1 cargo test -q -p tidings-cli --test integration -- is_fresh
