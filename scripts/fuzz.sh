#!/usr/bin/env bash
# Fuzzes a target of tests/fuzz for so many seconds, from its committed corpus and from what earlier runs found, and fails
# with the input that breaks it. One worker; on a machine with other work, run it under `nice`.
#
#     scripts/fuzz.sh TARGET SECONDS [FLAG..]     any flag of libFuzzer's: -max_len=100000
#     scripts/fuzz.sh build                       all targets, and nothing else
#     scripts/fuzz.sh shrink TARGET               the committed corpus anew: as few inputs as reach as much
#
# Works with the stable toolchain: the compiler's pass for coverage is asked for by name, without a sanitizer, since safe
# code has nothing for one to find. Needs Rust and a C++ compiler; writes to target/fuzz, where `found/TARGET` holds what
# broke it. To see one again: `scripts/fuzz.sh TARGET 0 FILE`.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

readonly DIR=target/fuzz TARGETS='settings matcher condition output plugin_json component reply'
HOST=$(rustc -vV | sed -n 's/^host: //p')
readonly HOST
# Comparisons are traced so that the fuzzer learns the words of a format from the code that looks for them.
readonly COVERAGE='-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table
    -Cllvm-args=-sanitizer-coverage-trace-compares'

fail() { printf 'fuzz: %s\n' "$@" >&2; exit 1; }

# For a named target, so that build scripts and macros are built without coverage.
build() {
    RUSTFLAGS=$(tr -s '\n ' ' ' <<< "$COVERAGE") CARGO_INCREMENTAL=0 cargo build --quiet --locked --package tacklebox-fuzz \
        --bins --features libfuzzer --profile fuzz --target "$HOST" --target-dir "$DIR"
}

# Longer inputs find nothing that these do not, but slower.
most_bytes() { case "$1" in component) echo 10000 ;; matcher) echo 512 ;; *) echo 2048 ;; esac; }

known() { [[ " $TARGETS " == *" $1 "* ]] || fail "there is no target \`$1\`" "the targets are $TARGETS"; }

fuzz() { # TARGET FLAG..
    local target=$1
    shift
    "$DIR/$HOST/fuzz/$target" -dict="tests/fuzz/words/$target" -artifact_prefix="$DIR/found/$target/" \
        -max_len="$(most_bytes "$target")" -timeout=10 -rss_limit_mb=4096 -use_value_profile=1 "$@"
}

case "${1:-}" in
    build)
        build
        ;;
    shrink)
        known "${2:-}"
        build
        mkdir -p "$DIR/corpus/$2" "$DIR/found/$2"
        rm -rf "$DIR/shrunk" && mkdir "$DIR/shrunk"
        fuzz "$2" -use_value_profile=0 -set_cover_merge=1 "$DIR/shrunk" "tests/fuzz/corpus/$2" "$DIR/corpus/$2"
        rm -rf "tests/fuzz/corpus/$2" && mv "$DIR/shrunk" "tests/fuzz/corpus/$2"
        ;;
    *)
        [ $# -ge 2 ] || fail 'usage: scripts/fuzz.sh TARGET SECONDS [FLAG..]' "the targets are $TARGETS"
        known "$1"
        build
        mkdir -p "$DIR/corpus/$1" "$DIR/found/$1"
        if [ "$2" = 0 ]; then fuzz "$1" "${@:3}"; exit; fi
        fuzz "$1" -max_total_time="$2" -print_final_stats=1 "${@:3}" "$DIR/corpus/$1" "tests/fuzz/corpus/$1"
        ;;
esac
