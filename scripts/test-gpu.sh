#!/usr/bin/env bash
# The tests of `gpu/`, on Mesa's Vulkan driver for the CPU, so that no GPU is needed. Installs it where it is missing.
# GPU=1 takes the machine's own driver instead.
set -euo pipefail
cd "$(dirname "$0")/.."

install_mesa() {
    local as_root=()
    [ "$(id -u)" -eq 0 ] || as_root=(sudo -n)
    "${as_root[@]}" apt-get update && "${as_root[@]}" apt-get install -y --no-install-recommends libvulkan1 mesa-vulkan-drivers
}

driver() { find /usr/share/vulkan/icd.d -name 'lvp_icd*.json' 2> /dev/null | head -n 1; }

if [ -z "${GPU:-}" ]; then
    [ -n "$(driver)" ] || install_mesa
    VK_ICD_FILENAMES="$(driver)"
    export VK_ICD_FILENAMES
fi
cargo clippy --manifest-path gpu/Cargo.toml --all-targets --locked -- -D warnings
cargo test --manifest-path gpu/Cargo.toml --locked --test gpu -- --nocapture
