#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs every golden configuration on a GPU under compute-sanitizer, and writes all files.
# MODE: memcheck, racecheck or initcheck
# usage: bash tests/golden/cuda_each.sh MODE PROGRAM GOLDEN_DIR      (JOBS=8 at a time)
# Lines `ok NAME` and `not ok NAME ...`; exit status 1 when one fails.
set -u
[ $# -eq 3 ] || { grep '^# usage' "$0" && exit 2; }
export mode=$1 program data
program=$(realpath "$2") || exit 2
data=$(realpath "$3") || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
export work

# Runs the program in a separate folder: render NAME FLAGS...
render() {
    local name=$1
    shift
    "$@" $args -seed 7 -floatfile "$name.bin" -intfile "$name.int" -noisefile "$name.noise" \
        -pgmfile "$name.pgm" >"$name.log" 2>&1
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
    local line=$1
    export id=${line%%$'\t'*} args=${line##*$'\t'}
    [ "$id" != id ] || return 0 # this line is the head of the table
    mkdir -p "$work/$id" && cd "$work/$id" || return
    ln -s "$data"/*.hkl "$data"/*.mat "$data"/*.txt . 2>/dev/null
    sanitize
    rm -rf "${work:?}/$id"
}
export -f one sanitize render

# print each result at once: a run that is stopped early leaves some results
tr '\n' '\0' <"$data/cases.tsv" | OMP_NUM_THREADS=${OMP_NUM_THREADS:-2} xargs -0 -P "${JOBS:-8}" -I {} \
    bash -c 'one "$1"' _ {} | tee "$work/results"
grep -q '^ok' "$work/results" && ! grep -q '^not ok' "$work/results"
