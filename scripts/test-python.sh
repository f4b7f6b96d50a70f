#!/usr/bin/env bash
# The tests of the Python package, in a virtual environment for each Python from 3.10 to 3.13 that is installed: the wheel is built
# once, in the profile of the other tests. With CI set, the newest Python alone, and no wheel: the extension is then a library of the
# workspace, which shares all that it depends on with the other tests. Installs what is missing into target/python.
#
# With --sb3 the tests of the adapter to stable-baselines3 run too, with the newest Python. It needs PyTorch, whose wheel for Linux
# brings several gigabytes of CUDA libraries with it, so that nothing else installs it.
set -euo pipefail
cd "$(dirname "$0")/.."

sb3=
case "$*" in
    "") ;;
    --sb3) sb3=yes ;;
    *) echo "usage: scripts/test-python.sh [--sb3]" >&2; exit 2 ;;
esac

# The version of a Python, if it is from 3.10 to 3.13 and can make virtual environments.
version_of() {
    "$1" -c 'import sys, venv; v = sys.version_info; v[:2] in {(3, n) for n in range(10, 14)} and print(*v[:2], sep=".")' 2> /dev/null || true
}

declare -A found=()
for python in python3.13 python3.12 python3.11 python3.10 python3 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/*/bin/python3; do
    version=$(version_of "$python")
    if [ -n "$version" ]; then found[$version]=${found[$version]:-$python}; fi
done
mapfile -t versions < <(printf '%s\n' "${!found[@]}" | sort --version-sort --reverse)
if [ ${#found[@]} -eq 0 ]; then
    echo "no Python from 3.10 to 3.13: the tests of the package are skipped"
    exit 0
fi
if [ -n "${CI:-}" ]; then versions=("${versions[0]}"); fi
newest=${found[${versions[0]}]}

# A virtual environment with these packages, made when there is none.
environment() {
    local python=$1 directory=$2
    shift 2
    if [ "$(cat "$directory/installed" 2> /dev/null)" = "$*" ]; then return; fi
    rm -rf "$directory"
    "$python" -m venv "$directory"
    "$directory/bin/pip" install --quiet --disable-pip-version-check --no-compile "$@"
    echo "$*" > "$directory/installed"
}

# What the tests import, for a version; and what those of the adapter do.
tested_with() {
    environment "${found[$1]}" "target/python/$1" 'gymnasium>=1.1' 'matplotlib>=3.8' 'mypy>=1.10' 'numpy>=1.23' 'polars>=1' 'pyarrow>=14' 'pytest>=8' 'pytest-xdist>=3'
}
adapter_tested_with() {
    environment "$newest" target/python/sb3 'gymnasium>=1.1' 'numpy>=1.23' 'pytest>=8' 'pytest-xdist>=3' 'sb3-contrib>=2.4' 'stable-baselines3>=2.4'
}

build() {
    if [ -n "${CI:-}" ]; then
        # An extension finds the symbols of Python in the process that loads it; maturin says so too.
        PYO3_BUILD_EXTENSION_MODULE=1 cargo build --quiet --locked --workspace --lib --features afterstate-python/extension
    else
        environment "$newest" target/python/build 'maturin>=1.9.4,<2'
        rm -rf target/python/wheels
        target/python/build/bin/maturin build --quiet --profile dev --locked --manifest-path crates/python/Cargo.toml --out target/python/wheels
    fi
}

# Puts what was built into a virtual environment.
install_into() {
    local site
    if [ -n "${CI:-}" ]; then
        site=$("$1/bin/python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')
        rm -rf "$site/afterstate_2048"
        cp -r crates/python/python/afterstate_2048 "$site"
        for library in target/debug/lib_native.{so,dylib}; do
            if [ -f "$library" ]; then cp "$library" "$site/afterstate_2048/_native.abi3.so"; fi
        done
    else
        "$1/bin/pip" install --quiet --disable-pip-version-check --no-compile --no-deps --force-reinstall target/python/wheels/*.whl
    fi
}

run_pytest() {
    local directory=$PWD/$1
    shift
    "$directory/bin/python" --version
    (cd crates/python && "$directory/bin/python" -m pytest --quiet -p no:cacheprovider --numprocesses 2 --dist worksteal "$@")
}

# The network and the processor have something to do at the same time.
tested_with "${versions[0]}" &
build
wait $!
for version in "${versions[@]}"; do
    tested_with "$version"
    install_into "target/python/$version"
    run_pytest "target/python/$version"
done

if [ -n "$sb3" ]; then
    adapter_tested_with
    install_into target/python/sb3
    # The tests skip what cannot be imported, which here would be a failure.
    target/python/sb3/bin/python -c 'import sb3_contrib, stable_baselines3, torch; print("stable-baselines3", stable_baselines3.__version__, "torch", torch.__version__)'
    run_pytest target/python/sb3 tests/test_stable_baselines3.py
fi
