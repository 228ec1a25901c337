#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs the tests of one build folder and counts them.
#
# usage: tests/run.sh [--quick | --reduced | --big | --images] [--only ROOM] BUILD-FOLDER
#   --quick    unit, fuzz replay and command line
#   --reduced  the same rooms with NB_REDUCED=1 (sanitizer builds: the command line's bad inputs)
#   --big      everything, with NB_BIG=1 (long forms of the tests that have one), and DIALS
#   --images   the golden images of each renderer
#
# A test is a program BUILD-FOLDER/tests/ROOM/NAME, a group of tests/unit/unit, or a script: tests/ROOM/run.sh, check_*.sh and
# *_check.* or, in a room without run.sh, tests/ROOM/test_*.sh and test_*.py.  It prints lines
# `ok NAME`, `not ok NAME`, `skip NAME # reason`, or TAP (cmocka's).  The environment of scripts has
# NANOBRAGG (the program), NB_BUILD, NB_SOURCE and TMPDIR, a folder for their files.
# The last line printed is `N passed, N failed, N skipped`.
set -u
export LC_ALL=C
cd "$(dirname "$0")/.." || exit 1

mode=full only=
while [ $# -gt 1 ]; do
    case $1 in
    --quick | --reduced | --big | --images) mode=${1#--} ;;
    --only) only=$2 && shift ;;
    *) echo "tests/run.sh: unknown option $1" >&2 && exit 2 ;;
    esac
    shift
done
build=$(cd "${1:?usage: tests/run.sh [options] BUILD-FOLDER}" && pwd) || exit 2

rooms="check golden cli unit python real fuzz" # the slow ones start first
required="unit golden cli fuzz"
case $mode in
quick) rooms="cli unit fuzz" required=$rooms ;;
reduced) rooms="cli unit fuzz" required=$rooms && export NB_REDUCED=1 ;;
big) rooms="dials $rooms" && export NB_BIG=1 ;;
images) rooms=golden required=golden ;;
esac
[ -z "$only" ] || rooms=$only required=$only

log=$build/test-log
rm -rf "$log"
mkdir -p "$log/tmp" || exit 1
export NANOBRAGG=$build/nanobragg NB_BUILD=$build NB_SOURCE=$PWD
export NANOBRAGG_PYTHON=${PYTHON:-python3} CMOCKA_MESSAGE_OUTPUT=TAP OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive}
export NB_TEST_LOG=$log NB_TEST_SECONDS=${NB_TEST_SECONDS:-600} # in seconds of processor time
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:allocator_may_return_null=1}
export LSAN_OPTIONS=${LSAN_OPTIONS:-suppressions=$PWD/tests/support/lsan.txt:print_suppressions=0}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}

# The golden images once for each renderer, against that renderer's row of tolerances.
list_golden() {
    local isa
    printf 'golden/scalar\t%s --limits scalar -- -device cpu -isa scalar\n' "$1"
    printf 'golden/double\t%s --limits scalar -- -device cpu -precision double\n' "$1"
    for isa in sse2 avx2 avx512 neon; do
        if must_render "$isa" "-device cpu -isa $isa"; then
            printf 'golden/%s\t%s --limits mixed -- -device cpu -isa %s\n' "$isa" "$1" "$isa"
        else
            printf 'golden/%s\techo skip golden-%s # not on this processor or in this build%s\n' \
                "$isa" "$isa" "$([ "$isa" != neon ] || echo '; make neon-check runs it')"
        fi
    done
    if must_render cuda "-device cuda"; then
        printf 'golden/cuda\t%s --limits mixed -- -device cuda\n' "$1"
    else
        printf 'golden/cuda\techo skip golden-cuda # no CUDA device or not in this build\n'
    fi
}

# Skips only if the program refuses (status 2) and the machine lacks the renderer too: a
# broken renderer must fail.
must_render() {
    (cd "$log/tmp" && "$build/nanobragg" -cell 50 -N 2 -default_F 1 -detpixels 8 -nofloat -noint \
        -nonoise -nopgm $2 >/dev/null 2>&1)
    [ $? -eq 2 ] || return 0
    case $1 in
    avx512) grep -qw avx512f /proc/cpuinfo && grep -qw avx512vl /proc/cpuinfo ;;
    sse2 | avx2) grep -qw "$1" /proc/cpuinfo ;;
    neon) [ "$(uname -m)" = aarch64 ] ;;
    cuda) [ -e /dev/nvidiactl ] && grep -q '^NVCC :=' "$build/config.mk" ;;
    esac
}

