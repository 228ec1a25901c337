#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A wheel in a bare root with Python and numpy, nothing else: its selftest, its program, and the first block of
# docs/python.md.  Needs root, network and debootstrap; not part of CI.
# usage: sudo tests/lint/wheel_root.sh SUITE WHEEL      (bare_root.sh has the settings)
set -euo pipefail
repo=$(cd "$(dirname "$0")/../.." && pwd)
. "$repo/tests/lint/bare_root.sh"
bare_root "$1"
mkdir -p "$root/try/golden_data"
cp "$2" "$root/try"
cp "$repo/golden_data/lysozyme_P1.hkl" "$root/try/golden_data"
awk '/^```python$/ { on = 1; next } /^```/ && on { exit } on' "$repo/docs/python.md" >"$root/try/first.py"
grep -q 'sim.render()' "$root/try/first.py"
inside 'apt-get install -q -y --no-install-recommends python3 python3-venv python3-numpy >/dev/null'
inside 'cd /try && python3 -m venv --system-site-packages env && env/bin/pip install -q --no-index --no-deps ./*.whl'
inside 'cd /try && env/bin/python -m nanobragg.selftest && env/bin/nanobragg -version | head -n 1'
sums=$(inside 'cd /try && env/bin/python first.py' | tail -n 1)
what=$(inside '. /etc/os-release && echo "$PRETTY_NAME, $(python3 --version), numpy $(python3 -c "import numpy; print(numpy.__version__)")"')
echo "$what: $sums"
