#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds, checks and times everything that needs an NVIDIA GPU.
# usage: bash tests/bench/gpu.sh [build] [check] [spots] [products] [derive] [golden] [detectors] [footprint] [light] [noise] [frames]
#     [time] [panels] [sweep] [host] [process] [peer] [series] [shared] [auto] [faults] [sanitize] [ncu]
#   (no argument: build check spots products derive golden detectors footprint light panels noise frames time process faults).  Logs go to $OUT
#   (default build/gpu-report).  CUDA_ARCH=90: architecture; COUNT=2000: number of random
#   configurations; PEER: another program with the same flags to compare with; NANOBRAGG: a
#   program that was built elsewhere.
set -u
cd "$(dirname "$0")/../.." || exit 1
out=${OUT:-build/gpu-report}
arch=${CUDA_ARCH:-90}
set_name=gpu
B=build/$set_name
stages=${*:-build check spots products derive golden detectors footprint light panels noise frames time process faults}
mkdir -p "$out"
failed=0
export NB_CUDA_BENCH=1 NANOBRAGG_PYTHON=${NANOBRAGG_PYTHON:-$(command -v python3)}

note() { printf '%s\n' "$*" | tee -a "$out/summary.txt"; }
wanted() { case " $stages " in *" $1 "*) return 0 ;; *) return 1 ;; esac; }
now() { date +%s.%N; }
since() { awk -v a="$1" -v b="$(now)" 'BEGIN { printf "%.3f", b - a }'; }

