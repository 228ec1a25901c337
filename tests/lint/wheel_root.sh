#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Tests a wheel in a bare root with only Python and numpy: selftest, program, block 1 of docs/python.md.  Needs root, network and debootstrap; not part of CI.
# usage: sudo tests/lint/wheel_root.sh SUITE WHEEL      (bare_root.sh has the settings)
# If the suite's Python is older than 3.11: PYTHON_SOURCE=archive of a newer one, which is compiled there, NUMPY=wheel of numpy.
set -euo pipefail
repo=$(cd "$(dirname "$0")/../.." && pwd)
. "$repo/tests/lint/bare_root.sh"
bare_root "$1"
mkdir -p "$root/try/golden_data"
cp "$2" "$root/try"
cp "$repo/golden_data/lysozyme_P1.hkl" "$root/try/golden_data"
awk '/^```python$/ { on = 1; next } /^```/ && on { exit } on' "$repo/docs/python.md" >"$root/try/first.py"
grep -q 'sim.render()' "$root/try/first.py"
if [ -n "${PYTHON_SOURCE:-}" ]; then
    cp "$PYTHON_SOURCE" "$root/opt/python.tar.gz"
    cp "$NUMPY" "$root/try"
    inside '[ -x /opt/python/bin/python3 ] || {
        apt-get install -q -y --no-install-recommends build-essential zlib1g-dev >/dev/null
        cd /opt && tar -xzf python.tar.gz && cd Python-* && ./configure -q --prefix=/opt/python >/dev/null && make -s -j install >/dev/null 2>&1; }'
else
    inside 'apt-get install -q -y --no-install-recommends python3 python3-venv python3-numpy >/dev/null
        ! ls /usr/bin | grep -E "^(cc|gcc|clang)" || { echo "not ok wheel-root: there is a compiler" && exit 1; }'
fi
inside 'cd /try && PATH=/opt/python/bin:$PATH && python3 -m venv --system-site-packages env && env/bin/pip install -q --no-index --no-deps ./*.whl'
inside 'cd /try && env/bin/python -m nanobragg.selftest && env/bin/nanobragg -version | head -n 1'
inside "cd /try/golden_data && PATH=/try/env/bin:\$PATH && $verbs"
sums=$(inside 'cd /try && env/bin/python first.py' | tail -n 1)
what=$(inside '. /etc/os-release && echo "$PRETTY_NAME, glibc $(ldd --version | sed -n "1s/.* //p"), $(/try/env/bin/python --version), numpy $(/try/env/bin/python -c "import numpy; print(numpy.__version__)")"')
echo "$what: $sums"
