#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The Python package on a machine with an NVIDIA GPU: tests, then times in alternation with the PyTorch port.
# usage: bash tests/bench/python_gpu.sh PACKAGE [PORT]
#   PACKAGE  a folder with the unpacked wheel (make wheel), or build/SET/python
#   PORT     the PyTorch port's src folder
# Python with numpy, pytest and a torch for this GPU; logs go to $OUT (build/python-gpu).
set -u
cd "$(dirname "$0")/../.." || exit 1
out=${OUT:-build/python-gpu}
mkdir -p "$out"
package=$(cd "$1" && pwd)
export PYTHONPATH=$package
program=$package/nanobragg/bin/nanobragg
[ -e "$program" ] && chmod +x "$program" || program=$(dirname "$package")/nanobragg
export NANOBRAGG=$program
failed=0
run() {
    local log=$out/$1
    shift
    "$@" 2>&1 | tee "$log"
    [ "${PIPESTATUS[0]}" = 0 ] || failed=1
}
run host.txt python3 tests/bench/python_host.py --device cuda --detpixels 1024
run selftest.txt python3 -m nanobragg.selftest
run test_gpu.txt python3 -m pytest -q -rs -s -p no:cacheprovider tests/python/test_gpu.py tests/python/test_device.py \
    tests/python/test_torch.py tests/python/test_derivatives.py
if [ -n "${2:-}" ]; then
    run port.txt python3 tests/bench/torch_port.py --port "$2" --device cuda --sizes 256,1024 --repeats 20 --threads 16
    run port-compiled.txt timeout 300 python3 tests/bench/torch_port.py --port "$2" --device cuda --sizes 1024 \
        --repeats 20 --threads 16 --compile
fi
exit $failed