build() {
    local t package
    # build the Python package (refine needs it) if Python has headers and numpy
    package=$(python3 -c 'import numpy, os, sysconfig
print("python" if os.path.exists(sysconfig.get_path("include") + "/Python.h") else "")' 2>/dev/null)
    t=$(now)
    make -j"$(nproc)" ${CC:+CC="$CC"} SET=$set_name CUDA_ARCH="$arch" \
        NVCC_FLAGS="-O3 -std=c++17 -DNB_GPU=1 -fmad=false -lineinfo -Xptxas=-v" \
        PYTHON="$NANOBRAGG_PYTHON" all $package "$B/tests/check/cuda_check" "$B/tests/check/cuda_products" "$B/tests/check/cuda_derive" \
        "$B/tests/check/spots_check" "$B/tests/bench/bench" "$B/tests/golden/golden" \
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
    # force each of these paths, also in scenes where the renderer would choose another
    local path
    for path in mma tricubic; do
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

# Images from reflections: a tolerance keeps its promise, ten runs are equal, any region
# is right; and times.
spots() {
    local parts part each
    parts=$(($(nproc) < 12 ? $(nproc) : 12))
    each=$(((${COUNT:-300} + parts - 1) / parts))
    for part in $(seq $parts); do # in parallel, because the scalar renderer is slow
        { OMP_NUM_THREADS=1 "$B/tests/check/spots_check" --isa cuda --count $each --seed "$part" || echo "not ok spots-seed-$part"; } \
            >"$out/spots-$part.txt" 2>&1 &
    done
    wait
    cat "$out"/spots-[0-9]*.txt >"$out/spots.txt"
    rm "$out"/spots-[0-9]*.txt
    # this test takes all memory of the device, so it runs alone
    "$B/tests/check/spots_check" --isa room >>"$out/spots.txt" 2>&1 || failed=1
    grep -E '^(not ok|skip)' "$out/spots.txt" | tee -a "$out/summary.txt"
    grep -q '^not ok' "$out/spots.txt" && failed=1
    grep -E '^ok' "$out/spots.txt" | sort | uniq -c | tee -a "$out/summary.txt"
    note "$(tr -d , <"$out/spots.txt" | awk '/^# spots-/ { n += $4; refused += $6; dark += $8
        beyond = $15 + 0 > beyond ? $15 + 0 : beyond; part = $NF + 0 > part ? $NF + 0 : part }
        END { printf "spots, %d pictures, %d refused, %d dark; worst beyond the bound %.2g of the brightest pixel, worst part of a bound %.3f",
            n, refused, dark, beyond, part }')"
    grep -E '^# .*(too bright|lacks more|alone|other bytes|render|bound is|reached)' "$out/spots.txt" | head -n 20
    "$B/tests/bench/bench" spots -device cuda >"$out/spots-times.txt" 2>&1 || failed=1
    tee -a "$out/summary.txt" <"$out/spots-times.txt"
}

# Search COUNT random scenes for a tolerance that makes a render slower.
sweep() {
    "$B/tests/bench/bench" sweep "${COUNT:-150}" -device cuda >"$out/sweep.md" 2>&1 || failed=1
    tee -a "$out/summary.txt" <"$out/sweep.md"
}

golden() {
    local limits
    for limits in mixed; do
        "$B/tests/golden/golden" "$B/nanobragg" golden_data --limits $limits \
            -- -device cuda -precision $limits >"$out/golden-$limits" 2>&1 || failed=1
        note "golden $limits: $(grep -c '^ok' "$out/golden-$limits") ok," \
            "$(grep -c '^not ok' "$out/golden-$limits") not ok"
        grep '^not ok' "$out/golden-$limits" | head -n 12
        cat "$out/golden-$limits" >>"$out/golden.txt"
        rm -f "$out/golden-$limits"
    done
}

# Compare images with a footprint with those of the CPU, and time them.
footprint() {
    python3 tests/bench/footprint.py --program "$B/nanobragg" --device cuda >"$out/footprint.txt" 2>&1 || failed=1
    grep -E '^(ok|not ok|# cuda)' "$out/footprint.txt" | tee -a "$out/summary.txt"
}

# Compare diffuse light and counts of the device with those of the CPU, and time them.
light() {
    if make -s -j"$(nproc)" ${CC:+CC="$CC"} SET=$set_name CUDA_ARCH="$arch" \
        NVCC_FLAGS="-O3 -std=c++17 -DNB_GPU=1 -fmad=false -lineinfo -Xptxas=-v" \
        "$B/tests/unit/unit" >>"$out/build.log" 2>&1; then
        NB_SOURCE=$PWD "$B/tests/unit/unit" test_light_device >"$out/light.txt" 2>&1 || failed=1
        grep -E '^(#|\[ ( |S|F).*\] [a-z])' "$out/light.txt" | tee -a "$out/summary.txt"
    else
        note "skip light # needs cmocka"
    fi
    python3 tests/bench/experiments.py --program "$B/nanobragg" --device cuda --threads 16 --folder /dev/shm \
        --repeats 3 --only light >"$out/light.md" 2>&1 || failed=1
    tee -a "$out/summary.txt" <"$out/light.md"
}

# Test detectors on the device: panels, curved detectors, layers, materials, noise.
detectors() {
    NB_DETECTORS_DEVICE=cuda NANOBRAGG=$PWD/$B/nanobragg NB_SOURCE=$PWD \
        python3 tests/golden/test_detectors.py >"$out/detectors.txt" 2>&1 || failed=1
    note "golden detectors on cuda: $(grep -c '^ok' "$out/detectors.txt") ok," \
        "$(grep -c '^not ok' "$out/detectors.txt") not ok, $(grep -c '^skip' "$out/detectors.txt") skipped"
    grep -A 1 '^not ok' "$out/detectors.txt" | head -n 12
}

# Time pairs: 256 panels and one, with and without a material, tricubic F by two kernels.
panels() {
    "$B/tests/bench/bench" panels >"$out/panels.md" 2>&1 || failed=1
    tee -a "$out/summary.txt" <"$out/panels.md"
}

products() {
    "$B/tests/check/cuda_products" --count "${COUNT:-300}" >"$out/products.txt" 2>&1 || failed=1
    tail -n 3 "$out/products.txt" | tee -a "$out/summary.txt"
}

# Test derivatives: reference planes, random scenes; compare times with those of images.
derive() {
    rm -f "$out/refine.txt"
    "$B/tests/check/cuda_derive" --count "${COUNT:-300}" >"$out/derive.txt" 2>&1 || failed=1
    NB_DERIVE_DEVICE=cuda NB_DERIVE_MODES='default double' NANOBRAGG=$PWD/$B/nanobragg NB_SOURCE=$PWD \
        python3 tests/golden/test_derivatives.py >>"$out/derive.txt" 2>&1 || failed=1
    NB_DERIVE_DEVICE=cuda NANOBRAGG=$PWD/$B/nanobragg NB_SOURCE=$PWD \
        python3 tests/check/derive_devices.py >>"$out/derive.txt" 2>&1 || failed=1
    grep -E '^(ok cuda|ok derive-dev|not ok|skip|# scene)' "$out/derive.txt" | head -n 40 | tee -a "$out/summary.txt"
    note "reference planes and pullbacks: $(grep -cE '^ok (derivatives|pullback)' "$out/derive.txt") ok," \
        "$(grep -cE '^not ok (derivatives|pullback)' "$out/derive.txt") not ok"
    local row
    for row in "still 101" "far 1" "triclinic 11" "geometry 11" "gaussian 11" "large 11"; do
        # shellcheck disable=SC2086
        NB_REFINE_DEVICE=cuda NANOBRAGG=$PWD/$B/nanobragg python3 tests/cli/refine_check.py $row \
            >>"$out/refine.txt" 2>&1 || failed=1
    done
    # NB_STILLS=200: compare errors of this number of stills with sigmas of the fits
    [ -z "${NB_STILLS:-}" ] || NB_JOBS=${NB_JOBS:-12} NB_REFINE_DEVICE=cuda NANOBRAGG=$PWD/$B/nanobragg \
        python3 tests/cli/refine_check.py errors "$NB_STILLS" >>"$out/refine.txt" 2>&1 || failed=1
    [ -f "$out/refine.txt" ] && tee -a "$out/summary.txt" <"$out/refine.txt"
    "$B/tests/bench/bench" derive -device cuda >"$out/derive-times.txt" 2>&1 || failed=1
    tee -a "$out/summary.txt" <"$out/derive-times.txt"
}

# Test that frames of a series equal single images, also if the machine is busy.
frames() {
    bash tests/golden/series_equal.sh "$B/nanobragg" cuda 5 >"$out/frames.txt" 2>&1 || failed=1
    note "frames of a series against single images: $(grep -c '^ok' "$out/frames.txt") equal," \
        "$(grep -c '^not ok' "$out/frames.txt") not"
    grep '^not ok' "$out/frames.txt" | head -n 5
}

noise() {
    NB_COUNTS_DEVICE=cuda NANOBRAGG=$PWD/$B/nanobragg NB_SOURCE=$PWD \
        python3 tests/golden/test_counts.py >"$out/noise.txt" 2>&1 || failed=1
    note "counts beside those of other floats: $(grep -c '^ok' "$out/noise.txt") right, $(grep -c '^not ok' "$out/noise.txt") not"
    grep '^# golden' "$out/noise.txt" | tee -a "$out/summary.txt"
    grep -B 1 '^not ok' "$out/noise.txt" | head -n 12
}

times() {
    "$B/tests/bench/bench" device >"$out/times.txt" 2>&1 || failed=1
    "$B/tests/bench/bench" noise -device cuda >>"$out/times.txt" 2>&1 || failed=1
    "$B/tests/bench/bench" device errors >>"$out/times.txt" 2>&1 || failed=1
    tee -a "$out/summary.txt" <"$out/times.txt"
}

# Host time of calls with small images.
host() {
    for edge in 64 1024; do
        "$B/tests/bench/bench" host -device cuda -pixels $edge >>"$out/host.txt" 2>&1 || failed=1
    done
    tee -a "$out/summary.txt" <"$out/host.txt"
}

# Print the wall time of a command in s: median of seven runs.
median_wall() {
    local i t
    for i in 1 2 3 4 5 6 7; do
        t=$(now)
        "$@" >/dev/null 2>&1 || return 1
        since "$t"
        echo
    done | sort -n | sed -n 4p
}

simple_flags="-cell 100 100 100 90 90 90 -default_F 100 -N 5 -lambda 6.2 -seed 1"
heavy_flags="-cell 70 80 90 75 85 95 -misset 10 20 30 -default_F 100 -N 20 -lambda 1 -distance 100
    -pixel 0.1 -detpixels 2048 -oversample 1 -mosaic 0.5 -mosaic_domains 100 -dispersion 1
    -dispsteps 10 -noint -nopgm -nonoise"

# Append the seconds of one run to a file: lap FILE COMMAND...
lap() {
    local file=$1 t
    shift
    t=$(now)
    "$@" >/dev/null 2>&1 || echo failed >>"$file"
    since "$t" >>"$file"
    echo >>"$file"
}

# Print median, least and largest value of a file of lap.
spread() { sort -n "$1" | awk '{ t[NR] = $1 } END { printf "%s (%s to %s)", t[int((NR + 1) / 2)], t[1], t[NR] }'; }

# Alternating wall times of a program that only starts the device, this program, and PEER.
process() {
    local scratch n i place
    # this program does no work: any CUDA process needs its time, for the CUDA context
    echo 'int main() { return cudaFree(0) != cudaSuccess; }' >"$out/floor.cu"
    nvcc -arch=sm_"$arch" -o "$out/floor" "$out/floor.cu"
    for place in "${TMPDIR:-/tmp}" /dev/shm; do
        scratch=$(mktemp -d "$place/nb-XXXXXX")
        for i in 1 2 3 4 5 6 7; do
            lap "$scratch/floor" "$out/floor"
            for n in 1024 4096; do
                # shellcheck disable=SC2086
                (cd "$scratch" && {
                    lap "$scratch/ours-$n" "$OLDPWD/$B/nanobragg" $simple_flags -detpixels $n -device cuda
                    lap "$scratch/ours-$n-float" "$OLDPWD/$B/nanobragg" $simple_flags -detpixels $n \
                        -device cuda -noint -nopgm -nonoise
                    [ -z "${PEER:-}" ] || lap "$scratch/peer-$n" "$PEER" $simple_flags -detpixels $n
                })
            done
        done
        note "process in $place, s, median (least to most) of 7:"
        note "  only starts the device: $(spread "$scratch/floor")"
        for n in 1024 4096; do
            note "  $n^2, four files: $(spread "$scratch/ours-$n"); float file: $(spread "$scratch/ours-$n-float")"
            [ -z "${PEER:-}" ] || note "  $n^2, four files, PEER: $(spread "$scratch/peer-$n")"
            # shellcheck disable=SC2086
            (cd "$scratch" && "$OLDPWD/$B/nanobragg" $simple_flags -detpixels $n -device cuda -time 2>&1) |
                sed -n '/^stage/,$p' >>"$out/process.txt"
        done
        rm -rf "$scratch"
    done
    rm -f "$out/floor" "$out/floor.cu"
    cat "$out/process.txt"
}

# Print the time of the longest kernel of a command, by ncu.
longest_kernel() {
    (cd "$peer_scratch" && ncu --clock-control none --metrics gpu__time_duration.sum "$@" 2>&1) |
        awk '/gpu__time_duration.sum/ { t = $NF; if ($2 == "us") t /= 1000; if ($2 == "ns") t /= 1e6
            if ($2 == "s") t *= 1000; if (t > most) most = t } END { printf "%.3f ms", most }'
}

