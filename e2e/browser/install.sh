#!/usr/bin/env bash
# Downloads the browser and its driver into e2e/.cache/browser. Existing files are kept.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache="$here/../.cache"

fail() {
    echo "error: $1" >&2
    echo "hint: $2" >&2
    exit 3
}

browser() {
    [ -z "${CHROMIUM-}" ] || return 0
    ! [ -x /usr/bin/chromium ] || ! [ -x /usr/bin/chromium-headless-shell ] || return 0
    if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
        fail "/usr/bin/chromium or /usr/bin/chromium-headless-shell is missing" \
            "install both, or name a Chromium for all cases: CHROMIUM=/path/to/chrome"
    fi
    echo "installing chromium"
    apt-get update -qq &&
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium chromium-headless-shell >/dev/null ||
        fail "apt-get could not install chromium" "look at its messages above"
}

checksum() { (cd "$here" && sha256sum package.json package-lock.json | sha256sum | cut -d' ' -f1); }

driver() {
    [ "$(cat "$cache/browser.stamp" 2>/dev/null)" != "$(checksum)" ] || return 0
    ! grep -q '"resolved"' "$here/package-lock.json" ||
        fail "e2e/browser/package-lock.json names a registry" \
            "write it anew: npm install --package-lock-only --omit-lockfile-registry-resolved=true"
    rm -rf "$cache/browser"
    mkdir -p "$cache/browser"
    cp "$here/package.json" "$here/package-lock.json" "$cache/browser/"
    echo "downloading the driver of the browser"
    (cd "$cache/browser" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) ||
        fail "the download of what drives the browser failed" "is the npm registry reachable?"
    checksum >"$cache/browser.stamp"
}

browser
driver
