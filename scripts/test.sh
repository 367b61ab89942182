#!/usr/bin/env bash
# The whole suite, stage by stage, and what each stage took.
# Without arguments every stage of CI; with arguments only the stages named.
# Needs cargo and no terminal; what else is missing, `install` brings.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 3

all_stages=(install page fmt clippy tidy tests features doctests docs e2e browser)

stage_install() {
    cargo fmt --version >/dev/null 2>&1 || rustup component add rustfmt || return
    cargo clippy --version >/dev/null 2>&1 || rustup component add clippy || return
    cargo nextest --version >/dev/null 2>&1 || cargo install cargo-nextest --locked
}

# First, since the page becomes part of the program that everything else builds.
stage_page() { scripts/page.sh check; }

# rustfmt colours its diff wherever TERM is set, a log file included.
stage_fmt() {
    local colour=never
    [ ! -t 1 ] || colour=auto
    cargo fmt --all --check -- --color "$colour"
}

stage_clippy() { cargo clippy --workspace --all-targets --all-features -- -D warnings; }

stage_tidy() { cargo run -q -p xtask -- tidy; }

stage_tests() { cargo nextest run --workspace --all-features; }

# Not a stage of CI: the tests inside the sources only, for `make check`, and without installing anything.
stage_unit() {
    if cargo nextest --version >/dev/null 2>&1; then
        cargo nextest run --workspace --all-features --lib --bins
    else
        cargo test -q --workspace --all-features --lib --bins
    fi
}

# Another crate in somebody's build can switch serde_json's features on for all of it, and nothing may depend on them.
stage_features() {
    local flags=serde_json/preserve_order,serde_json/float_roundtrip,serde_json/arbitrary_precision
    cargo nextest run -p tidings-protocol --features "$flags"
}

stage_doctests() { cargo test --doc --workspace --all-features; }

# The program and the library are both called `tidings`, and one run would write both into one folder.
stage_docs() {
    local flags=(--no-deps --document-private-items)
    RUSTDOCFLAGS="-D warnings" cargo doc -p tidings-cli "${flags[@]}" &&
        RUSTDOCFLAGS="-D warnings" cargo doc --workspace --exclude tidings-cli --all-features "${flags[@]}"
}

# The programs that the next stages start are those that the tests have built: building them once more with other features takes
# minutes. That the program builds by itself is seen in `docs`.
programs() { cargo nextest run --workspace --all-features --no-run; }

# The real CLI and the official SDKs, which `e2e/install.sh` fetches once. A run without them fails.
# The driver has no tests of its own, so it was not built yet.
stage_e2e() { e2e/install.sh && programs && cargo build -p tidings-e2e-driver && python3 e2e/run.py; }

# The page in a real browser, on the real server.
stage_browser() { programs && TIDINGS="${CARGO_TARGET_DIR:-$PWD/target}/debug/tidings" scripts/browser.sh; }

# Seconds as minutes with two decimals; whole numbers only, since a bare machine may have no bc.
minutes() { printf '%d.%02d' $(($1 / 60)) $(($1 % 60 * 100 / 60)); }

command -v cargo >/dev/null || {
    echo "error: cargo was not found on PATH" >&2
    echo "hint: install Rust with rustup, then run this again" >&2
    exit 3
}

stages=("$@")
[ $# -gt 0 ] || stages=("${all_stages[@]}")
for stage in "${stages[@]}"; do
    declare -F "stage_$stage" >/dev/null || {
        echo "error: no such stage: $stage" >&2
        echo "hint: the stages are: ${all_stages[*]} unit" >&2
        exit 2
    }
done

# A test must neither see nor touch the sessions, the login or the settings of whoever runs it.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export CLAUDE_CONFIG_DIR="$scratch/claude"
mkdir -p "$CLAUDE_CONFIG_DIR"
for name in $(compgen -e); do
    case $name in
    CLAUDE_CONFIG_DIR) ;;
    ANTHROPIC_* | CLAUDECODE | CLAUDE_*) unset "$name" ;;
    esac
done
# A snapshot that differs is a failure here, never a new file.
export INSTA_UPDATE=no
# Property tests try the same cases in each run, so that a failure is about the change that is tested; `make soak` tries others.
export PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED:-20261115}
# On a machine that has built nothing yet, keeping what the next build could use costs more than it saves.
[ -d target ] || export CARGO_INCREMENTAL=0

table=""
total=0
status=0
for stage in "${stages[@]}"; do
    printf '\n== %s\n' "$stage"
    began=$(date +%s)
    "stage_$stage" </dev/null
    status=$?
    took=$(($(date +%s) - began))
    total=$((total + took))
    verdict=ok
    [ $status -eq 0 ] || verdict=FAILED
    table+=$(printf '%-10s %8s  %s' "$stage" "$(minutes $took)" "$verdict")$'\n'
    [ $status -eq 0 ] || break
done

printf '\nminutes per stage\n%s%-10s %8s\n' "$table" total "$(minutes $total)"
exit $status
