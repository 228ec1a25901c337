#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Compile the kernels and hold the compiler's own figures against limits: next to no spills, and no more
# registers than the occupancy that was measured needs.  Needs nvcc, no device.
# usage: bash tests/check/cuda_registers.sh [ARCH...]      (default: 90)
set -u
cd "$(dirname "$0")/../.." || exit 1
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
[ -x "$nvcc" ] || {
    echo "skip cuda-registers # nvcc was not found"
    exit 0
}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

# kernel's mangled name contains ...: most registers, most spilled bytes (8 outside the inner loop
# of one kernel on compute capability 10.0)
limits='k_tensorILi[34]ELb0ELb0E 64 8
k_tensorILi[34]ELb1ELb0E 80
k_tensor 128
k_one 80
k_direct 128
k_residualILb0ELb0E 128
k_residual 168
k_double 168
k_repair 168
k_ 64'

for arch in "${@:-90}"; do
    for file in tensor direct residual double steps; do
        "$nvcc" -O3 -std=c++17 -fmad=false -Xcompiler -Wall,-Wextra -Xptxas -v \
            -gencode "arch=compute_$arch,code=sm_$arch" -c cuda/$file.cu -o "$work/o" \
            >>"$work/$arch" 2>&1 || {
            echo "not ok cuda-registers-sm_$arch: $file.cu does not compile"
            exit 1
        }
    done
    awk -v limits="$limits" '
        BEGIN { n = split(limits, rule, "\n") }
        /warning/ { print "#   " $0; bad = 1 }
        /Compiling entry function/ { split($0, q, "\047"); name = q[2] }
        /bytes spill stores/ { match($0, /[0-9]+ bytes spill stores/)
            spill = substr($0, RSTART, RLENGTH) + 0 }
        /Used [0-9]+ registers/ {
            match($0, /Used [0-9]+/); used = substr($0, RSTART + 5, RLENGTH - 5) + 0
            for (i = 1; i <= n; i++) {
                split(rule[i], r, " ")
                if (name ~ r[1]) break
            }
            kernels++
            if (spill > r[3] + 0 || used > r[2]) {
                printf "#   %s: %d registers (limit %d), %d bytes spilled\n", name, used, r[2], spill
                bad = 1
            }
        }
        END { exit bad || kernels == 0 }' "$work/$arch" && echo "ok cuda-registers-sm_$arch" || {
        echo "not ok cuda-registers-sm_$arch"
        failed=1
    }
done
exit $failed