peer() {
    [ -x "${PEER:-}" ] || {
        note "peer: PEER names no program"
        return
    }
    local here=$PWD
    peer_scratch=$(mktemp -d)
    # shellcheck disable=SC2086
    {
        note "kernel by ncu, heavy N = 20 constant F: PEER $(longest_kernel "$PEER" $heavy_flags)," \
            "ours $(longest_kernel "$here/$B/nanobragg" $heavy_flags -device cuda)"
        note "kernel by ncu, simple 4096: PEER $(longest_kernel "$PEER" $simple_flags -detpixels 4096)," \
            "ours $(longest_kernel "$here/$B/nanobragg" $simple_flags -detpixels 4096 -device cuda -noint -nopgm -nonoise)"
    }
    rm -rf "$peer_scratch"
}

# Frames per second into HDF5 on a memory file system.
series() {
    local scratch n=1000 kind
    scratch=$(mktemp -d /dev/shm/nb-XXXXXX)
    # shellcheck disable=SC2086
    for kind in "-compress bslz4" "-compress none" "-compress gzip" "-compress none -hdf5type float32"; do
        (cd "$scratch" && "$OLDPWD/$B/nanobragg" $simple_flags -detpixels 1024 -fluence 1e31 \
            -stills $n -orientations random -hdf5 run.h5 $kind -device cuda -noprogress) >"$out/series.log" 2>&1
        note "series, $n frames of 1024^2 with noise, $kind: $(grep -E 'frames' "$out/series.log" | tail -n 1)"
        rm -rf "${scratch:?}"/*
    done
    rmdir "$scratch"
}

# Time one series on some GPUs, and print frames per minute:
# rate NAME FRAMES CARDS PREFIX WORDS...
rate() {
    local name=$1 n=$2 cards=$3 prefix=$4 t
    shift 4
    t=$(now)
    # shellcheck disable=SC2086
    (cd "$scratch" && CUDA_VISIBLE_DEVICES=$(seq -s, 0 $((cards - 1))) $prefix "$program" "$@" \
        -hdf5 r_master.h5 -compress bslz4 -device cuda:all) >"$out/shared.log" 2>&1 && [ -s "$scratch/r_master.h5" ] || {
        note "not ok shared, $name, $cards cards $prefix: $(tail -n 1 "$out/shared.log")"
        failed=1
    }
    t=$(since "$t")
    note "shared, $n $name, $cards cards${prefix:+, $prefix}, $(nproc) cores, $(grep -oE '^backend .*' "$out/shared.log" | head -n 1):" \
        "$t s, $(awk -v n="$n" -v t="$t" 'BEGIN { printf "%.0f", 60 * n / t }') frames a minute"
    rm -rf "${scratch:?}"/*
}

# Rates of frames that take long on the GPU, and of frames that take long to write.
shared_rate() {
    local scratch cards
    local costly="$heavy_flags -mosaic_domains 2000 -osc 0.1 -phisteps 2 -frames 96 -frames_per_file 6"
    local quick="-cell 79 79 38 -default_F 100 -N 20 -gauss_xtal -detpixels 1024 -pixel 0.1 -distance 100
        -fluence 1e21 -crystal_volume 1e4 -stills 4000 -misset random -seed 1 -frames_per_file 100"
    costly=${costly// -noint -nopgm -nonoise/}
    scratch=$(mktemp -d /dev/shm/nb-XXXXXX)
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    # shellcheck disable=SC2086
    for cards in 1 2 4 8; do
        [ "$cards" -le "$(nvidia-smi -L | grep -c '^GPU')" ] || continue
        rate "frames of 2048^2, 40000 steps a pixel" 96 "$cards" "" $costly
        rate "stills of 1024^2 with noise" 4000 "$cards" "" $quick
        [ "$cards" -lt 2 ] || ! command -v mpirun >/dev/null ||
            rate "frames of 2048^2, 40000 steps a pixel" 96 "$cards" "mpirun -n $cards" $costly
    done
    rmdir "$scratch"
}

# Test that a series has the same bytes on one GPU, on all, and with mpirun.
shared() {
    local program
    program=$(realpath "${NANOBRAGG:-$B/nanobragg}")
    SCRATCH=/dev/shm bash tests/golden/series_shared.sh "$program" >"$out/shared.txt" 2>&1 || failed=1
    note "series shared among GPUs and processes: $(grep -c '^ok' "$out/shared.txt") equal," \
        "$(grep -c '^not ok' "$out/shared.txt") not"
    grep -E '^(not ok|skip)' "$out/shared.txt" | head -n 20
    grep -q '^skip series-shared/cuda' "$out/shared.txt" || shared_rate
}

# Check that -device auto takes the faster device.
automatic() {
    python3 tests/bench/auto.py "$B/nanobragg" >"$out/auto.md" 2>&1 || failed=1
    tee -a "$out/summary.txt" <"$out/auto.md"
}

# must_fail NAME STATUS PATTERN COMMAND...: expects this exit status, and text that matches.
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
        # another process leaves 2 GiB of the device's memory; the image needs 4 GiB
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
wanted spots && spots
wanted sweep && sweep
wanted products && products
wanted derive && derive
wanted golden && golden
wanted detectors && detectors
wanted footprint && footprint
wanted light && light
wanted panels && panels
wanted noise && noise
wanted frames && frames
wanted faults && faults
wanted process && process
wanted peer && peer
wanted series && series
wanted auto && automatic
wanted shared && shared
wanted time && times
wanted host && host
if wanted sanitize; then
    for tool in memcheck racecheck initcheck; do
        JOBS=$(nproc) bash tests/golden/cuda_each.sh $tool "$B/nanobragg" golden_data \
            >"$out/sanitize.$tool" 2>&1 || failed=1
        note "compute-sanitizer $tool, golden suite with all files:" \
            "$(grep -c '^ok' "$out/sanitize.$tool") clean, $(grep -c '^not ok' "$out/sanitize.$tool") not"
        grep -A 6 '^not ok' "$out/sanitize.$tool" | head -n 20
        for program in "cuda_check --precision mixed" cuda_products; do
            # shellcheck disable=SC2086
            compute-sanitizer --tool $tool --error-exitcode 9 "$B/tests/check/"$program \
                --count 12 >"$out/sanitize.log" 2>&1
            note "compute-sanitizer $tool, $program: status $?, $(grep -E \
                'ERROR SUMMARY|RACECHECK SUMMARY' "$out/sanitize.log" | tail -n 1)"
            cat "$out/sanitize.log" >>"$out/sanitize.$tool"
            rm "$out/sanitize.log"
        done
        cat "$out/sanitize.$tool" >>"$out/sanitize.txt"
        rm "$out/sanitize.$tool"
    done
fi
if wanted ncu; then
    for name in heavy-2048-N20-const heavy-2048-N20-table simple-4096; do
        ncu --clock-control none --set full -k 'regex:^k_(tensor|one)$' -c 1 \
            "$B/tests/bench/bench" device $name >"$out/ncu" 2>&1
        note "ncu $name"
        grep -E 'Duration|Registers Per|Issue Slots Busy|Executed Ipc Active|Achieved Occ|Theoretical Occ|highest-utilized|Local|FP64|FMA' \
            "$out/ncu" | head -n 20 | tee -a "$out/summary.txt"
        cat "$out/ncu" >>"$out/ncu.txt"
        rm "$out/ncu"
    done
fi
exit $failed
