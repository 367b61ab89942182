#!/usr/bin/env bash
# Streams an answer, kills the server in the middle of a sentence, starts it again, and shows the complete text.
# Needs no key and no `claude`: a stand-in runs examples/outlive/script.toml.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here/../.."
tidings=${TIDINGS:-target/debug/tidings}
[ -x "$tidings" ] || cargo build -q -p tidings-cli
tidings=$(realpath "$tidings")

work=$(mktemp -d)
server=
finish() {
    # The agent outlives the server, so it is told first.
    "$tidings" stop 1 --data "$work/data" >/dev/null 2>&1 || true
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    wait 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT

# In place of `claude`.
mkdir "$work/folder"
cat >"$work/claude" <<SCRIPT
#!/bin/sh
exec "$tidings" rehearse agent --script "$here/script.toml" --config-dir "$work/sessions" -- "\$@"
SCRIPT
chmod +x "$work/claude"

start() {
    "$tidings" serve --data "$work/data" --listen none --claude-path "$work/claude" >/dev/null 2>>"$work/log" &
    server=$!
    until curl -sf --unix-socket "$work/data/server.sock" http://localhost/healthz >/dev/null; do sleep 0.05; done
}

say() { printf '\n\033[1m%s\033[0m\n' "$1"; }

start
say "A session starts, and a subscriber prints its answer:"
curl -sf --unix-socket "$work/data/server.sock" http://localhost/v1/sessions \
    -H "Authorization: Bearer $(cat "$work/data/token")" -H 'Content-Type: application/json' \
    -d "{\"cwd\":\"$work/folder\",\"prompt\":\"Tell me about servers.\"}" >/dev/null
: >"$work/shown"
"$tidings" attach 1 --data "$work/data" --wait >"$work/shown" 2>>"$work/log" &
watcher=$!
tail -f "$work/shown" &
tail=$!

sleep 3
say "kill -9 the server, in the middle of a sentence"
kill -9 "$server" && wait "$server" 2>/dev/null || true
sleep 2
say "Start it again"
start
wait "$watcher"
sleep 0.3
kill "$tail" 2>/dev/null || true

# Apart from line breaks, the output must be the text of the script.
plain() { tr -d '[:space:]\\'; }
meant=$(sed -n '/^text = """/,/"""$/p' "$here/script.toml" | sed 's/^text = """//; s/"""$//' | plain)
[ "$(plain <"$work/shown")" = "$meant" ] || {
    say "The text is not complete. The log of the server:"
    cat "$work/log"
    exit 1
}
say "The text is complete."
