#!/usr/bin/env bash
# Clients that ask a server for advice as fast as they can: requests a second, latencies, errors, memory. Needs wrk.
# Then an honest user beside hostile neighbours: see neighbours.py.
#
#   scripts/load-test.sh MODEL [CLIENTS] [SECONDS] [SEARCH]      64 clients, 60 seconds and 3ply unless given
#
# BINARY names the program; without it, the release build is made and used.
set -euo pipefail
scripts=$(cd "$(dirname "$0")" && pwd)
model=$(realpath "${1:?the model: a file or the directory of a run}")
clients=${2:-64} seconds=${3:-60} search=${4:-3ply}
if [ -z "${BINARY:-}" ]; then
    cd "$(dirname "$0")/.."
    cargo build --release --locked -p afterstate
    BINARY=${CARGO_TARGET_DIR:-$PWD/target}/release/afterstate
fi
BINARY=$(realpath "$BINARY")
place=$(mktemp -d)
cd "$place"
"$BINARY" serve "$model" --port 0 > address &
server=$!
trap 'kill "$server" 2> /dev/null; wait "$server" || true; rm -rf "$place"' EXIT
for _ in $(seq 100); do
    grep -q http address && break
    sleep 0.05
done
address=$(grep -o 'http://[^ #]*' address | head -n 1)
address=${address%/}

# Boards of the middle game, all different.
cat > boards.lua <<LUA
math.randomseed(tonumber(tostring({}):match("0x(%x+)"), 16))
request = function()
    local cells = {}
    for i = 1, 16 do
        local empty = math.random() < 0.35
        cells[i] = empty and "0" or tostring(math.random(1, 9))
    end
    return wrk.format("GET", "/api/v1/advise?search=$search&board=" .. table.concat(cells))
end
LUA
memory() { grep -E 'VmRSS|VmHWM' "/proc/$server/status" | tr -s '\t ' ' ' | tr '\n' ' '; }
curl -sf "$address/api/v1/advise?board=0000001001000000" > /dev/null
echo "before: $(memory)"
wrk --latency -t2 -c"$clients" -d"${seconds}s" --timeout 30s -s boards.lua "$address"
echo "after:  $(memory)"
echo "sockets and searches left: $(curl -sf "$address/api/v1/session" | grep -o '"searches":{[^}]*}')"
"$scripts/neighbours.py" "${address#http://}" 30
