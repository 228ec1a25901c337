#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs the newest wheel in a new environment and tests it, without a compiler on the
# PATH and without libraries of build packages.
# usage: tests/python/wheel.sh FOLDER PYTHON
set -euo pipefail
wheel=$(find "$1" -name "nanobragg-*.whl" -printf "%T@ %p\n" | sort -n | tail -n 1 | cut -d " " -f 2-)
python=$(command -v "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m venv --system-site-packages "$work/env" # numpy comes from the system, if it is there
env=$work/env/bin
"$env/python" -m pip install --quiet --disable-pip-version-check --no-cache-dir "$wheel"
mkdir "$work/empty"
run() { (cd "$work/empty" && env -i PATH="$env" HOME="$work" "$@"); }

run "$env/python" -m nanobragg.selftest
run nanobragg -version | head -n 1 # the script that the wheel installs
run nanobragg -default_F 100 -cell 80 80 40 90 90 90 -N 5 -detpixels 64 -pixel 1 -distance 100 \
    -pngfile a.png -noint -nonoise -nopgm -nofloat -quiet
run nanobragg run-compare -ref nanobragg -- -default_F 100 -cell 80 -N 5 -detpixels 64 -seed 1 | grep -q '^result *passed' # runs the wheel's Python
[ "$(head -c 4 "$work/empty/a.png" | tail -c 3)" = PNG ] || { echo 'not ok wheel: no picture' && exit 1; }
run "$env/python" - <<'END'
import re

import nanobragg

sim = nanobragg.Simulation(cell=80, default_F=100, N=5, detpixels=64, pixel=1, distance=100)
sim.write(tifffile="a.tif")
nanobragg.run_series(dict(cell=80, default_F=100, N=5, detpixels=64), frames=2, osc=1, hdf5="a_master.h5")
assert nanobragg.read_image("a.tif").shape == nanobragg.read_image("a_master.h5", frame=1).shape == (64, 64)
with open("/proc/self/maps", encoding="utf-8") as file:
    text = file.read()
for library in ("libhdf5", "libtiff"):
    paths = set(re.findall(rf"/\S*{library}\S*", text))
    assert paths and all("nanobragg.libs" in path for path in paths), (library, paths)
END
where=$(run "$env/python" -c 'import nanobragg._nanobragg as m; print(m.__file__)')
case $where in "$work"/*) ;; *) echo "not ok wheel: $where is not the wheel's" && exit 1 ;; esac
for file in "$where" "$(dirname "$where")/bin/nanobragg"; do
    if ldd "$file" | grep -vE 'linux-vdso|ld-linux|lib(c|m|dl|rt|pthread|gcc_s)\.so|nanobragg\.libs'; then
        echo "not ok wheel: $file takes the libraries above from the system" && exit 1
    fi
done
page=$(cd "$(dirname "$0")/../../docs" && pwd)/install.md # the wheel has the licence of each library
list=$(find "$work/env" -name nanobragg.cdx.json)
for library in $("$env/python" -m zipfile -l "$wheel" | sed -n 's/^nanobragg\.libs\/\(lib[a-z0-9_]*\).*/\1/p'); do
    grep -q "nanobragg.libs/$library\b" "$list" || { echo "not ok wheel: the list of parts lacks $library" && exit 1; }
    grep -q "wheel: .*\b$library\b" "$page" || { echo "not ok wheel: docs/install.md has no licence of $library" && exit 1; }
done
run "$env/python" - <<'END'
import importlib.metadata
import json

dist = importlib.metadata.distribution("nanobragg")
texts = {name: dist.read_text(f"licenses/{name}") for name in dist.metadata.get_all("License-File")}
parts = json.loads(dist.read_text("sboms/nanobragg.cdx.json"))["components"]
lack = [name for name, text in texts.items() if not text] + [part["name"] for part in parts if not any(
    entry["name"] == "licence" and texts.get(entry["value"]) for entry in part["properties"])]
assert not lack and len(parts) > 15, f"no text of the licence: {lack}"
END
glibc=$(basename "$wheel" | sed 's/.*manylinux_2_\([0-9]*\)_.*/\1/')
[ "$glibc" -le 28 ] || { echo "not ok wheel: it needs glibc 2.$glibc, RHEL 8 has 2.28" && exit 1; }
echo "ok wheel $(basename "$wheel")"
