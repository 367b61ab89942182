#!/usr/bin/env bash
# Builds the program for old Linux distributions (glibc 2.28, x86_64) and packs it for every package manager, into
# target/packages. Takes some minutes. With `debug` it packs the program that the tests have built, and installs the
# packages: a stage of `make test`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}
out="$target/packages"
glibc=2.28

fail() {
    echo "error: $1" >&2
    echo "hint: $2" >&2
    exit 3
}

# Packages missing on a minimal Debian machine: pip for the wheel, npm, and `strip`.
tools() {
    local missing=()
    python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv)
    command -v npm >/dev/null || missing+=(nodejs npm)
    command -v strip >/dev/null || missing+=(binutils)
    [ ${#missing[@]} -eq 0 ] && return
    if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
        fail "these are missing: ${missing[*]}" "install them, then run this again"
    fi
    echo "installing ${missing[*]}"
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${missing[@]}" >/dev/null ||
        fail "apt-get could not install: ${missing[*]}" "look at its messages above"
}

# A Python environment with the pinned packages of a file, made once.
environment() {
    local venv=$1 pins=$2 wanted
    wanted=$(sha256sum "$pins" | cut -d' ' -f1)
    [ "$(cat "$venv/stamp" 2>/dev/null)" != "$wanted" ] || return 0
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/python" -m pip --disable-pip-version-check --quiet install --require-hashes --only-binary :all: -r "$pins" ||
        fail "the download of what $pins names failed" "is the package index reachable?"
    echo "$wanted" >"$venv/stamp"
}

# The formula, the flake, the workflow and the Dockerfile, which are not built here.
texts() {
    environment "$target/texts" packaging/requirements-texts.txt
    "$target/texts/bin/python" packaging/check_texts.py
}

release() {
    local triple=x86_64-unknown-linux-gnu
    scripts/page.sh
    # zig is a linker with the symbols of every glibc.
    environment "$target/zig" packaging/requirements.txt
    PATH="$target/zig/bin:$PATH" cargo zigbuild --locked --profile dist -p tidings-cli --target "$triple.$glibc"
    rm -rf "$out"
    python3 packaging/pack.py --binary "$target/$triple/dist/tidings" --out "$out" \
        --glibc-max "$glibc" --mib-max 30 --archive-mib-max 12
    scripts/client-package.sh "$out"
    (cd "$out" && sha256sum tidings-client-*.tgz >>SHA256SUMS)
}

debug() {
    local trial="$target/packages-of-tests"
    rm -rf "$trial"
    python3 packaging/pack.py --binary "$target/debug/tidings" --out "$trial" --formats wheel,npm,deb --fast
    scripts/client-package.sh "$trial"
    "$target/texts/bin/python" packaging/try_packages.py "$trial"
    rm -rf "$trial"
}

tools
texts
case ${1:-release} in
    release)
        release
        "$target/texts/bin/python" packaging/try_packages.py "$out"
        ;;
    debug) debug ;;
    *) fail "unknown argument: $1" "scripts/packages.sh [debug]" ;;
esac
