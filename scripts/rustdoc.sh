#!/usr/bin/env bash
# Replaces rustdoc in `cargo test --doc`: builds the documentation with warnings as errors, then runs its examples.
# `cargo doc` would compile all dependencies a second time.
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
    rustdoc "${arguments[@]}" --document-private-items -D warnings -o "${CARGO_TARGET_DIR:-target}/doc"
fi
exec rustdoc "$@"
