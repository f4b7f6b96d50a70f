#!/usr/bin/env bash
# Schemathesis (PyPI) against a running server: whatever the description allows, and much that it does not, gets the answers
# that it promises, and never a 5xx. It is installed into target/api-test; without Python 3.10 or newer this is skipped.
#
#   scripts/api-test.sh [EXAMPLES] [SECONDS]      at most 40 examples for each operation, and 240 seconds, unless given
#
# BINARY names the program; without it, the development build is made and used.
set -euo pipefail
cd "$(dirname "$0")/.."
examples=${1:-40} seconds=${2:-240}
package='schemathesis>=4.32,<5'
target=${CARGO_TARGET_DIR:-$PWD/target}

python=${PYTHON:-python3}
if ! "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2> /dev/null; then
    echo "skipped: there is no Python from 3.10 on with venv (Debian package python3-venv)"
    exit 0
fi
environment=$target/api-test
if [ "$(cat "$environment/installed" 2> /dev/null)" != "$package" ]; then
    rm -rf "$environment"
    "$python" -m venv "$environment"
    if ! "$environment/bin/pip" install --quiet --disable-pip-version-check "$package"; then
        echo "skipped: $package could not be installed"
        exit 0
    fi
    echo "$package" > "$environment/installed"
fi

if [ -z "${BINARY:-}" ]; then
    # For the whole workspace, as the tests were built: for this package alone, most of it would be built again.
    cargo build --locked --workspace --bins
    BINARY=$target/debug/afterstate
fi
BINARY=$(realpath "$BINARY")
place=$(mktemp -d)
cd "$place"
"$BINARY" serve --port 0 > address &
server=$!
trap 'kill "$server" 2> /dev/null; wait "$server" || true; rm -rf "$place"' EXIT
for _ in $(seq 600); do
    grep -q http address && break
    sleep 0.1
done
address=$(grep -o 'http://[^ #]*' address | head -n 1)
# On a busy machine the model may be longer on its way into memory than a question waits.
for _ in $(seq 20); do
    curl --silent --fail --output /dev/null "${address}move?board=0000001001000000" && break
done
# Without the token: nothing is started. Streams never end, so that the questions that open one are left out. The same
# seed gives the same questions, so that a failure can be looked at.
"$environment/bin/st" run "${address}api/v1/openapi.json" --url "${address%/}" --seed 2048 --max-time "$seconds" \
    --max-examples "$examples" --request-timeout 30 --suppress-health-check all --no-color \
    --checks not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance \
    --exclude-path-regex '/(watch|events)$'
kill -0 "$server" || { echo "error: the server has ended" >&2; exit 1; }
