#!/usr/bin/env bash
# Packs the client for TypeScript, as for npm, into a folder: scripts/client-package.sh FOLDER
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=$(mkdir -p "$1" && cd "$1" && pwd)

scripts/page.sh
npm pack --silent --ignore-scripts --pack-destination "$out" ./web/client
