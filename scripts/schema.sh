#!/usr/bin/env bash
# Generates schema/ from the types. A file is replaced only when its new content is complete.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

write() {
    cargo run -q -p tidings-cli -- schema "$1" >"$scratch/out"
    mkdir -p schema
    cp "$scratch/out" "schema/$2"
    echo "wrote schema/$2"
}

write json tidings.schema.json
write typescript tidings.ts
write openapi openapi.json
