#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Everything that needs an NVIDIA GPU, on a machine with one: build, check, time.
# usage: bash tests/bench/gpu.sh [build] [check] [golden] [time] [process] [faults] [sanitize] [ncu]
#   (no argument: build check golden time process faults).  Logs go to $OUT (build/gpu-report).
#   CUDA_ARCH=90 chooses the architecture, COUNT=2000 the random configurations.
set -u
cd "$(dirname "$0")/../.." || exit 1
out=${OUT:-build/gpu-report}
arch=${CUDA_ARCH:-90}
set_name=gpu
B=build/$set_name
stages=${*:-build check golden time process faults}
mkdir -p "$out"
failed=0
export NB_CUDA_BENCH=1

note() { printf '%s\n' "$*" | tee -a "$out/summary.txt"; }
wanted() { case " $stages " in *" $1 "*) return 0 ;; *) return 1 ;; esac; }
now() { date +%s.%N; }

build() {
    local t
    t=$(now)
    make -j"$(nproc)" ${CC:+CC="$CC"} SET=$set_name CUDA_ARCH="$arch" \
        NVCC_ARCH="-gencode arch=compute_$arch,code=sm_$arch" NVCC_FLAGS="-O3 -std=c++17 -lineinfo -Xptxas=-v" \
        all "$B/tests/check/cuda_check" "$B/tests/bench/gpu_time" "$B/tests/golden/golden" \
        >"$out/build.log" 2>&1 || {
        tail -n 30 "$out/build.log"
        note "build FAILED"
        exit 1
    }
    note "build: $(echo "$(now) - $t" | bc) s, sm_$arch"
}

check() {
    "$B/tests/check/cuda_check" --count "${COUNT:-300}" >"$out/check.txt" 2>&1 || failed=1
    grep -E '^(ok|not ok|skip|# [0-9]+ cases)' "$out/check.txt" | tee -a "$out/summary.txt"
    grep -E '^# (random|cruel|[a-z0-9-]+) .*: (maxrel|rel6|sum|corr|wrote|a pixel|not black|cuda)' \
        "$out/check.txt" | head -n 30
    # every case through the tensor cores, also those with few steps
    NANOBRAGG_CUDA_PATH=mma "$B/tests/check/cuda_check" --count "${COUNT:-300}" --seed 7 \
        --precision mixed >"$out/check-mma.txt" 2>&1 || failed=1
    grep -E '^(ok|not ok|skip|# [0-9]+ cases)' "$out/check-mma.txt" | tee -a "$out/summary.txt"
}

golden() {
    local limits
    for limits in mixed single; do
        "$B/tests/golden/golden" "$B/nanobragg" golden_data --limits $limits \
            -- -device cuda -precision $limits >"$out/golden-$limits.txt" 2>&1 || failed=1
        note "golden $limits: $(grep -c '^ok' "$out/golden-$limits.txt") ok," \
            "$(grep -c '^not ok' "$out/golden-$limits.txt") not ok"
        grep '^not ok' "$out/golden-$limits.txt" | head -n 12
    done
}

times() {
    "$B/tests/bench/gpu_time" >"$out/times.txt" 2>&1 || failed=1
    cat "$out/times.txt" | tee -a "$out/summary.txt"
}

# Wall time of a command, the median of seven, seconds.
median_wall() {
    local i t
    for i in 1 2 3 4 5 6 7; do
        t=$(now)
        "$@" >/dev/null 2>&1 || return 1
        echo "$(now) - $t" | bc
    done | sort -n | sed -n 4p
}

process() {
    local scratch n
    scratch=$(mktemp -d)
    for n in 1024 4096; do
        note "process $n^2, four files: $(cd "$scratch" && median_wall \
            "$OLDPWD/$B/nanobragg" -cell 100 100 100 90 90 90 -default_F 100 -N 5 \
            -lambda 6.2 -detpixels $n -device cuda -seed 1) s"
        note "process $n^2, float file:  $(cd "$scratch" && median_wall \
            "$OLDPWD/$B/nanobragg" -cell 100 100 100 90 90 90 -default_F 100 -N 5 \
            -lambda 6.2 -detpixels $n -device cuda -seed 1 -noint -nopgm -nonoise) s"
        (cd "$scratch" && "$OLDPWD/$B/nanobragg" -cell 100 100 100 90 90 90 -default_F 100 \
            -N 5 -lambda 6.2 -detpixels $n -device cuda -seed 1 -time 2>&1) |
            grep -iE '[0-9] *(s|ms)( |$)|cuda' >>"$out/process-$n.txt"
    done
    rm -rf "$scratch"
}

# A command that must fail with this status and one line that matches.
must_fail() {
    local name=$1 status=$2 pattern=$3 text got
    shift 3
    text=$("$@" 2>&1 >/dev/null)
    got=$?
    if [ $got -eq "$status" ] && grep -qE "$pattern" <<<"$text"; then
        note "ok fault-$name"
    else
        note "not ok fault-$name (status $got, wanted $status): $text"
        failed=1
    fi
}

faults() {
    local tiny="-cell 100 100 100 90 90 90 -default_F 100 -N 5 -detpixels 64 -noint -nopgm
        -nonoise -floatfile /dev/null"
    # shellcheck disable=SC2086
    {
        must_fail hidden 2 'CUDA_VISIBLE_DEVICES' env CUDA_VISIBLE_DEVICES= \
            "$B/nanobragg" $tiny -device cuda
        must_fail no-such-device 2 'no device 77' "$B/nanobragg" $tiny -device cuda:77
        must_fail killed 130 '' timeout -s INT 3 "$B/nanobragg" $tiny -detpixels 4096 \
            -precision double -mosaic 1 -mosaic_domains 3000 -phisteps 100 -osc 1 \
            -device cuda
    }
}

wanted build && build
wanted check && check
wanted golden && golden
wanted faults && faults
wanted process && process
wanted time && times
if wanted sanitize; then
    for tool in memcheck racecheck initcheck; do
        compute-sanitizer --tool $tool --error-exitcode 9 "$B/tests/check/cuda_check" \
            --count 12 --precision mixed >"$out/$tool.txt" 2>&1
        note "compute-sanitizer $tool: status $?, $(grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' \
            "$out/$tool.txt" | tail -n 1)"
    done
fi
if wanted ncu; then
    for name in heavy-2048-N20-const heavy-2048-N20-table; do
        ncu --clock-control none --set full -k 'regex:k_tensor' -c 1 \
            "$B/tests/bench/gpu_time" $name >"$out/ncu-$name.txt" 2>&1
        note "ncu $name"
        grep -E 'Duration|Registers Per|Issue Slots Busy|Executed Ipc Active|Achieved Occ|Theoretical Occ|highest-utilized|Local|FP64|FMA' \
            "$out/ncu-$name.txt" | head -n 20 | tee -a "$out/summary.txt"
    done
fi
exit $failed
