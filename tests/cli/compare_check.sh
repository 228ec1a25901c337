#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Run compare, view and run-compare: exit statuses, refusals, pictures, and the files that
# run-compare leaves. Every flag of these subcommands is typed here.
# usage: NANOBRAGG=program NB_BUILD=folder tests/cli/compare_check.sh
set -u
export LC_ALL=C
: "${NANOBRAGG:?the program to test}"
case $NANOBRAGG in /*) ;; *) NANOBRAGG=$PWD/$NANOBRAGG ;; esac
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
X="-default_F 100 -cell 100 -N 5 -pixel 1"
FILES="-nofloat -noint -nonoise -nopgm -quiet"

# says STATUS TEXT NAME ARGS...: expects this exit status, and TEXT in stdout or stderr.
says() {
    local status=$1 text=$2 name=$3 got
    shift 3
    echo "$name: $*" >>typed
    "$NANOBRAGG" "$@" >out 2>err </dev/null
    got=$?
    if [ "$got" -ne "$status" ]; then
        echo "# $name: exit status $got, not $status: $(tail -n 2 err)"
    elif [ -n "$text" ] && ! cat out err | grep -qF -- "$text"; then
        echo "# $name: no '$text' in: $(tail -n 5 out) $(cat err)"
    elif [ "$status" -ne 0 ] && [ "$status" -ne 3 ] && [ "$(grep -c '' err)" -ne 1 ]; then
        echo "# $name: not one line of error: $(cat err)"
    else
        echo "ok $name"
        return 0
    fi
    echo "not ok $name"
    failed=1
}

# holds NAME COMMAND...: expects that the command succeeds.
holds() {
    local name=$1
    shift
    if "$@" >out 2>err; then
        echo "ok $name"
    else
        echo "# $name: $* failed: $(tail -n 3 out) $(tail -n 3 err)"
        echo "not ok $name"
        failed=1
    fi
}

has() { "$NANOBRAGG" -version | grep -qE "^  $1 +yes"; }
size_of() { od -An -tu1 -j16 -N8 "$1" | awk '{ print $3 * 256 + $4 "x" $7 * 256 + $8 }'; }
colours_of() { od -An -tu1 -j25 -N1 "$1" | tr -d ' '; } # prints the colour type of a PNG: 0 for grey, 2 for RGB
is() { [ "$1" = "$2" ]; }

"$NANOBRAGG" $X -detpixels 64 $FILES -floatfile a.bin -intfile a.img -pgmfile a.pgm || exit 1
"$NANOBRAGG" $X -detpixels_f 64 -detpixels_s 48 $FILES -floatfile wide.bin \
    -intfile wide.img || exit 1

# --- compare ---
says 0 'result      passed' compare-equal compare a.bin a.bin
says 0 'usage: nanobragg compare' compare-help compare -help
says 3 'FAILED' compare-integers compare a.img a.bin
says 0 'thresholds  none' compare-no-threshold compare a.img a.bin -threshold none
says 3 'at least 1.1: FAILED' compare-one-threshold compare a.img a.bin --threshold corr=1.1
says 0 'pixels      100 of 64 x 64' compare-roi compare a.bin a.bin -roi 10 19 20 29
says 0 'about 10.00 20.50' compare-centre compare a.bin a.bin -centre 10 20.5
says 0 'paired (1)' compare-peaks compare a.bin a.bin -peak_percentile 90 -peak_exclusion 2 \
    -peak_count 5 -gate 1.5 -floor 0.01
says 0 '64 x 48' compare-size compare wide.bin wide.bin -size 64 48
says 2 'differ in size: 64 x 64 and 64 x 48' compare-sizes compare a.img wide.img
says 2 'an operand is missing' compare-one-image compare a.bin
says 2 'one operand too many' compare-three-images compare a.bin a.bin a.bin
says 2 "unknown flag '-roy'" compare-unknown-flag compare a.bin a.bin -roy 1
says 2 'cannot read' compare-no-file compare a.bin nosuch.bin
says 2 'type the size of a float image: -size' compare-no-square compare wide.bin a.bin
says 2 'inside 0 63 0 63' compare-roi-outside compare a.bin a.bin -roi 0 64 0 3
says 2 'needs more values' compare-roi-short compare a.bin a.bin -roi 1 2 3
says 2 'KEY one of corr' compare-bad-threshold compare a.bin a.bin -threshold cor=1
says 2 "'x' is not a number" compare-word-threshold compare a.bin a.bin -threshold corr=x
says 2 'not a number' compare-word-gate compare a.bin a.bin -gate wide
says 2 'at least 0 and at most 100' compare-percentile compare a.bin a.bin -peak_percentile 101
says 2 'not a whole number' compare-count compare a.bin a.bin -peak_count 1.5

# --- pictures ---
if has libpng; then
    says 0 'passed' compare-diff compare a.bin a.bin -diff d.png -colormap heat -pngscale 0:9 \
        -pnggamma 1
    holds compare-diff-is-three-panels is "$(colours_of d.png)" 2
    says 1 'cannot' compare-diff-no-folder compare a.bin a.bin -diff nosuch/d.png
    says 0 '' view-float view a.bin v.png
    holds view-size is "$(size_of v.png) $(colours_of v.png)" "64x64 0"
    says 0 '' view-size view wide.bin w.png -size 64 48
    holds view-wide is "$(size_of w.png)" 64x48
    says 0 '' view-pedestal view a.img ped.png -pedestal 3
    says 0 '' view-inverse view a.pgm inverse.png -colormap inverse -pngscale auto
    says 0 '' view-colours view a.img c.png -colormap viridis -pngscale 99 -pnglog
    holds view-colours-are-colours is "$(colours_of c.png)" 2
    says 0 '' view-rings view a.img r.png -pngrings 10,5,3
    holds view-rings-differ is "$(cmp -s r.png v.png; echo $?)" 1
    says 0 '' view-rings-typed view a.bin t.png -pngrings 10,5,3 -distance 100 -pixel 1 -lambda 1
    says 0 '' view-rings-header view a.img t.png -pngrings 10,5,3 -distance 100 -pixel 1 -lambda 1
    holds view-rings-agree cmp r.png t.png
    "$NANOBRAGG" $X -detpixels 64 $FILES -pngfile s.png -pngrings 10,5,3 || failed=1
    says 2 'wavelength of this image are unknown' view-rings-unknown view a.bin t.png -pngrings 5
    says 2 "must be auto | P | lo:hi" view-scale-reversed view a.bin t.png -pngscale 9:1
    says 2 "must be d,d,... (A)" view-rings-zero view a.bin t.png -pngrings 5,0
    says 2 'both set how values become colours' view-gamma-and-log view a.bin t.png -pnggamma 1 -pnglog
    says 2 'nosuch.geom' view-geom view a.bin t.png -geom nosuch.geom
    says 2 'nosuch.expt' view-expt view a.bin t.png -expt nosuch.expt -expt_number 1
    says 2 'nosuch.h5' view-nxmx view a.bin t.png -nxmx nosuch.h5
    says 2 'nosuch.geom' compare-geom compare a.bin a.bin -geom nosuch.geom
    says 2 'nosuch.expt' compare-expt compare a.bin a.bin -expt nosuch.expt -expt_number 1
    says 2 'nosuch.h5' compare-nxmx compare a.bin a.bin -nxmx nosuch.h5
    says 2 'unknown flag' view-foreign-flag view a.bin t.png -hkl a.bin
else
    says 2 'libpng' view-without-libpng view a.bin v.png
fi

# --- run-compare ---
if [ -e "${NB_BUILD:?}/python" ]; then
    program() { printf '#!/bin/sh\n%s\n' "$2" >"$1" && chmod +x "$1"; }
    ours=$NANOBRAGG
    program brighter "exec '$ours' \"\$@\" -fluence 1.3e29"
    program crashing 'kill -SEGV $$'
    program failing 'echo woe; exit 9'
    program silent 'exit 0'
    program policy "echo \"policy \${OMP_WAIT_POLICY-none}\"; exec '$ours' \"\$@\""
    program larger "exec '$ours' \"\$@\" -detpixels 65"
    printf 'not a program\n' >text
    printf '0 0 0 100\n1 0 0 50\n' >my.hkl
    F="-- $X -detpixels 64 -nonoise"
    says 0 'result      passed' run-equal run-compare -ref "$ours" -out equal $F
    holds run-leaves test -s equal/summary.json -a -s equal/config.json \
        -a -s equal/comparison.txt -a -s equal/ref/log.txt -a -s equal/ours/log.txt \
        -a -s equal/ref/floatimage.bin -a -s equal/ours/floatimage.bin
    if has libpng; then holds run-leaves-picture test -s equal/difference.png; fi
    holds run-summary grep -q '"outcome":.*"passed"' equal/summary.json
    says 3 'times 0.96' run-brighter run-compare -ref ./brighter -out brighter.out $F
    holds run-brighter-summary grep -q '"outcome":.*"comparison failed"' brighter.out/summary.json
    says 0 'passed' run-threshold run-compare -ref ./brighter -threshold corr=0.999 $F
    holds run-default-folder test -s run-compare.out/summary.json
    says 4 'cannot be run' run-missing run-compare -ref ./nosuch -out equal $F
    holds run-missing-summary grep -q '"program missing"' equal/summary.json
    holds run-nothing-stale test ! -e equal/ours/floatimage.bin
    says 4 'cannot be run' run-missing-in-path run-compare -ref nosuchprogram $F
    says 4 'cannot be run' run-not-a-program run-compare -ref ./text $F
    says 4 'cannot be run' run-ours-missing run-compare -ref "$ours" -ours ./nosuch $F
    says 5 'signal 11' run-crash run-compare -ref ./crashing $F
    says 6 'status 9' run-status run-compare -ref ./failing $F
    holds run-keeps-log grep -q woe run-compare.out/ref/log.txt
    says 6 'wrote no floatimage.bin' run-silent run-compare -ref ./silent $F
    says 6 'ours ended with status 2' run-bad-flags run-compare -ref "$ours" -- -detpixels x
    says 7 'ref wrote 16900 and ours 16384' run-size run-compare -ref ./larger $F
    says 0 'passed' run-relative-input run-compare -ref "$ours" -- -hkl my.hkl -cell 50 \
        -detpixels 16 -intfile sub/x.img
    holds run-outputs-stay test -s run-compare.out/ours/x.img
    (unset OMP_WAIT_POLICY && "$NANOBRAGG" run-compare -ref ./policy $F >/dev/null)
    holds run-environment-untouched grep -q '^policy none' run-compare.out/ref/log.txt
    OMP_WAIT_POLICY=passive "$NANOBRAGG" run-compare -ref ./policy $F >/dev/null
    holds run-environment-of-user grep -q '^policy passive' run-compare.out/ref/log.txt
    (unset NANOBRAGG_PYTHON; PATH=/nosuch "$NANOBRAGG" run-compare -ref "$ours" -out none $F 2>err)
    holds run-without-python is "$? $(grep -c 'run-compare needs python3' err) $(ls -d none 2>&1 | grep -c cannot)" "2 1 1"
    says 2 '-ref is missing' run-no-ref run-compare $F
    says 2 'behind --' run-no-flags run-compare -ref "$ours"
    says 1 'cannot make' run-no-folder run-compare -ref "$ours" -out no/such/folder $F
else
    echo 'skip run-compare # the Python package is not built'
    echo '-ref -ours -out -threshold are typed with it' >>typed
fi

# --- every flag of every subcommand is typed above ---
if has cJSON && has libpng; then
    echo '-json is typed in compare_check.py' >>typed
    echo '-mask is typed in left_out_check.py' >>typed
    echo '-with -spots -frames -report are typed in page_check.py' >>typed
    for command in compare run-compare view; do
        "$NANOBRAGG" $command -help | sed -n '/^and of/,$d; s/^  -\([a-z_]*\).*/-\1/p'
    done | sort -u | while read -r flag; do
        grep -qE -- "-?$flag( |\$)" typed || echo "$flag"
    done >never
    holds every-subcommand-flag-is-exercised test ! -s never
    [ ! -s never ] || sed 's/^/# never typed: /' never
fi
exit $failed
