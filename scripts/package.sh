#!/usr/bin/env bash
# Makes a Debian package in target/debian: the program as it is shipped, its manual pages and completions. Needs cargo-deb.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo build --profile dist --locked
afterstate=${CARGO_TARGET_DIR:-target}/dist/afterstate
place=target/package
rm -rf "$place"
mkdir -p "$place/man"

# The names of the commands of a page of help.
commands() { "$afterstate" "$@" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z0-9-]*\).*/\1/p' | grep -v '^help$' || true; }

"$afterstate" manual > "$place/man/afterstate.1"
for command in $(commands); do
    "$afterstate" manual "$command" > "$place/man/afterstate-$command.1"
    for verb in $(commands "$command"); do
        "$afterstate" manual "$command" "$verb" > "$place/man/afterstate-$command-$verb.1"
    done
done
gzip --best --no-name "$place"/man/*.1
"$afterstate" completions bash > "$place/afterstate.bash"
"$afterstate" completions fish > "$place/afterstate.fish"
"$afterstate" completions zsh > "$place/_afterstate"
cargo deb --package afterstate --profile dist --no-build --output target/debian/
