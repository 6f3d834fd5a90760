#!/usr/bin/env bash
# The compiler that the committed plugins are built with: rustc 1.85.1 and its wasm32 targets from Debian trixie, with the
# linkers of this project's own toolchain (rust-toolchain.toml). Everything is unpacked into DIR; nothing is installed, and
# nothing outside DIR changes. It takes some 20 seconds and 200 MB of packages, once.
#
#     scripts/wasm-rust.sh DIR      afterwards DIR/rustc is the compiler
set -euo pipefail

readonly RUSTC="rustc 1.85.1 (4eb161250 2025-03-15) (built from a source tarball)"
readonly LLD="LLD 22.1.2"
readonly COMPONENT_LD="wasm-component-ld 0.5.21"
readonly SUITE=trixie KEY=/usr/share/keyrings/debian-archive-keyring.gpg
readonly HOST=x86_64-unknown-linux-gnu

fail() { printf 'error: %s\n' "$1" >&2; [ $# -lt 2 ] || printf 'hint: %s\n' "${@:2}" >&2; exit 1; }

# apt with lists, cache and state of its own, so that it knows one suite and touches nothing of the machine's.
own_apt() {
    apt-get -q=2 -o Dir::State="$dir/apt" -o Dir::State::status="$dir/apt/status" -o Dir::Cache="$dir/apt/cache" \
        -o Dir::Etc::SourceList="$dir/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o Acquire::Languages=none -o APT::Sandbox::User="$(id -un)" -o APT::Install-Recommends=false "$@"
}

# The mirror that this machine's own apt is set up with.
mirror() { apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -m 1 '/debian/$' || true; }

prepare_apt() {
    local uri
    uri=$(mirror)
    if [ -z "$uri" ]; then apt-get -q=2 update; uri=$(mirror); fi
    [ -n "$uri" ] || fail "apt knows no Debian mirror" "run this on Debian, or in a container of it"
    mkdir -p "$dir"/apt/{lists,cache/archives}/partial
    : > "$dir/apt/status"
    echo "deb [signed-by=$KEY] $uri $SUITE main" > "$dir/apt/sources.list"
    own_apt update
}

# What the compiler needs to run: all that apt would install for it, less the C toolchain that Debian wants beside it.
packages() {
    local c='gcc|cpp|binutils|libbinutils|libc6-dev|libc-dev-bin|linux-libc-dev|libcrypt|rpcsvc-proto|libgcc-[0-9]+-dev|lib[a-z]*san'
    c+='|libgomp|libitm|libatomic|libquadmath|libcc1|libctf|libgprofng|libsframe|libisl|libmpc|libmpfr|libgmp|libjansson'
    own_apt -s install rustc libstd-rust-dev-wasm32 | awk '$1 == "Inst" {print $2}' | grep -Ev "^($c)"
}

unpack() {
    local deb list
    list=$(packages)
    mkdir -p "$dir/root" "$dir/debs"
    # shellcheck disable=SC2086  # a word a package
    (cd "$dir/debs" && own_apt download $list)
    for deb in "$dir"/debs/*.deb; do dpkg-deb -x "$deb" "$dir/root"; done
    rm -rf "$dir/debs" "$dir/apt"
}

# By link, not by copy: rust-lld finds its libraries from where it really stands.
link_linkers() { ln -sfn "$(rustc --print sysroot)/lib/rustlib/$HOST/bin" "$dir/root/usr/lib/rustlib/$HOST/bin"; }

# Started through its own loader, since its libraries are newer than this machine's may be. Not by LD_LIBRARY_PATH, which
# the linkers would inherit.
write_launcher() {
    cat > "$dir/rustc" <<'LAUNCHER'
#!/bin/sh
usr=$(dirname "$(readlink -f "$0")")/root/usr
lib=$usr/lib/x86_64-linux-gnu
exec "$lib/ld-linux-x86-64.so.2" --library-path "$lib" "$usr/bin/rustc" --sysroot "$usr" "$@"
LAUNCHER
    chmod +x "$dir/rustc"
}

expect() { # WHAT PINNED FOUND HINT
    case "$3" in
        "$2"*) ;;
        *) fail "$1 is \`$3\`, and the committed plugins are built with \`$2\`" "$4" \
            "a new pin goes into scripts/wasm-rust.sh, together with all components: scripts/build-plugins.sh build" ;;
    esac
}

check_versions() {
    local bin="$dir/root/usr/lib/rustlib/$HOST/bin"
    expect "the compiler" "$RUSTC" "$("$dir/rustc" -V)" "remove $dir to fetch it anew; if Debian has moved on, move the pin"
    expect "rust-lld" "$LLD" "$("$bin/rust-lld" -flavor wasm --version)" "use the toolchain of rust-toolchain.toml"
    expect "wasm-component-ld" "$COMPONENT_LD" "$("$bin/wasm-component-ld" --version)" "use the toolchain of rust-toolchain.toml"
}

[ $# -eq 1 ] || fail "usage: scripts/wasm-rust.sh DIR"
[ "$(uname -sm)" = "Linux x86_64" ] || fail "the pinned compiler is one for Linux on x86_64"
mkdir -p "$1"
dir=$(readlink -f "$1")
if ! "$dir/rustc" -V > /dev/null 2>&1; then
    rm -rf "${dir:?}"/{apt,debs,root}
    prepare_apt
    unpack
    write_launcher
fi
link_linkers
check_versions
