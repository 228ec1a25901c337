#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# cuda/ compiles with HIP: an AMD device needs only cuda/backend/vendor_hip.h in place of
# cuda/backend/vendor.h. Nothing runs: the kernels have not been tried on an AMD device.
# usage: bash tests/check/hip_compile.sh [ARCH] (default: gfx90a)
set -u
cd "$(dirname "$0")/../.." || exit 1
command -v hipcc >/dev/null || {
    echo "skip hip-compile # hipcc was not found (Debian: hipcc, libamdhip64-dev)"
    exit 0
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HIP_PLATFORM=amd
failed=0
for file in cuda/*/*.cu; do
    # without kernels: for the host only
    grep -q '__global__' "$file" && where=() || where=(--cuda-host-only)
    hipcc "${where[@]}" --offload-arch="${1:-gfx90a}" -x hip -std=c++17 -O1 -ffp-contract=off -DNB_GPU=1 \
        -DNB_HIP=1 -Wall -Wextra -Wno-unused-result -Wno-unused-parameter \
        -Wno-unused-command-line-argument \
        -c "$file" -o "$work/object" >"$work/said" 2>&1 || failed=1
    grep -E 'error|warning' "$work/said" | sed 's/^/#   /'
done
[ $failed = 0 ] && echo "ok hip-compile" || echo "not ok hip-compile"
exit $failed
