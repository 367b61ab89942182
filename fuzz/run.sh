#!/usr/bin/env bash
# fuzz/run.sh TARGET [SECONDS] [libFuzzer arguments…]
# Coverage-guided fuzzing on a stable toolchain: the flags are those of `cargo fuzz --sanitizer none`.
set -euo pipefail
cd "$(dirname "$0")"
target=${1:?which target? one of: $(cd fuzz_targets && ls | sed 's/\.rs$//' | tr '\n' ' ')}
seconds=${2:-60}
shift $(($# > 1 ? 2 : 1))
test -f "fuzz_targets/$target.rs" || {
  echo "error: no fuzz target \`$target\`" >&2
  echo "hint: one of: $(cd fuzz_targets && ls | sed 's/\.rs$//' | tr '\n' ' ')" >&2
  exit 2
}
coverage=(-Cpasses=sancov-module)
for flag in level=4 inline-8bit-counters pc-table trace-compares; do
  coverage+=("-Cllvm-args=-sanitizer-coverage-$flag")
done
host=$(rustc -vV | sed -n 's/^host: //p')
# Every crate but the build scripts gets the coverage flags, hence the explicit target.
RUSTFLAGS="${coverage[*]} --cfg fuzzing -Ccodegen-units=1" \
  cargo build --release --target "$host" --bin "$target"
mkdir -p "corpus/$target" "artifacts/$target"
# Recorded frames and entries are the seeds, one line a file.
if [ "$target" != splitter ] && [ -z "$(ls -A "corpus/$target")" ]; then
  fixtures=../crates/protocol/tests/fixtures
  cat "$fixtures"/corpus/*/std*.ndjson "$fixtures"/seed/*.ndjson "$fixtures"/entries/*.ndjson 2>/dev/null |
    awk -v folder="corpus/$target" 'length < 8192 { print > (folder "/seed-" NR); close(folder "/seed-" NR) }'
fi
exec "target/$host/release/$target" "corpus/$target" \
  -artifact_prefix="artifacts/$target/" -max_total_time="$seconds" -max_len=16384 -rss_limit_mb=4096 "$@"
