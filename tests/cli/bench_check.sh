#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Run nanobragg bench: it refuses bad flags, a wrong image or an interrupt leaves no
# report, and some test types every flag of bench.
# usage: NANOBRAGG=program NB_BUILD=folder tests/cli/bench_check.sh
set -u
export LC_ALL=C
: "${NANOBRAGG:?the program to test}"
case $NANOBRAGG in /*) ;; *) NANOBRAGG=$PWD/$NANOBRAGG ;; esac
here=$(cd "$(dirname "$0")" && pwd) || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
TINY="-sizes 32 -cases simple -sweeps size -devices cpu -o out"

# says STATUS TEXT NAME ARGS...: bench with ARGS must end with this exit status, print
# this text in one error line, and write no report.
says() {
    local status=$1 text=$2 name=bench-$3 got
    shift 3
    echo "$*" >>typed
    "$NANOBRAGG" bench "$@" >out.txt 2>err.txt </dev/null
    got=$?
    if [ "$got" -ne "$status" ]; then
        echo "# $name: exit status $got, not $status: $(tail -n 2 err.txt)"
    elif ! cat out.txt err.txt | grep -qF -- "$text"; then
        echo "# $name: no '$text' in: $(tail -n 5 out.txt) $(cat err.txt)"
    elif [ "$status" -ne 0 ] && [ "$(grep -vc ': note: ' err.txt)" -ne 1 ]; then
        echo "# $name: not one line of error: $(cat err.txt)"
    elif [ "$status" -ne 0 ] && ls -d out out.* 2>/dev/null | grep -vxF out.txt; then
        echo "# $name: something was left behind"
    else
        echo "ok $name"
        rm -rf out
        return 0
    fi
    echo "not ok $name"
    rm -rf out
    failed=1
}

if [ ! -e "${NB_BUILD:?}/python" ]; then
    echo 'skip bench # the Python package is not built'
    exit 0
fi
program() { printf '#!/bin/sh\n%s\n' "$2" >"$1" && chmod +x "$1"; }
program brighter "exec '$NANOBRAGG' \"\$@\" -fluence 1.5e29 -phi 3"
program crashing 'kill -SEGV $$'
program failing 'echo woe; exit 9'
program silent 'exit 0'
echo '{"program": "x"}' >short.json
echo '{' >broken.json
point='"case": "simple", "size": 32, "warm": 0.5, "max_error": 0.001'
echo "{\"program\": \"x\", \"points\": [{$point}]}" >unchecked.json
echo "{\"program\": \"x\", \"points\": [{$point, \"correlation\": 0.9}]}" >wrong.json
mkdir there

says 0 'usage: nanobragg bench' help -help
says 2 "must be whole numbers" bad-sizes -sizes 64,x
says 2 "at least 5" few-repeats $TINY -repeats 3
says 2 "cpu, cuda, cuda:N" bad-device -devices gpu
says 2 "-devices cuda:99" no-device -devices cuda:99 -o out
says 2 "double or mixed" bad-precision $TINY -precisions half
says 2 "avx512" bad-isa $TINY -isas mmx
says 2 "not a number" bad-limit $TINY -limit soon
says 2 "from 1 to 64" bad-oversamples $TINY -oversamples 0
says 2 "from 1 to 4096" bad-threads $TINY -threads 1,0
says 2 "behind --" own-without-flags -cases own -o out
says 2 "unknown flag" own-bad-flags $TINY -cases own -- -nosuchflag 1
says 2 "it exists already" never-overwrites -o there
says 2 "-vs: the program ./nosuch cannot be run" no-peer $TINY -vs x=./nosuch
says 2 "cannot be run" no-peer-in-path $TINY -vs x=nosuchprogram
says 2 "NAME=PROGRAM" peer-without-name $TINY -vs ./crashing
says 1 "signal 11" peer-crashes $TINY -vs x=./crashing
says 1 "x ended with status 9: woe" peer-fails $TINY -vs x=./failing
says 1 "x wrote no image" peer-silent $TINY -vs x=./silent
says 3 "wrong image, no time is reported: x, fresh process: simple 32x32" peer-wrong $TINY \
    -vs x=./brighter
says 2 "cannot be read" no-results $TINY -peer-results nosuch.json
says 2 "it is no JSON" broken-results $TINY -peer-results broken.json
says 2 '"program" and "points"' short-results $TINY -peer-results short.json
says 2 "point 1 needs case" unchecked-results $TINY -peer-results unchecked.json
says 2 "the image of point 1 is wrong: correlation 0.9" wrong-results $TINY \
    -peer-results wrong.json
says 2 '"format" is not' from-other-file -from short.json -o out
says 1 "cannot make" no-folder -o /proc/nosuch/out
says 0 'report' own-case -sizes 32 -sweeps size,oversample -at 32 -oversamples 2 -isas scalar \
    -devices cpu -name mine -outdir out -- -cell 50 -N 3 -default_F 10

# After an interrupt no partial report may exist.
"$NANOBRAGG" bench -sizes 1024 -cases heavy -sweeps size -devices cpu -limit 1000 -o cut \
    2>err.txt >out.txt &
pid=$!
sleep 1
kill -TERM $pid
wait $pid
status=$?
if [ $status -eq 130 ] && ! ls -d cut* >/dev/null 2>&1 && grep -q 'interrupted' err.txt; then
    echo "ok bench-interrupted"
else
    echo "# status $status, left $(ls -d cut* 2>&1): $(cat err.txt)"
    echo "not ok bench-interrupted"
    failed=1
fi

"$NANOBRAGG" bench -help | sed -n 's/^  -\([a-z_-]*\).*/-\1/p' | sort -u | while read -r flag; do
    grep -qE -- "$flag( |\$)" typed || grep -qF "\"$flag\"" "$here/bench_check.py" || echo "$flag"
done >never
if [ -s never ]; then
    sed 's/^/# never typed: /' never
    echo "not ok bench-every-flag-is-exercised"
    failed=1
else
    echo "ok bench-every-flag-is-exercised"
fi
exit $failed
