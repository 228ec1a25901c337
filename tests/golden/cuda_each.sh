#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every golden configuration on the device, once more:
#   noise       -precision double makes the scalar CPU's noise and integer files, byte for byte; and
#               `mixed` the same noise, pixel for pixel, also with 60000 photons in the brightest pixel
#               (but with -compat, whose generator is serial: one count that differs shifts all others)
#   memcheck | racecheck | initcheck    under compute-sanitizer, with all files written
# usage: bash tests/golden/cuda_each.sh MODE PROGRAM GOLDEN_DIR      (JOBS=8 at a time)
# Lines `ok NAME` and `not ok NAME ...`; exit status 1 when one fails.
set -u
[ $# -eq 3 ] || { grep '^# usage' "$0" && exit 2; }
. "$(dirname "$0")/noise_files.sh" || exit 2
export mode=$1 program data
program=$(realpath "$2") || exit 2
data=$(realpath "$3") || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
export work

# Run the program in a folder of its own: render NAME FLAGS...
render() {
    local name=$1
    shift
    "$@" $args -seed 7 -floatfile "$name.bin" -intfile "$name.int" -noisefile "$name.noise" \
        -pgmfile "$name.pgm" >"$name.log" 2>&1
}

noise() {
    local d i m c b=0 more word='not ok'
    render a "$program" -device cpu -isa scalar -precision double &&
        render b "$program" -device cuda -precision double &&
        render c "$program" -device cpu && render d "$program" -device cuda || {
        echo "not ok noise/$id: $(cat ./*.log | grep -m 1 error)"
        return
    }
    d=$(differ a.noise b.noise $pixels) i=$(differ a.int b.int $pixels)
    m=$(differ a.noise d.noise $pixels) c=$(differ a.noise c.noise $pixels)
    more=$(bright "$max" "$args")
    [ -z "$more" ] || { # the last of two fluences holds
        args="$args $more"
        render e "$program" -device cpu -isa scalar -precision double && render f "$program" -device cuda
        b=$(differ e.noise f.noise $pixels)
    }
    grep -qe '-compat' <<<"$args" && m=serial c=serial b=serial
    if [ "$d $i" = '0 0' ] && cmp -s a.bin b.bin && cmp -s a.pgm b.pgm &&
        [[ "$m $c $b" =~ ^(0 0 0|serial serial serial)$ ]]; then
        word=ok
    fi
    echo "$word noise/$id double: $d noise $i integer pixels differ from the scalar CPU's;" \
        "mixed: $m of $pixels, on the CPU $c, bright $b"
}

sanitize() {
    render a compute-sanitizer --tool "$mode" --error-exitcode 9 "$program" -device cuda
    local status=$?
    if [ $status -eq 0 ]; then
        echo "ok $mode/$id"
    else
        echo "not ok $mode/$id: status $status"
        grep -m 12 '=========' a.log | sed 's/^/#   /'
    fi
}

one() {
    local line=$1 rest
    export id=${line%%$'\t'*} args=${line##*$'\t'}
    IFS=$'\t' read -r _ fast slow _ max rest <<<"$line"
    [ "$id" != id ] || return 0 # the heading
    pixels=$((fast * slow))
    mkdir -p "$work/$id" && cd "$work/$id" || return
    ln -s "$data"/*.hkl "$data"/*.mat "$data"/*.txt . 2>/dev/null
    if [ "$mode" = noise ]; then noise; else sanitize; fi
    rm -rf "${work:?}/$id"
}
export -f one noise bright sanitize differ render

# as they come, so that an end that is not awaited leaves some
tr '\n' '\0' <"$data/cases.tsv" | OMP_NUM_THREADS=${OMP_NUM_THREADS:-2} xargs -0 -P "${JOBS:-8}" -I {} \
    bash -c 'one "$1"' _ {} | tee "$work/results"
grep -q '^ok' "$work/results" && ! grep -q '^not ok' "$work/results"
