#!/usr/bin/env bash
# Fuzzes a target of tests/fuzz for so many seconds, from its committed corpus and from what earlier runs found, and fails
# with the input that breaks it. One worker; on a machine with other work, run it under `nice`.
#
#     scripts/fuzz.sh TARGET SECONDS [FLAG..]     any flag of libFuzzer's: -max_len=100000
#     scripts/fuzz.sh each SECONDS                every target, as built for tests: for a gate
#     scripts/fuzz.sh shrink TARGET               the committed corpus anew: as few inputs as reach as much
#
# Works with the stable toolchain: the compiler's pass for coverage is asked for by name, without a sanitizer, since safe
# code has nothing for one to find. Needs Rust and a C++ compiler; writes to target/fuzz, where `found/TARGET` holds what
# broke it. To see one again: `scripts/fuzz.sh TARGET 0 FILE`.
#
# `each` takes the dependencies as the tests have them, not watched for coverage: built in two minutes where the others take
# eight, and good for a look at what a commit broke, not for a search. Two at a time, always from the same seed.
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

# Where the programs are.
BUILT=$DIR/$HOST/fuzz

# For a named target, so that build scripts and macros are built without coverage.
build() {
    RUSTFLAGS=$(tr -s '\n ' ' ' <<< "$COVERAGE") CARGO_INCREMENTAL=0 cargo build --quiet --locked --package tacklebox-fuzz \
        --bins --features libfuzzer --profile fuzz --target "$HOST" --target-dir "$DIR"
}

# Only the workspace's own crates go through this wrapper.
build_as_tests() {
    local wrapper=$PWD/$DIR/watched-rustc
    mkdir -p "$DIR"
    printf '#!/bin/sh\nexec "$@" %s\n' "$(tr -s '\n ' ' ' <<< "$COVERAGE")" > "$wrapper"
    chmod +x "$wrapper"
    RUSTC_WORKSPACE_WRAPPER=$wrapper CARGO_INCREMENTAL=0 cargo build --locked --package tacklebox-fuzz --bins --features libfuzzer
    BUILT=${CARGO_TARGET_DIR:-target}/debug
}

# Longer inputs find nothing that these do not, but slower.
most_bytes() { case "$1" in component) echo 10000 ;; matcher) echo 512 ;; *) echo 2048 ;; esac; }

known() { [[ " $TARGETS " == *" $1 "* ]] || fail "there is no target \`$1\`" "the targets are $TARGETS"; }

fuzz() { # TARGET FLAG..
    local target=$1
    shift
    mkdir -p "$DIR/found/$target"
    "$BUILT/$target" -dict="tests/fuzz/words/$target" -artifact_prefix="$DIR/found/$target/" \
        -max_len="$(most_bytes "$target")" -timeout=10 -rss_limit_mb=4096 -use_value_profile=1 "$@"
}

search() { # CORPUS TARGET SECONDS FLAG..
    mkdir -p "$1"
    fuzz "$2" -max_total_time="$3" -print_final_stats=1 "${@:4}" "$1" "tests/fuzz/corpus/$2"
}

# From the committed corpus alone. What libFuzzer prints is shown where it found something.
look() { # TARGET SECONDS
    local log=$DIR/$1.log corpus=$DIR/look/$1
    rm -rf "$corpus"
    if search "$corpus" "$1" "$2" -seed=1 > "$log" 2>&1; then
        printf '%-12s %s executions\n' "$1" "$(sed -n 's/^stat::number_of_executed_units: //p' "$log")"
    else
        tail -n 60 "$log"
        return 1
    fi
}

case "${1:-}" in
    each)
        [ $# -eq 2 ] || fail 'usage: scripts/fuzz.sh each SECONDS'
        build_as_tests
        failed=0
        for target in $TARGETS; do
            look "$target" "$2" &
            [ "$(jobs -pr | wc -l)" -lt 2 ] || wait -n || failed=1
        done
        # One by one: `wait` for all of them forgets how they ended.
        while [ -n "$(jobs -p)" ]; do wait -n || failed=1; done
        exit "$failed"
        ;;
    shrink)
        known "${2:-}"
        build
        mkdir -p "$DIR/corpus/$2"
        rm -rf "$DIR/shrunk" && mkdir "$DIR/shrunk"
        fuzz "$2" -use_value_profile=0 -set_cover_merge=1 "$DIR/shrunk" "tests/fuzz/corpus/$2" "$DIR/corpus/$2"
        rm -rf "tests/fuzz/corpus/$2" && mv "$DIR/shrunk" "tests/fuzz/corpus/$2"
        ;;
    *)
        [ $# -ge 2 ] || fail 'usage: scripts/fuzz.sh TARGET SECONDS [FLAG..]' "the targets are $TARGETS"
        known "$1"
        build
        if [ "$2" = 0 ]; then fuzz "$1" "${@:3}"; exit; fi
        search "$DIR/corpus/$1" "$@"
        ;;
esac
