#!/usr/bin/env bash
# The one test command: formatting, lints, tests, documentation. Installs what is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

# What an incremental build keeps for the next one is of no use in a fresh clone.
if [ -n "${CI:-}" ]; then export CARGO_INCREMENTAL=0; fi

# The Python package is part of the workspace everywhere below: with one set of features nothing is built twice. No Python is needed
# for it but to run its own tests.
workspace=(--workspace --features afterstate-python/extension --locked)
export PYO3_BUILD_EXTENSION_MODULE=1

section() { printf '\n=== %s ===\n' "$1"; }

install_rust() {
    command -v curl > /dev/null || { echo "error: neither cargo nor curl is here; hint: https://rustup.rs" >&2; exit 1; }
    curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile minimal
    # shellcheck disable=SC1091
    . "${CARGO_HOME:-$HOME/.cargo}/env"
}

# The browser tests need Chromium and ChromeDriver; without them they say that they are skipped.
install_browser() {
    local as_root=()
    [ "$(id -u)" -eq 0 ] || as_root=(sudo -n)
    command -v apt-get > /dev/null || return 1
    "${as_root[@]}" apt-get install -y --no-install-recommends chromium chromium-driver > /dev/null 2>&1 && return
    "${as_root[@]}" apt-get update > /dev/null 2>&1 && "${as_root[@]}" apt-get install -y --no-install-recommends chromium chromium-driver > /dev/null 2>&1
}

# axe-core, with which the browser tests look for what keeps people out; without npm they say that they skip it.
install_axe() {
    local axe=target/axe/node_modules/axe-core/axe.min.js
    [ -f "$axe" ] || npm install --silent --no-audit --no-fund --prefix target/axe axe-core@4 > /dev/null 2>&1 || true
    if [ -f "$axe" ]; then export AFTERSTATE_AXE=$PWD/$axe; else echo "no npm: the browser tests do without axe-core"; fi
}

section "tools"
command -v cargo > /dev/null || install_rust
cargo fmt --version > /dev/null 2>&1 || rustup component add rustfmt
cargo clippy --version > /dev/null 2>&1 || rustup component add clippy
cargo --version
command -v chromedriver > /dev/null || install_browser || true
install_axe
chromedriver --version 2> /dev/null || echo "no chromedriver: the browser tests are skipped"

section "formatting"
cargo fmt --all --check

section "lints"
cargo clippy "${workspace[@]}" --all-targets -- -D warnings

section "tests"
if cargo nextest --version > /dev/null 2>&1; then
    cargo nextest run "${workspace[@]}"
    cargo test "${workspace[@]}" --doc
else
    cargo test "${workspace[@]}"
fi

section "examples"
# Built for the whole workspace, as the tests were: for one package alone, most of it would be built again.
cargo build --quiet "${workspace[@]}" --examples
for example in play_a_game custom_value_function train custom_target load_and_search; do
    target/debug/examples/$example | tail -n 1
done

section "API"
BINARY=target/debug/afterstate scripts/api-test.sh 8 45

section "Python"
scripts/test-python.sh

section "documentation"
RUSTDOCFLAGS="-D warnings" cargo doc "${workspace[@]}" --no-deps

if command -v mdbook > /dev/null; then
    mdbook build docs
else
    echo "no mdbook: the book is not built (its links are checked by the tests)"
fi

section "licences and advisories"
if cargo deny --version > /dev/null 2>&1; then
    cargo deny check
else
    echo "no cargo-deny: not checked"
fi

section "all good"
