#!/usr/bin/env bash
# The tests of the Python package: the wheel is built once, in the profile of the other tests, and tried in a virtual environment for
# each Python from 3.10 to 3.13 that is installed; with CI set, for the newest alone. Installs what is missing into target/python.
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

environment "${found[${versions[0]}]}" target/python/build 'maturin>=1.9,<2'
rm -rf target/python/wheels
target/python/build/bin/maturin build --quiet --profile dev --locked --manifest-path crates/python/Cargo.toml --out target/python/wheels
for version in "${versions[@]}"; do
    directory=target/python/$version
    environment "${found[$version]}" "$directory" 'gymnasium>=1.1' 'matplotlib>=3.8' 'mypy>=1.10' 'numpy>=1.23' 'polars>=1' 'pyarrow>=14' 'pytest>=8'
    "$directory/bin/pip" install --quiet --disable-pip-version-check --no-compile --no-deps --force-reinstall target/python/wheels/*.whl
    "$directory/bin/python" --version
    (cd crates/python && "../../$directory/bin/python" -m pytest --quiet -p no:cacheprovider)
done

if [ -n "$sb3" ]; then
    directory=target/python/sb3
    environment "${found[${versions[0]}]}" "$directory" 'gymnasium>=1.1' 'numpy>=1.23' 'pytest>=8' 'sb3-contrib>=2.4' 'stable-baselines3>=2.4'
    "$directory/bin/pip" install --quiet --disable-pip-version-check --no-compile --no-deps --force-reinstall target/python/wheels/*.whl
    # The tests skip what cannot be imported, which here would be a failure.
    "$directory/bin/python" -c 'import sb3_contrib, stable_baselines3, torch; print("stable-baselines3", stable_baselines3.__version__, "torch", torch.__version__)'
    (cd crates/python && "../../$directory/bin/python" -m pytest --quiet -p no:cacheprovider tests/test_stable_baselines3.py)
fi
