#!/usr/bin/env bash
# Builds the components that are committed, so that everyone can check that they come from the sources beside them.
#
#     scripts/build-plugins.sh build         rebuilds them in place
#     scripts/build-plugins.sh --check       rebuilds them under target/ and compares byte for byte
#     scripts/build-plugins.sh bindings      rewrites the SDK's bindings, with the wit-bindgen named below
#
# `build` takes $RUSTC where that is a compiler of the pinned version with the target; `--check` never does.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

# package, target and committed file: components are built without WASI, commands with its preview 1
readonly PLUGINS="
ask-policy      wasm32-unknown-unknown  example-plugins/ask-policy/ask-policy.wasm
format-on-save  wasm32-unknown-unknown  example-plugins/format-on-save/format-on-save.wasm
no-rm-rf        wasm32-unknown-unknown  example-plugins/no-rm-rf/no-rm-rf.wasm
protect-hooks   wasm32-unknown-unknown  example-plugins/protect-hooks/protect-hooks.wasm
redact-secrets  wasm32-unknown-unknown  example-plugins/redact-secrets/redact-secrets.wasm
rtk-rewrite     wasm32-unknown-unknown  example-plugins/rtk-rewrite/rtk-rewrite.wasm
token-ledger    wasm32-unknown-unknown  example-plugins/token-ledger/token-ledger.wasm
escape          wasm32-unknown-unknown  tests/guests/escape/escape.wasm
misbehave       wasm32-unknown-unknown  tests/guests/misbehave/misbehave.wasm
player          wasm32-wasip1           tests/guests/player/player.wasm
sender          wasm32-unknown-unknown  tests/guests/sender/sender.wasm
conformance-rust wasm32-unknown-unknown guest-sdk/rust/conformance/conformance.wasm
"
readonly TARGETS="wasm32-unknown-unknown wasm32-wasip1" VERSION=1.85.1 LIMIT=100000
readonly WIT_BINDGEN="wit-bindgen-cli 0.61.1"
readonly BINDINGS=guest-sdk/rust/src/bindings.rs
readonly OUT=target/guests

fail() { printf 'error: %s\n' "$1" >&2; [ $# -lt 2 ] || printf 'hint: %s\n' "${@:2}" >&2; exit 1; }

use_pinned_compiler() {
    scripts/wasm-rust.sh target/wasm-rust
    export RUSTC=$PWD/target/wasm-rust/rustc
}

has_targets() {
    local target
    for target in $TARGETS; do [ -d "$("$1" --print sysroot)/lib/rustlib/$target/lib" ] || return 1; done
}

use_own_or_pinned_compiler() {
    if [ -n "${RUSTC:-}" ] && [[ "$("$RUSTC" -V)" == "rustc $VERSION "* ]] && has_targets "$RUSTC"; then
        echo "building with $RUSTC; only the pinned compiler's bytes pass --check"
    else
        use_pinned_compiler
    fi
}

# Panic messages hold paths: those of this folder, and those of dependencies, with the user's folder and the registry's mirror.
remap_paths() {
    local registry flags=("--remap-path-prefix=$PWD=/tacklebox")
    for registry in "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/; do
        flags+=("--remap-path-prefix=${registry%/}=/registry")
    done
    local IFS=$'\x1f'
    export CARGO_ENCODED_RUSTFLAGS="${flags[*]}"
}

compile() {
    local target
    remap_paths
    for target in $TARGETS; do compile_for "$target"; done
}

compile_for() {
    local packages=() name target file
    while read -r name target file; do [ "$target" != "$1" ] || packages+=(--package "$name"); done <<< "$PLUGINS"
    cargo fetch --locked --quiet --target "$1" --target "$("$RUSTC" -vV | sed -n 's/^host: //p')"
    env -u RUSTC_WRAPPER -u RUSTC_WORKSPACE_WRAPPER CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=wasm-component-ld \
        cargo build --locked --profile guest --target "$1" --target-dir "$OUT" "${packages[@]}"
}

# Calls its argument with each built and each committed file.
for_each_plugin() {
    local name target file
    while read -r name target file; do
        [ -z "$name" ] || "$1" "$OUT/$target/guest/${name//-/_}.wasm" "$file"
    done <<< "$PLUGINS"
}

install_one() {
    local size
    size=$(wc -c < "$1")
    [ "$size" -lt "$LIMIT" ] || fail "$2 would have $size bytes, and $LIMIT are the limit"
    cp "$1" "$2"
    echo "$2: $size bytes"
}

compare_one() {
    if cmp "$1" "$2"; then echo "$2: equal"; else differing+=("$2"); fi
}

generate_bindings() {
    wit-bindgen rust wit/v0.1/hooks.wit --world plugin --out-dir target/bindings \
        --runtime-path wit_bindgen::rt --default-bindings-module tacklebox_sdk::bindings \
        --pub-export-macro --export-macro-name export_component --additional-derive-attributes PartialEq
}

check_bindings() {
    if [ "$(wit-bindgen --version 2> /dev/null)" = "$WIT_BINDGEN" ]; then
        generate_bindings
        cmp target/bindings/plugin.rs "$BINDINGS" ||
            fail "$BINDINGS is not what wit/v0.1/hooks.wit gives" "scripts/build-plugins.sh bindings"
    else
        echo "$BINDINGS: not compared, since $WIT_BINDGEN is not at hand"
    fi
}

case "${1:-}" in
    build)
        use_own_or_pinned_compiler
        compile
        for_each_plugin install_one
        ;;
    --check)
        check_bindings
        use_pinned_compiler
        compile
        differing=()
        for_each_plugin compare_one
        [ ${#differing[@]} -eq 0 ] ||
            fail "not what the sources give: ${differing[*]}" "scripts/build-plugins.sh build, and commit what it writes"
        ;;
    bindings)
        generate_bindings
        cp target/bindings/plugin.rs "$BINDINGS"
        ;;
    *)
        fail "usage: scripts/build-plugins.sh build | --check | bindings"
        ;;
esac
