#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Tests the Python package with pytest, and prints one line for each test.
set -u
cd "$(dirname "$0")/../.." || exit 1
python=${PYTHON:-python3}
package=$NB_BUILD/python
[ -e "$package/nanobragg/_nanobragg.abi3.so" ] || {
    echo "skip python # the package was not built (make python; python3-dev)"
    exit 0
}
"$python" -c 'import pytest, numpy' 2>/dev/null || {
    echo "skip python # $python has no pytest or no numpy (python3-pytest, python3-numpy)"
    exit 0
}
PYTHONPATH=$package "$python" -m pytest -q -rA -p no:cacheprovider tests/python 2>&1 |
    sed -e 's/^PASSED \(.*\)/ok \1/' -e 's/^FAILED \(.*\)/not ok \1/' -e 's/^ERROR \(.*\)/not ok \1/' \
        -e 's/^SKIPPED \(.*\)/skip \1/'
exit "${PIPESTATUS[0]}"
