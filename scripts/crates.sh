#!/usr/bin/env bash
# Packs every crate as it would be published, and builds each from its own package. Takes minutes; needs the page.
# With `semver TAG` it compares the public API with that of a git tag instead (needs cargo-semver-checks).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ "${1:-}" = semver ]; then
    tag=${2:?"the git tag to compare with"}
    cargo semver-checks --version >/dev/null 2>&1 || cargo install --locked cargo-semver-checks
    # The program has no public API.
    exec cargo semver-checks --workspace --exclude tidings-cli --baseline-rev "$tag"
fi

page=crates/bridge/page schemas=(crates/bridge/schema crates/commands/schema)
trap 'rm -rf "$page" "${schemas[@]}"' EXIT
scripts/page.sh
rm -rf "$page" "${schemas[@]}"
cp -r web/dist "$page"
for copy in "${schemas[@]}"; do cp -r schema "$copy"; done
# What a program without fleets leaves out must not be needed elsewhere.
cargo check --locked --quiet -p tidings-cli --no-default-features
# The copies of the page and of the schemas are not in git.
cargo package --workspace --allow-dirty --locked \
    --exclude xtask --exclude tidings-e2e-driver --exclude tidings-client-bench "$@"
