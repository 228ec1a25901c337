#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The program from outside: what it refuses (bad_inputs.tsv), what every flag does (flags.tsv),
# signals, and that the tables cover every flag.  NB_REDUCED=1: only what it refuses.
# usage: NANOBRAGG=program tests/cli/run.sh
set -u
export LC_ALL=C
: "${NANOBRAGG:?the program to test}"
case $NANOBRAGG in /*) ;; *) NANOBRAGG=$PWD/$NANOBRAGG ;; esac
export NANOBRAGG
cd "$(dirname "$0")" || exit 1
here=$PWD
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

pass() { echo "ok $1"; }
miss() {
    echo "# $1: $2"
    echo "not ok $1"
    failed=1
}

# A small valid simulation, and one without output files.
X="-default_F 100 -cell 100 -N 5 -detpixels 8"
NOFILES="-nofloat -noint -nonoise -nopgm"
export X NOFILES

# The input files that the tables name.
make_fixtures() {
    mkdir -p "$1/folder" && cd "$1" || exit 1
    printf '0 0 0 100\n1 0 0 50\n0 1 0 20\n0 0 1 30\n' >good.hkl
    printf '1 0 0 5\nx y z 1\n' >word.hkl
    printf '1 0\n' >short.hkl
    printf '1.5 0 0 10\n' >fraction.hkl
    printf '0 0 0 1\n1 0 0 nan\n' >nan.hkl
    printf '0 0 0 1\n100000 100000 100000 1\n' >huge.hkl
    printf '# nothing\n# at all\n' >comments.hkl
    printf '0.01 0 0\n0 0.01 0\n0 0 0.01\n' >good.mat
    printf '0.01 0 0\n0 zwei 0\n0 0 0.01\n' >word.mat
    printf '0.01 0 0\n0 0.01 0\n' >short.mat
    printf '0.01 0 0\n0 nan 0\n0 0 0.01\n' >nan.mat
    printf '0.01 0 0\n0.01 0 0\n0 0 0.01\n' >flat.mat
    printf -- '-10 0 0 1 1e-10\n-10 0.01 0 3 1.1e-10\n' >good.src
    printf -- '-10 0 0 1 1e-10\n-10 zero 0 1 1e-10\n' >word.src
    printf '0 0 0 1 1e-10\n' >zero.src
    printf -- '-10 0 0 1 0\n' >dark.src
    printf -- '-10 0 0 -1 1e-10\n' >negative.src
    printf -- '-10 0 0 nan 1e-10\n' >nan.src
    printf '# misset angles, then a matrix\n10 20 30\n0 -1 0 1 0 0 0 0 1\n' >good.rot
    printf '10 20 30\n2 0 0 0 1 0 0 0 1\n' >stretched.rot
    printf '# wavelength weight\n1 1 1.01 2\n\n0.99:1;1:3\n' >good.spectra
    printf '1 1\n1 1 1.01\n' >bad.spectra
    printf '{"phi": 3}\n\n{"misset": [1, 2, 3], "nopolar": true}\n' >good.jobs
    printf '{"phi": 3}\n{"phi": "x"}\n' >word.jobs
    printf 'phi 3\n' >text.jobs
    printf '{"frames": 3}\n' >series.jobs
    : >empty.hkl && : >empty.mat && : >empty.src && : >empty.img
    echo 'this is no image' >text.img
    "$NANOBRAGG" $X -quiet $NOFILES -intfile good.img -adc 0 -distance 90 -scale 1e9 &&
        "$NANOBRAGG" $X -quiet $NOFILES -intfile small.img -detpixels 4 &&
        "$NANOBRAGG" -hkl good.hkl -cell 10 -detpixels 4 -quiet $NOFILES -dump good.dump ||
        { echo "not ok fixtures" && exit 1; }
    head -c 600 good.img >truncated.img
    sed 's/SIZE1=/SOZE1=/' good.img >nosize.img
    # Of another program, so that the documented keys count.
    sed 's/WAVELENGTH=./WAVELENGTH=x/; s/NANOBRAGG_/SOMEONES__/' good.img >badvalue.img
    head -c 60 good.dump >truncated.dump
    cd "$here" || exit 1
}

# Names, sizes and contents of a folder.
snapshot() { (cd "$1" && find . -print0 | sort -z && find . -type f -exec cksum {} + | sort); }

# run_in FOLDER ARGS: eval the words of ARGS; leaves stdout, stderr in $work and sets $status.
run_in() {
    local folder=$1
    eval "set -- $2" # the tables quote as the shell does
    (cd "$folder" && timeout 60 "$NANOBRAGG" "$@" </dev/null >"$work/stdout" 2>"$work/stderr")
    status=$?
}

refuses() {
    local id=$1 expected=$2 text=$3 args=$4 dir=$work/case
    rm -rf "$dir" && cp -a "$work/fixtures" "$dir"
    run_in "$dir" "$args"
    if [ "$status" -ne "$expected" ]; then
        miss "$id" "exit status $status, not $expected: $(tail -n 1 "$work/stderr")"
    elif [ "$(grep -vc '^nanobragg: note: ' "$work/stderr")" -ne 1 ] ||
        ! grep -q '^nanobragg: error: ' "$work/stderr"; then
        miss "$id" "not one line 'nanobragg: error: ...': $(cat "$work/stderr")"
    elif ! grep -v '^nanobragg: note: ' "$work/stderr" | grep -qF -- "$text"; then
        miss "$id" "no '$text' in: $(cat "$work/stderr")"
    elif ! snapshot "$dir" | cmp -s - "$work/before"; then
        miss "$id" "a file was made or changed: $(snapshot "$dir" | diff "$work/before" - | tail -n 2)"
    else
        pass "$id"
    fi
}

make_fixtures "$work/fixtures"
snapshot "$work/fixtures" >"$work/before"
while IFS=$'\t' read -r id expected text args; do
    case $id in \#* | id) continue ;; esac
    refuses "refuse-$id" "$expected" "$text" "$args"
done <bad_inputs.tsv

# No arguments: a short usage on standard error.
(cd "$work" && "$NANOBRAGG" >stdout 2>stderr)
[ $? -eq 2 ] && grep -q '^usage: nanobragg' "$work/stderr" && [ ! -s "$work/stdout" ] &&
    pass usage-without-arguments || miss usage-without-arguments "$(head -n 2 "$work/stderr")"

# Text that cannot be written is no success.
if [ -w /dev/full ]; then
    "$NANOBRAGG" -help >/dev/full 2>"$work/stderr"
    [ $? -eq 1 ] && grep -q 'standard output' "$work/stderr" &&
        pass full-disk || miss full-disk "$(cat "$work/stderr")"
else
    echo "skip full-disk # no /dev/full"
fi
[ -n "${NB_REDUCED:-}" ] && exit $failed

. ./signals.sh
. ./threads.sh
. ./flags.sh
bash ./check_flags.sh || failed=1
bash ./check_docs.sh || failed=1
bash ./compare_check.sh || failed=1
bash ./bench_check.sh || failed=1
"${PYTHON:-python3}" ./compare_check.py || failed=1
"${PYTHON:-python3}" ./bench_check.py || failed=1
"${PYTHON:-python3}" ./progress_check.py || failed=1
"${PYTHON:-python3}" ./series_check.py || failed=1
"${PYTHON:-python3}" ./memory_check.py || failed=1
"${PYTHON:-python3}" ./mpi_check.py || failed=1
if [ -f fabio_check.py ]; then
    "${PYTHON:-python3}" ./fabio_check.py || failed=1
else
    echo "skip fabio # no fabio_check.py"
fi
exit $failed
