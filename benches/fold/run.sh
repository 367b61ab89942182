#!/usr/bin/env bash
# Times folding on top of decoding, counts instructions, and fails when the bar is missed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

cargo build --release --locked
bin=${CARGO_TARGET_DIR:-target}/release/fold
"$bin"

# Instructions do not depend on what else the machine does.
if command -v valgrind >/dev/null; then
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    deltas=100000
    for what in decode fold; do
        valgrind --quiet --tool=callgrind --callgrind-out-file="$scratch/$what" \
            --toggle-collect="fold::$what" "$bin" --count "$what"
        total=$(awk '/^totals:/ { print $2 }' "$scratch/$what")
        echo "$what: $((total / deltas)) instructions per delta"
    done
else
    echo "valgrind was not found: instructions are not counted"
fi
