#!/usr/bin/env bash
# Runs the whole suite, stage by stage, and prints the duration of each stage.
# Without arguments it runs every stage of CI; with arguments only the named stages.
# Needs cargo and no terminal; the stage `install` installs other missing tools.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 3

all_stages=(install page fmt build tidy tests features docs packages e2e browser)

target=${CARGO_TARGET_DIR:-$PWD/target}
# One line of JSON per case, of every stage; `scripts/results.py` describes them.
results="$target/results.ndjson"

stage_install() {
    cargo fmt --version >/dev/null 2>&1 || rustup component add rustfmt || return
    cargo clippy --version >/dev/null 2>&1 || rustup component add clippy || return
    cargo nextest --version >/dev/null 2>&1 || cargo install cargo-nextest --locked
}

# First, since the page is embedded in the program that the other stages build.
stage_page() { scripts/page.sh check; }

# rustfmt colours its diff if TERM is set, even in a log file.
stage_fmt() {
    local colour=never
    [ ! -t 1 ] || colour=auto
    cargo fmt --all --check -- --color "$colour"
}

# Cargo with clippy as the compiler of our own crates, and every warning an error. `cargo clippy` does the same and throws the result
# away; compiling all of it a second time takes four minutes.
linted() {
    RUSTC_WORKSPACE_WRAPPER=$PWD/scripts/lint.sh CLIPPY_ARGS="-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__" cargo "$@"
}

# Tests, programs and examples in one build: a build of the programs alone has other features of a few dependencies, and compiles
# almost everything a second time. One run shows every error.
stage_build() { linted build --quiet --keep-going --workspace --all-features --lib --bins --tests --examples; }

stage_tidy() { stage_build && "$target/debug/xtask" tidy; }

# Runs cargo-nextest with `cargo` or `linted`, and stores the result of each test. Tests wait for processes and timers for a third of
# their time, so four more run than there are cores.
nextest() {
    local build=$1 stage=$2 report="$target/nextest/ci/junit.xml" status
    shift 2
    rm -f "$report"
    "$build" nextest run --profile ci --retries "$((TRIES - 1))" --test-threads "$(($(nproc 2>/dev/null || echo 2) + 4))" "$@"
    status=$?
    [ ! -f "$report" ] || scripts/results.py junit "$stage" "$report" "$results" || return
    return $status
}

stage_tests() { e2e/install.sh nats && nextest linted tests --workspace --all-features; }

# Not a stage of CI: only the tests inside the sources, for `make check`, without installing anything.
stage_unit() {
    if cargo nextest --version >/dev/null 2>&1; then
        linted nextest run --workspace --all-features --lib --bins
    else
        linted test -q --workspace --all-features --lib --bins
    fi
}

# Another crate can enable serde_json's features for a user's whole build, and our code must not depend on them. The code was linted before.
stage_features() {
    local flags=serde_json/preserve_order,serde_json/float_roundtrip,serde_json/arbitrary_precision
    nextest cargo features -p tidings-protocol --features "$flags" || return
    # A host without terminals has branches of its own.
    linted check --quiet -p tidings --no-default-features --features host --lib
}

# Runs the examples of the documentation and checks its links: `scripts/rustdoc.sh` does both without compiling again.
stage_docs() {
    local wrong="$scratch/undocumented" status
    RUSTDOC=$PWD/scripts/rustdoc.sh linted test --quiet --doc --workspace --all-features 3> >(cat >"$wrong")
    status=$?
    wait $!
    [ ! -s "$wrong" ] || status=1
    return $status
}

# Packs the program that the tests use, and installs it as users do: the same scripts as for a release.
stage_packages() { stage_build && scripts/packages.sh debug; }

# The real CLI, the official SDKs and the browser are fetched once. In a run of several stages that happens beside the build, which
# waits for the processor and not for the network.
fetching=
start_fetching() {
    (e2e/install.sh && e2e/browser/install.sh) >"$target/fetch.log" 2>&1 </dev/null &
    fetching=$!
}
fetch() {
    [ -n "$fetching" ] || start_fetching
    wait "$fetching" && return
    cat "$target/fetch.log" >&2
    return 3
}

# CI leaves out cases about looks and what the long runs have anyway (docs/testing.md); `QUICK= scripts/test.sh e2e browser` does not.
export QUICK=${QUICK-1}

# Fails without the real CLI and the official SDKs.
stage_e2e() { fetch && stage_build && python3 e2e/run.py; }

# The page in a real browser, on the real server.
stage_browser() { fetch && stage_build && TIDINGS="$target/debug/tidings" scripts/browser.sh; }

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
        echo "error: unknown stage: $stage" >&2
        echo "hint: the stages are: ${all_stages[*]} unit" >&2
        exit 2
    }
done

# A test must neither read nor change the sessions, the login or the settings of the user who runs it.
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
# A snapshot that differs is a failure here, and writes no new file.
export INSTA_UPDATE=no
# Property tests use the same cases in each run, so that a failure comes from the change under test; `make soak` uses others.
export PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED:-20261115}
# On a fresh machine, incremental compilation costs more than it saves.
[ -d target ] || export CARGO_INCREMENTAL=0
# CI builds once and runs no debugger. Two processors compile a crate faster in 4 parts than in the usual 16.
[ -z "${CI:-}" ] || export CARGO_PROFILE_DEV_DEBUG=none CARGO_PROFILE_DEV_CODEGEN_UNITS=4
# A failed case is tried again, to distinguish a broken change from a busy machine; see docs/testing.md.
export TRIES=${TRIES:-3}
mkdir -p "$target"
rm -f "$results"
export RESULTS=$results

table=""
total=0
status=0
for stage in "${stages[@]}"; do
    printf '\n== %s\n' "$stage"
    began=$(date +%s)
    # After the page, whose packages come from the same package managers.
    if [ "$stage" = build ] && [[ " ${stages[*]} " == *" e2e "* ]]; then start_fetching; fi
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
[ ! -f "$results" ] || scripts/results.py flaky "$results" "$target/flaky.json" || status=1
exit $status
