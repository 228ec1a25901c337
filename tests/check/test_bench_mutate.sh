#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A wrong kernel makes `nanobragg bench` fail with the correlation that it measured, and
# no report is left: the vector kernel is broken on purpose and linked into the Python
# module. tests/run.sh sets NB_BUILD and NB_SOURCE; by hand:
# NB_BUILD=build/gcc-release bash tests/check/test_bench_mutate.sh
set -u
cd "${NB_SOURCE:-$(dirname "$0")/../..}" || exit 1
build=$(cd "${NB_BUILD:?}" && pwd) cc=${CC:-gcc}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

if [ -n "${NB_REDUCED:-}" ]; then
    echo "skip bench-mutations # a reduced run"
    exit 0
fi
if [ "$(uname -m)" != x86_64 ]; then
    echo "skip bench-mutations # written for x86-64"
    exit 0
fi
if [ ! -e "$build/python/nanobragg/_nanobragg.abi3.so" ]; then
    echo "skip bench-mutations # the Python package is not built"
    exit 0
fi

failed=0
cp -r "$build/nanobragg" "$build/python" "$work"
# The objects of the module; other objects in the build folder come from deleted sources.
objects() { find src/python -name '*.c' ! -name 'older_*' | sed "s|^|$build/|; s|c\$|o|"; }
"${PYTHON:-python3}" tests/check/mutants.py kernel . "$work/tree" || exit 1
# link NUMBER: makes the package next to $work/nanobragg
link() {
    rm -f "$work/python/nanobragg/_nanobragg.abi3.so"
    "$cc" -std=gnu11 -O1 -fPIC -ffp-contract=off -fno-math-errno -msse2 \
        -include "$work/tree/chosen.h" "-DNB_MUTATE=$1" -c "$work/tree/src/render/kernel_sse2.c" -o "$work/kernel.o" &&
        "$cc" -shared -fopenmp -Wl,--version-script=src/python/exports.map -Wl,-z,nodelete $(objects) "$work/kernel.o" \
            "$build/libnanobragg.a" $(cat "$build/libs") -o "$work/python/nanobragg/_nanobragg.abi3.so"
}

# bench NAME: runs the benchmark; prints its exit status
bench() {
    (cd "$work" && rm -rf report && prlimit --cpu=120:130 ./nanobragg bench -quick -at 49 \
        -sweeps precision -isas sse2 -precisions mixed -devices cpu -o report) \
        >"$work/out" 2>"$work/err"
    echo $?
}

link 0 >"$work/log" 2>&1
status=$(bench)
if [ "$status" -eq 0 ] && [ -s "$work/report/results.json" ]; then
    echo "ok bench-unbroken-kernel"
else
    echo "not ok bench-unbroken-kernel # status $status"
    cat "$work/log" "$work/err" | sed 's/^/# /' | head -n 10
    failed=1
fi

# wrong NAME: tests a mutant of the kernel
wrong() {
    local name status
    name=bench-wrong-$(tr A-Z_ a-z- <<<"$1")
    if ! link "NB_MUTANT_$1" >"$work/log" 2>&1; then
        echo "not ok $name # it could not be built"
        sed 's/^/# /' "$work/log" | head -n 10
        failed=1
        return
    fi
    status=$(bench)
    if [ "$status" -eq 3 ] && [ ! -e "$work/report" ] && [ ! -s "$work/out" ] &&
        grep -q 'wrong image, no time is reported: .*: correlation [0-9.n-]' "$work/err"; then
        echo "ok $name"
    else
        echo "not ok $name # status $status: $(cat "$work/out" "$work/err")"
        failed=1
    fi
}

for mutant in POLYNOMIAL_COEFFICIENT ${NB_BIG:+LAST_COLUMN_SKIPPED SUM_COUNTED_TWICE}; do
    wrong $mutant
done
exit $failed
