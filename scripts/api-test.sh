#!/usr/bin/env bash
# Schemathesis (PyPI) against a running server: whatever the description allows, and much that it does not, gets the answers
# that it promises, and never a 5xx. Takes about a minute.
#
#   scripts/api-test.sh [EXAMPLES]      40 examples for each operation unless given
#
# BINARY names the program; without it, the development build is made and used.
set -euo pipefail
examples=${1:-40}
command -v st > /dev/null || { echo "error: st is missing; hint: pip install schemathesis" >&2; exit 1; }
if [ -z "${BINARY:-}" ]; then
    cd "$(dirname "$0")/.."
    cargo build --locked -p afterstate
    BINARY=${CARGO_TARGET_DIR:-$PWD/target}/debug/afterstate
fi
BINARY=$(realpath "$BINARY")
place=$(mktemp -d)
cd "$place"
"$BINARY" serve --port 0 > address &
server=$!
trap 'kill "$server" 2> /dev/null; wait "$server" || true; rm -rf "$place"' EXIT
for _ in $(seq 100); do
    grep -q http address && break
    sleep 0.05
done
address=$(grep -o 'http://[^ #]*' address | head -n 1)
# Without the token: nothing is started. Streams never end, so that the questions that open one are left out.
st run "${address}api/v1/openapi.json" --url "${address%/}" --max-examples "$examples" --request-timeout 30 --suppress-health-check all \
    --checks not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance \
    --exclude-path-regex '/(watch|events)$'
