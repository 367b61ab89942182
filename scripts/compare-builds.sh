#!/usr/bin/env bash
# Builds two commits in turns, each from nothing, and prints what a build costs: seconds, sizes, ratios.
# usage: scripts/compare-builds.sh OLD NEW [PART…]     parts: debug release sdk packages dist test (default: all but test)
# `test` runs the whole suite of both commits as CI does, which takes most of an hour. ROUNDS=2 builds each twice and takes the
# shorter time. Nothing else should run on the machine. Sources and targets are below TMPDIR and removed afterwards.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

old=$(git rev-parse --short=8 "${1:?usage: scripts/compare-builds.sh OLD NEW [PART…]}^{commit}")
new=$(git rev-parse --short=8 "${2:?usage: scripts/compare-builds.sh OLD NEW [PART…]}^{commit}")
shift 2
parts=("$@")
[ $# -gt 0 ] || parts=(packages debug release sdk dist)

work=$(mktemp -d)
trap 'for commit in "$old" "$new"; do git worktree remove --force "$work/$commit" 2>/dev/null || true; done; rm -rf "$work"' EXIT
for commit in "$old" "$new"; do
    [ -d "$work/$commit" ] || git worktree add --quiet --detach "$work/$commit" "$commit"
    # Downloads and the page are not part of a build.
    (cd "$work/$commit" && cargo fetch --locked --quiet && scripts/page.sh) >"$work/log" 2>&1 || {
        cat "$work/log" >&2
        exit 3
    }
done

# Runs a command in the sources of a commit with an empty target, and prints its seconds and those of its processors.
seconds() {
    local commit=$1
    shift
    rm -rf "$work/target"
    (
        cd "$work/$commit"
        export CARGO_TARGET_DIR=$work/target CARGO_INCREMENTAL=0 TIMEFORMAT='%R %U %S'
        { time "$@" >"$work/log" 2>&1 </dev/null; } 2>"$work/times"
    ) || {
        tail -n 40 "$work/log" >&2
        exit 1
    }
    awk '{ printf "%.1f %.1f\n", $1, $2 + $3 }' "$work/times"
}

# The shortest of several times.
shortest() {
    for _ in $(seq "${ROUNDS:-1}"); do seconds "$@"; done | sort -n | head -n 1
}

row() { awk -v what="$1" -v old="$2" -v new="$3" -v unit="$4" 'BEGIN { printf "| %s | %s %s | %s %s | %.2f |\n", what, old, unit, new, unit, new / old }'; }

# Packages of the program and ours, for this platform.
packages() { (cd "$work/$1" && cargo tree --locked -p tidings-cli -e normal --prefix none | sed 's/ (\*)//' | sort -u | wc -l); }

timed() {
    local what=$1 before after
    shift
    before=$(shortest "$old" "$@")
    after=$(shortest "$new" "$@")
    row "$what" "${before% *}" "${after% *}" s
    row "its processor time" "${before#* }" "${after#* }" s
}

megabytes() {
    seconds "$1" cargo build --locked --profile dist -p tidings-cli >/dev/null
    stat -c %s "$work/target/dist/tidings" | awk '{ printf "%.1f\n", $1 / 1000000 }'
}

printf '| %s processors, %s | %s | %s | ratio |\n|---|---|---|---|\n' "$(nproc)" "$(rustc --version | cut -d' ' -f2)" "$old" "$new"
for part in "${parts[@]}"; do
    case $part in
    packages) row "packages of the program" "$(packages "$old")" "$(packages "$new")" "" ;;
    debug) timed "\`cargo build -p tidings-cli\`" cargo build --locked -p tidings-cli ;;
    release) timed "\`cargo build --release -p tidings-cli\`" cargo build --locked --release -p tidings-cli ;;
    sdk) timed "\`cargo build -p tidings\` (the SDK)" cargo build --locked -p tidings ;;
    dist)
        before=$(megabytes "$old")
        after=$(megabytes "$new")
        row "the program, profile \`dist\`" "$before" "$after" MB
        ;;
    test) timed "\`make test\`" env CI=1 bash .ci/run ;;
    *)
        echo "error: unknown part: $part" >&2
        echo "hint: the parts are packages debug release sdk dist test" >&2
        exit 2
        ;;
    esac
done
