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
since() { awk -v a="$1" -v b="$(now)" 'BEGIN { printf "%.3f", b - a }'; }

build() {
    local t
    t=$(now)
    make -j"$(nproc)" ${CC:+CC="$CC"} SET=$set_name CUDA_ARCH="$arch" \
        NVCC_FLAGS="-O3 -std=c++17 -fmad=false -lineinfo -Xptxas=-v" \
        all "$B/tests/check/cuda_check" "$B/tests/bench/gpu_time" "$B/tests/golden/golden" \
        >"$out/build.log" 2>&1 || {
        tail -n 30 "$out/build.log"
        note "build FAILED"
        exit 1
    }
    note "build: $(since "$t") s, sm_$arch; kernels that spill: $(grep -cE \
        '[1-9][0-9]* bytes spill' "$out/build.log")"
}

check() {
    "$B/tests/check/cuda_check" --count "${COUNT:-300}" >"$out/check.txt" 2>&1 || failed=1
    grep -E '^(ok|not ok|skip|# [0-9]+ cases)' "$out/check.txt" | tee -a "$out/summary.txt"
    grep -E '^# (random|cruel|[a-z0-9-]+) .*: (maxrel|rel6|sum|corr|wrote|a pixel|not black|cuda)' \
        "$out/check.txt" | head -n 30
    # the other paths, also where another would be chosen
    local path
    for path in mma residual; do
        NANOBRAGG_CUDA_PATH=$path "$B/tests/check/cuda_check" --count "${COUNT:-300}" \
            --seed 7 --precision mixed >"$out/check-$path.txt" 2>&1 || failed=1
        note "path $path forced:"
        grep -E '^(ok|not ok|skip|# [0-9]+ cases)' "$out/check-$path.txt" |
            tee -a "$out/summary.txt"
        grep -E '^# .*: (maxrel|rel6|sum|corr|cuda)' "$out/check-$path.txt" | head -n 8
        cat "$out/check-$path.txt" >>"$out/check.txt"
        rm "$out/check-$path.txt"
    done
}

golden() {
    local limits
    for limits in mixed single; do
        "$B/tests/golden/golden" "$B/nanobragg" golden_data --limits $limits \
            -- -device cuda -precision $limits >"$out/golden-$limits" 2>&1 || failed=1
        note "golden $limits: $(grep -c '^ok' "$out/golden-$limits") ok," \
            "$(grep -c '^not ok' "$out/golden-$limits") not ok"
        grep '^not ok' "$out/golden-$limits" | head -n 12
        cat "$out/golden-$limits" >>"$out/golden.txt"
        rm "$out/golden-$limits"
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
        since "$t"
        echo
    done | sort -n | sed -n 4p
}

process() {
    local scratch n
    scratch=$(mktemp -d)
    # what any CUDA process costs on this machine: a context and nothing else
    echo 'int main() { return cudaFree(0) != cudaSuccess; }' >"$scratch/floor.cu"
    nvcc -arch=sm_"$arch" -o "$scratch/floor" "$scratch/floor.cu" &&
        note "process that only starts the device: $(median_wall "$scratch/floor") s"
    for n in 1024 4096; do
        note "process $n^2, four files: $(cd "$scratch" && median_wall \
            "$OLDPWD/$B/nanobragg" -cell 100 100 100 90 90 90 -default_F 100 -N 5 \
            -lambda 6.2 -detpixels $n -device cuda -seed 1) s"
        note "process $n^2, float file:  $(cd "$scratch" && median_wall \
            "$OLDPWD/$B/nanobragg" -cell 100 100 100 90 90 90 -default_F 100 -N 5 \
            -lambda 6.2 -detpixels $n -device cuda -seed 1 -noint -nopgm -nonoise) s"
        (cd "$scratch" && "$OLDPWD/$B/nanobragg" -cell 100 100 100 90 90 90 -default_F 100 \
            -N 5 -lambda 6.2 -detpixels $n -device cuda -seed 1 -time 2>&1) |
            grep -vE '^ *-' >>"$out/process.txt"
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
        # all but 2 GiB of the device taken by somebody else; the image needs 4 GiB
        if python3 -c 'import torch' 2>/dev/null; then
            python3 -c 'import sys, torch; n = torch.cuda.mem_get_info()[0] - 2 * 2**30
x = torch.empty(n, dtype=torch.uint8, device="cuda"); print("held", flush=True)
sys.stdin.read()' < <(sleep 40) >"$out/held" &
            local holder=$! i
            for i in $(seq 100); do grep -q held "$out/held" && break; sleep 0.2; done
            must_fail no-memory 1 'out of device memory: the image needs' \
                "$B/nanobragg" $tiny -detpixels 32768 -oversample 1 -device cuda
            kill $holder
            wait $holder 2>/dev/null
            rm -f "$out/held"
        else
            note "skip fault-no-memory # no PyTorch here to take the memory"
        fi
        must_fail no-such-device 2 'no device 77' "$B/nanobragg" $tiny -device cuda:77
        must_fail killed 130 '' timeout --preserve-status -s INT 3 "$B/nanobragg" $tiny -detpixels 4096 \
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
            --count 12 --precision mixed >"$out/sanitize.$tool" 2>&1
        note "compute-sanitizer $tool: status $?, $(grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' \
            "$out/sanitize.$tool" | tail -n 1)"
        cat "$out/sanitize.$tool" >>"$out/sanitize.txt"
        rm "$out/sanitize.$tool"
    done
fi
if wanted ncu; then
    for name in heavy-2048-N20-const heavy-2048-N20-table heavy-2048-N20-const-residual \
        simple-4096; do
        ncu --clock-control none --set full -k 'regex:^k_(tensor|residual|one)$' -c 1 \
            "$B/tests/bench/gpu_time" $name >"$out/ncu" 2>&1
        note "ncu $name"
        grep -E 'Duration|Registers Per|Issue Slots Busy|Executed Ipc Active|Achieved Occ|Theoretical Occ|highest-utilized|Local|FP64|FMA' \
            "$out/ncu" | head -n 20 | tee -a "$out/summary.txt"
        cat "$out/ncu" >>"$out/ncu.txt"
        rm "$out/ncu"
    done
fi
exit $failed
