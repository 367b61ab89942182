#!/usr/bin/env bash
# Builds the page into web/dist, which is embedded in the program, and the client into web/client/dist. Does nothing if
# no source changed.
# With `check` it also checks the types and runs the unit tests of the page.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../web" && pwd)
cd "$here"

fail() {
    echo "error: $1" >&2
    echo "hint: $2" >&2
    exit 3
}

# Packages missing on a minimal Debian machine.
tools() {
    local missing=()
    command -v node >/dev/null || missing+=(nodejs)
    command -v npm >/dev/null || missing+=(npm)
    [ ${#missing[@]} -eq 0 ] && return
    if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
        fail "these are missing: ${missing[*]}" "install them, or go on without the page: a plain cargo build works"
    fi
    echo "installing ${missing[*]}"
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${missing[@]}" >/dev/null ||
        fail "apt-get could not install: ${missing[*]}" "look at its messages above"
}

checksum() { sha256sum "$@" | sha256sum | cut -d' ' -f1; }

# Install scripts of packages are disabled; the lock file names no registry, so that a mirror can serve it.
packages() {
    local stamp=node_modules/.stamp wanted
    wanted=$(checksum package.json package-lock.json)
    [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ] || return 0
    ! grep -q '"resolved"' package-lock.json ||
        fail "web/package-lock.json names a registry" \
            "write it anew: npm install --package-lock-only --omit-lockfile-registry-resolved=true"
    npm ci --ignore-scripts --no-audit --no-fund --loglevel=error ||
        fail "the download of what the page is built with failed" "is the npm registry reachable?"
    echo "$wanted" >"$stamp"
}

build() {
    local stamp=node_modules/.built wanted
    wanted=$(find src public client/src client/build.mjs client/tsconfig.json ../schema/tidings.ts index.html build.mjs tsconfig.json package-lock.json -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum)
    if [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ] && [ -f dist/index.html ] && [ -f client/dist/index.js ]; then return; fi
    node build.mjs
    echo "$wanted" >"$stamp"
}

tools
packages
if [ "${1-}" = check ]; then
    npm run --silent check
    npm run --silent test
fi
build
