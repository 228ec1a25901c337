#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Cross-builds the wheel for aarch64, without CUDA, in a bare root of this machine's suite (x86-64), and tests it there
# under qemu with arm64's Python and numpy: selftest, program, and the first block of docs/python.md.
# Needs root, network and debootstrap; not part of CI.
# usage: sudo tests/lint/arm64_root.sh SOURCE-ARCHIVE FOLDER     (the wheel goes to FOLDER; bare_root.sh has the settings)
set -euo pipefail
. "$(dirname "$0")/bare_root.sh"
source=$(readlink -f "$1")
folder=$(readlink -f "$2")
bare_root "$own_suite"
inside 'dpkg --add-architecture arm64 && apt-get update -q >/dev/null
    apt-get install -q -y --no-install-recommends make pkg-config python3 crossbuild-essential-arm64 qemu-user-static librandom123-dev \
        tao-pegtl-dev gemmi-dev:arm64 libtiff-dev:arm64 libpng-dev:arm64 libcjson-dev:arm64 libhdf5-dev:arm64 libfftw3-dev:arm64 \
        libxrl-dev:arm64 libdeflate-dev:arm64 zlib1g-dev:arm64 libbz2-dev:arm64 liblz4-dev:arm64 \
        libpython3-dev:arm64 libpython3-stdlib:arm64 libblas3:arm64 liblapack3:arm64 >/dev/null 2>&1'

# arm64's Python has the same name as this machine's, so it is unpacked to another folder.
# The programs that it starts here are those of x86-64.
inside 'python=$(readlink -f /usr/bin/python3) && mkdir -p /opt/arm && cd /opt/arm && rm -f ./*.deb &&
    apt-get download -q "$(basename "$python")-minimal:arm64" python3-numpy:arm64 >/dev/null 2>&1 && for deb in *.deb; do dpkg -x "$deb" .; done &&
    printf "#!/bin/sh\nPYTHONHOME=/usr PYTHONPATH=\$PYTHONPATH:/opt/arm/usr/lib/python3/dist-packages exec qemu-aarch64-static /opt/arm$python \"\$@\"\n" >python &&
    chmod +x python'

rm -rf "$root/try" && mkdir -p "$root/try/wheel" && tar -xzf "$source" -C "$root/try" --strip-components=1
inside 'cd /try && export PKG_CONFIG_LIBDIR=/usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig &&
    make -j"$(nproc)" CC=aarch64-linux-gnu-gcc AR=aarch64-linux-gnu-ar PYTHON=/opt/arm/python CUDA=0 wheel WHEEL_DIR=wheel'

awk '/^```python$/ { on = 1; next } /^```/ && on { exit } on' "$root/try/docs/python.md" >"$root/try/first.py"
inside 'cd /try && python3 -m zipfile -e wheel/*.whl site && cd site/nanobragg/bin && mv nanobragg program && chmod +x program &&
    printf "#!/bin/sh\nexec qemu-aarch64-static /try/site/nanobragg/bin/program \"\$@\"\n" >nanobragg && chmod +x nanobragg'
inside 'cd /try && PYTHONPATH=/try/site /opt/arm/python -m nanobragg.selftest && site/nanobragg/bin/nanobragg -version | head -n 1'
sums=$(inside 'cd /try && PYTHONPATH=/try/site /opt/arm/python first.py' | tail -n 1)
cp "$root"/try/wheel/*.whl "$folder"
echo "$(basename "$root"/try/wheel/*.whl) under qemu: $sums"