# One "ROOM/NAME<tab>command" line for each test of a room.
list_room() {
    local room=$1 file name
    for file in "$build/tests/$room"/*; do
        [ -f "$file" ] && [ -x "$file" ] || continue
        [ -f "tests/$room/$(basename "${file/replay_/fuzz_}").c" ] || continue # this program belongs to a deleted source
        name=$(basename "$file")
        case $room/$name in
        fuzz/replay_*) printf '%s\t%s %s\n' "$room/$name" "$file" \
            "tests/fuzz/corpus/${name#replay_}" ;;
        check/spots_check) printf '%s\t%s%s\n' "$room/$name" "$file" "$([ -n "${NB_BIG:-}" ] || echo ' --count 30')" ;;
        unit/unit) "$file" -list | awk -v OFS='\t' -v unit="$file" '{ print "unit/" $1, unit " " $1 }' ;;
        golden/golden) list_golden "$file $build/nanobragg golden_data" ;;
        *) printf '%s\t%s\n' "$room/$name" "$file" ;;
        esac
    done
    [ "$mode" != images ] || return
    if [ -f "tests/$room/run.sh" ]; then
        printf '%s\tbash tests/%s/run.sh\n' "$room/run.sh" "$room"
        [ -z "${NB_REDUCED:-}" ] || return
        set -- "tests/$room"/check_*.sh "tests/$room"/*_check.sh "tests/$room"/*_check.py
    else
        set -- "tests/$room"/test_*.sh "tests/$room"/test_*.py
    fi
    for file; do
        [ -f "$file" ] || continue
        case $file in
        *.sh) printf '%s\tbash %s\n' "${file#tests/}" "$file" ;;
        *.py) printf '%s\t%s %s\n' "${file#tests/}" "${PYTHON:-python3}" "$file" ;;
        esac
    done
}

# Run one test; its output, exit status, seconds and processor seconds go to the log folder.
run_one() {
    local name=${1%%$'\t'*} command=${1#*$'\t'} id status TIMEFORMAT='%0R %U %S'
    id=$NB_TEST_LOG/${name//\//.}
    export TMPDIR=$NB_TEST_LOG/tmp/${name//\//.}
    mkdir -p "$TMPDIR"
    { time "$NANOBRAGG_PYTHON" tests/support/limited.py "$NB_TEST_SECONDS" $command \
        </dev/null >"$id.out" 2>&1; } 2>"$id.time"
    status=$?
    awk -v OFS='\t' -v name="$name" -v status=$status '{ print name, status, $1, int($2 + $3 + .5) }' \
        "$id.time" >"$id.done"
}
export -f run_one

# Results of one log as lines "pass|fail|skip<tab>name<tab>reason"; a plan (1..N) must be kept.
results_of() {
    awk -v test="$2" -v status="$3" '
        function out(kind, name, reason) { print kind "\t" name "\t" reason; n[kind]++ }
        function name_of(s) { sub(/^(not )?ok /, "", s); sub(/^[0-9]+ (- )?/, "", s)
                              sub(/ *# *([Ss][Kk][Ii][Pp]).*/, "", s); return s }
        /^1\.\.[0-9]+/ { plan += substr($0, 4); planned = 1; next }
        /^(not )?ok [0-9]+ # SKIP / { s = $0; sub(/.*# SKIP /, "", s); tap++
            out("skip", s, note == "" ? "no reason given" : note); note = ""; next }
        /^ok .*# *[Ss][Kk][Ii][Pp]/ { s = $0; sub(/.*# *[Ss][Kk][Ii][Pp] */, "", s); tap++
            out("skip", name_of($0), s); note = ""; next }
        /^skip / { s = substr($0, 6); r = s; if (!sub(/^[^#]*# */, "", r)) r = "no reason given"
            sub(/ *#.*/, "", s); out("skip", s, r); note = ""; next }
        /^ok / { if ($0 ~ /^ok [0-9]+/) tap++; out("pass", name_of($0)); note = ""; next }
        /^not ok / { if ($0 ~ /^not ok [0-9]+/) tap++; out("fail", name_of($0), note); note = ""; next }
        /^# / { note = substr($0, 3); sub(/^skipped: */, "", note) }
        /[^ ]/ { last = $0 }
        END {
            if (planned && tap != plan) out("fail", test, "planned " plan ", ran " tap + 0)
            else if (status != 0 && !n["fail"]) out("fail", test, "exit status " status (last == "" ? "" : ": " last))
            else if (n["pass"] + n["fail"] + n["skip"] == 0) out("fail", test, "ran no test")
        }' "$1"
}

for room in $rooms; do list_room "$room"; done >"$log/list"
tr '\n' '\0' <"$log/list" | xargs -0 -r -P "${NB_TEST_JOBS:-2}" -I {} bash -c 'run_one "$1"' _ {}

passed=0 failed=0 skipped=0 total=0
: >"$log/results"
while IFS=$'\t' read -r name _; do
    id=$log/${name//\//.}
    IFS=$'\t' read -r _ status seconds busy <"$id.done"
    results_of "$id.out" "$name" "$status" >"$id.results"
    p=$(grep -c '^pass' "$id.results")
    f=$(grep -c '^fail' "$id.results")
    s=$(grep -c '^skip' "$id.results")
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    word=ok
    [ "$f" -eq 0 ] || word=FAILED
    printf '%-8s %-36s %4d passed %3d failed %3d skipped  %3d s, processor %3d s\n' \
        "$word" "$name" "$p" "$f" "$s" "$seconds" "$busy"
    total=$((total + busy))
    sed "s|^|${name%%/*}\t|" "$id.results" >>"$log/results"
    if [ "$f" -gt 0 ]; then
        awk -F '\t' '$1 == "fail" { print "    failed: " $2 ($3 == "" ? "" : " (" $3 ")") }' \
            "$id.results"
        echo "    ---- output of $name, exit status $status ----"
        grep -vE '^(ok|skip) ' "$id.out" | sed 's/^/    /'
        echo "    ---- end of $name ----"
    fi
    awk -F '\t' '$1 == "skip" { print "    skipped: " $2 " (" $3 ")" }' "$id.results"
done <"$log/list"

for room in $required; do
    if ! grep -qE "^$room	(pass|fail)" "$log/results"; then
        echo "FAILED   required suite $room ran 0 tests"
        failed=$((failed + 1))
    fi
done
rm -rf "$log/tmp"
echo "tests: $SECONDS s, processor $total s"
echo "$passed passed, $failed failed, $skipped skipped" | tee "$log/count"
[ "$failed" -eq 0 ]
