#!/usr/bin/env bash
# Replaces rustdoc in `cargo test --doc`: builds the documentation with warnings as errors, and runs its examples.
# `cargo doc` would compile all dependencies a second time.
# The documentation is built in the background, since cargo starts this for one crate after the other. The name of a crate whose
# documentation has a mistake is written to the open file 3, and the caller waits until that is closed.
set -euo pipefail

arguments=()
skip=no
for argument in "$@"; do
    if [ $skip = yes ]; then
        skip=no
        continue
    fi
    case $argument in
    --test | --no-run) ;;
    --test-args | --test-run-directory | --test-runtool | --test-runtool-arg) skip=yes ;;
    --test-*=*) ;;
    *) arguments+=("$argument") ;;
    esac
done

if [ $# -ne ${#arguments[@]} ]; then
    (rustdoc "${arguments[@]}" --document-private-items -D warnings -o "${CARGO_TARGET_DIR:-target}/doc" || echo "$CARGO_PKG_NAME" >&3) &
fi
exec rustdoc "$@" 3>&-
