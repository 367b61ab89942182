#!/usr/bin/env bash
# Compiles a target of one of our crates for cargo, which calls this as RUSTC_WORKSPACE_WRAPPER.
# Sources below src/ are compiled twice, for use and as a test, and clippy needs a quarter of the time of a compilation: it checks the
# test only, which contains all of the code. A crate with `test = false` is compiled once. The compiler's own warnings are errors always.
set -euo pipefail
rustc=$1
shift
is_test=no source=
for arg in "$@"; do
    case $arg in
        --test) is_test=yes ;;
        src/*.rs | */src/*.rs) source=$arg ;;
    esac
done
if [ -n "$source" ] && [ $is_test = no ] && ! grep -q '^test = false' "$CARGO_MANIFEST_DIR/Cargo.toml"; then
    exec "$rustc" "$@" -D warnings
fi
exec clippy-driver "$rustc" "$@"
