#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Compile the kernels and hold the compiler's own figures against limits: no warnings, next to no
# spills, and no more registers than the occupancy that was measured needs.  Needs nvcc, no device.
# usage: bash tests/check/cuda_registers.sh [ARCH...]      (default: all that the build has)
set -u
cd "$(dirname "$0")/../.." || exit 1
export NVCC=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
[ -x "$NVCC" ] || {
    echo "skip cuda-registers # nvcc was not found"
    exit 0
}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export work

# kernel's mangled name contains ...: most registers, most spilled bytes (only outside an inner
# loop, but for k_slopes, which spills between rays: 8 in two kernels on compute capability 10.0, 40 where layers stand at their mean depth)
export limits='k_tensorILi[34]ELi0ELb0E 64 8
k_tensorILi[34]ELi1ELb0E 80
k_tensorILi[34]ELi2ELb0E 80 8
k_tensor 128
k_one_wet 128
k_one 96 8
k_directILi[012]ELb1ELi[13]E 128 24
k_directILi[012]ELb[01]ELi4E 168
k_direct 128
k_residualILb0ELb0ELb0ELb0E 128
k_residualILb0ELb0ELb0ELb1E 168 40
k_residualILb[01]ELb1ELb1E 168 40
k_residual 168
k_doubleILb1E 168 240
k_double 168
k_tricubic 128 44
k_cubic_cells 72
k_repair 168
k_backgroundILb[01]ELb1E 168
k_background 128
k_slopes_double 255
k_slopes_plainILi[012]ELi[01]ELi1E 128
k_slopes_plainILi0ELi1ELi2ELi1E 190 8
k_slopes_plain 168 8
k_pull_plain 168 64
k_gramILi[012]ELi[01]ELi1ELi1E 128
k_gramILi[012]ELi[01]ELi1ELi0E 168
k_gramILi[012]ELi[01]ELi2ELi1E 168 120
k_gram 255
k_fitI[df]Li4ELi1E 255
k_fitIdLi4ELi0E 255
k_fit 128 240
k_slopes 128 400
k_materials 128 64
k_tile_pixel 128
k_tile_photons 128
k_tiles 128 250
k_spot_boxesILi[23]ELb1E 96 8
k_spot_boxes 96 260
k_spots 128 800
k_spot 128
k_product 80
k_chain 96
k_settle 168
k_ 64'

# The kernels' files; noise only where its generator is installed.
export files='tensor tricubic direct residual double background spots terms product_kernels chain_kernels fibre_kernels hold slopes_double slopes_fast slopes_plain slope_pull slope_gram slope_fit slope_sums tiles materials'
export random=
! printf '#include <Random123/philox.h>\n' | ${CC:-gcc} -E -x c - >/dev/null 2>&1 ||
    random="-DNB_HAVE_RANDOM123=1 $(tr ' ' '\n' <<<"${CC:-gcc}" | grep '^-I')"

compile() {
    local arch=${1%.*} file=${1#*.}
    "$NVCC" -O3 -std=c++17 -DNB_GPU=1 -fmad=false -Xcompiler -Wall,-Wextra -Xptxas -v $random \
        -gencode "arch=compute_$arch,code=sm_$arch" -c "cuda/$file.cu" -o "$work/$1.o" \
        >"$work/$1" 2>&1 || echo "error: $file.cu does not compile" >>"$work/$1"
}
export -f compile

judge() {
    awk -v limits="$limits" '
        BEGIN { n = split(limits, rule, "\n") }
        /warning|error:/ { print "#   " $0; bad = 1 }
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
        END { print "# " kernels + 0 " kernels"; exit bad || kernels == 0 }' "$@"
}

arches=${*:-$(for a in 75 80 86 89 90 100 120; do
    "$NVCC" --list-gpu-arch | grep -qx "compute_$a" && echo $a
done)}
for arch in $arches; do
    for file in $files; do echo "$arch.$file"; done
done | xargs -P "$(nproc)" -I {} bash -c 'compile {}'
failed=0
for arch in $arches; do
    if judge $(printf "$work/$arch.%s " $files); then
        echo "ok cuda-registers-sm_$arch"
    else
        echo "not ok cuda-registers-sm_$arch"
        failed=1
    fi
done
exit $failed
