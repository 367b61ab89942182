#!/usr/bin/env bash
# Times decoding, counts instructions and allocations, and fails when a bar is missed.
# ROUNDS=n for more or fewer rounds, PEERS=0 to leave out other people's crates (they take minutes to build),
# UPDATE=1 to record the instruction counts of this run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

features=()
[ "${PEERS:-1}" = 1 ] || features=(--no-default-features)
cargo build --release --locked --bins "${features[@]}"
bin=${CARGO_TARGET_DIR:-target}/release
results=corpus/results
mkdir -p "$results"
rm -f "$results"/*.tsv

"$bin/decode" --make
"$bin/decode" --rounds "${ROUNDS:-7}"
"$bin/allocations"

# Instructions do not depend on what else the machine does.
if command -v valgrind >/dev/null; then
    {
        printf 'rustc\t%s\n' "$(rustc --version | cut -d' ' -f2)"
        printf 'valgrind\t%s\n' "$(valgrind --version)"
        for row in ignored value borrowed owned; do
            read_what=$(valgrind --quiet --tool=callgrind --callgrind-out-file="$results/$row.callgrind" \
                --toggle-collect='decode_bench::rows::counted' "$bin/decode" --count "$row")
            printf '%s\t%s\n' "$row" "$(awk '/^totals:/ { print $2 }' "$results/$row.callgrind")"
        done
        printf 'read\t%s\n' "$read_what"
    } >"$results/counting"
    mv "$results/counting" "$results/instructions.tsv"
else
    echo "valgrind was not found: instructions are not counted"
fi

"$bin/decode" --judge
