#!/usr/bin/env bash
# Pictures of every view of the page, in light and dark, on a desk and on a phone, into docs/images.
# With a model file as argument, that model plays beside a small one that is trained first.
set -euo pipefail
cd "$(dirname "$0")/.."

for tool in chromedriver pngquant; do
    command -v "$tool" > /dev/null || { echo "error: $tool is missing; hint: Debian packages chromium-driver and pngquant" >&2; exit 1; }
done
[ $# -eq 0 ] || { AFTERSTATE_MODEL=$(realpath "$1"); export AFTERSTATE_MODEL; }
export AFTERSTATE_IMAGES="$PWD/docs/images"
cargo test -p afterstate --test browser --locked -- --ignored --exact screenshots
pngquant --force --skip-if-larger --strip --ext .png 64 docs/images/*.png
du -ch docs/images/*.png | tail -n 1
