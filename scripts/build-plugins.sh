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

# package and committed file
readonly PLUGINS="
no-rm-rf        example-plugins/no-rm-rf/no-rm-rf.wasm
protect-hooks   example-plugins/protect-hooks/protect-hooks.wasm
redact-secrets  example-plugins/redact-secrets/redact-secrets.wasm
rtk-rewrite     example-plugins/rtk-rewrite/rtk-rewrite.wasm
token-ledger    example-plugins/token-ledger/token-ledger.wasm
escape          tests/guests/escape/escape.wasm
misbehave       tests/guests/misbehave/misbehave.wasm
conformance-rust guest-sdk/rust/conformance/conformance.wasm
"
readonly TARGET=wasm32-unknown-unknown VERSION=1.85.1 LIMIT=100000
readonly WIT_BINDGEN="wit-bindgen-cli 0.61.1"
readonly BINDINGS=guest-sdk/rust/src/bindings.rs
readonly OUT=target/guests/$TARGET/guest

fail() { printf 'error: %s\n' "$1" >&2; [ $# -lt 2 ] || printf 'hint: %s\n' "${@:2}" >&2; exit 1; }

use_pinned_compiler() {
    scripts/wasm-rust.sh target/wasm-rust
    export RUSTC=$PWD/target/wasm-rust/rustc
}

use_own_or_pinned_compiler() {
    if [ -n "${RUSTC:-}" ] && [[ "$("$RUSTC" -V)" == "rustc $VERSION "* ]] &&
        [ -d "$("$RUSTC" --print sysroot)/lib/rustlib/$TARGET/lib" ]; then
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
    local packages=() name file
    while read -r name file; do [ -z "$name" ] || packages+=(--package "$name"); done <<< "$PLUGINS"
    cargo fetch --locked --quiet --target "$TARGET" --target "$("$RUSTC" -vV | sed -n 's/^host: //p')"
    remap_paths
    env -u RUSTC_WRAPPER -u RUSTC_WORKSPACE_WRAPPER CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=wasm-component-ld \
        cargo build --locked --profile guest --target "$TARGET" --target-dir target/guests "${packages[@]}"
}

# Calls its argument with each built and each committed file.
for_each_plugin() {
    local name file
    while read -r name file; do [ -z "$name" ] || "$1" "$OUT/${name//-/_}.wasm" "$file"; done <<< "$PLUGINS"
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
