#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The reference planes fail if the derivatives are broken on purpose, one mutant at a time
# (tests/check/mutants.tsv).  NB_BIG=1: every mutant; else every fifth.
# tests/run.sh sets NB_BUILD (the build folder) and NB_SOURCE; by hand:
# NB_BUILD=build/gcc-release bash tests/check/test_derive_mutate.sh
set -u
cd "${NB_SOURCE:-$(dirname "$0")/../..}" || exit 1
build=${NB_BUILD:?} cc=${CC:-gcc} python=${PYTHON:-python3}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0 n=0
headers="src/physics/slopes.h src/physics/panel_pull.h src/render/pixel_sums.h src/render/ray_sums.h"

"$python" tests/check/mutants.py slopes . "$work/tree" || exit 1
# link NAME: links the program with this mutant in the files of src/derive and src/render;
# NONE: unchanged files
link() {
    local file objects=
    for file in src/derive/*.c src/render/scalar_sums.c; do
        (cd "$work/tree" && grep -q "NB_MUTANT($1," "$file" $headers) || continue
        grep -q "NB_MUTANT($1," "$work/tree/$file" || grep -q nb_pixel_exact "$file" || continue
        $cc -std=gnu11 -O1 -ffp-contract=off -fno-math-errno -fopenmp -include "$work/tree/chosen.h" \
            -DNB_MUTATE="NB_MUTANT_$1" -c "$work/tree/$file" -o "$work/$(basename "$file" .c).o" || return 1
        objects="$objects $work/$(basename "$file" .c).o"
    done
    [ -n "$objects" ] || [ "$1" = NONE ] || return 1
    $cc -fopenmp $(find src/cli -name '*.c' | sed "s|^|$build/|; s|c\$|o|") $objects \
        "$build/libnanobragg.a" $(cat "$build/libs") -lm -lpthread -ldl -o "$work/nanobragg"
}

# planes: succeeds if the reference planes hold
planes() {
    NANOBRAGG=$work/nanobragg NB_SOURCE=$PWD NB_DERIVE_MODES=scalar prlimit --cpu=120:130 \
        "$python" tests/golden/test_derivatives.py >"$work/out" 2>&1
}

if link NONE >"$work/log" 2>&1 && planes; then
    echo "ok unbroken-derivatives-pass"
else
    echo "not ok unbroken-derivatives-pass"
    cat "$work/log" "$work/out" | grep -v '^ok' | sed 's/^/# /' | head -n 20
    exit 1
fi
for mutant in $("$python" tests/check/mutants.py slopes); do
    n=$((n + 1))
    [ -n "${NB_BIG:-}" ] || [ $((n % 5)) -eq 0 ] || continue
    name=$(tr A-Z_ a-z- <<<"$mutant")
    if ! link "$mutant" >"$work/log" 2>&1; then
        echo "not ok mutation-$name # does not compile"
        sed 's/^/# /' "$work/log" | head -n 10
        failed=1
    elif planes; then
        echo "not ok mutation-$name # the planes passed"
        failed=1
    elif ! grep -q '^not ok' "$work/out"; then
        echo "not ok mutation-$name # no plane was compared"
        failed=1
    else
        echo "ok mutation-$name"
    fi
done
[ "$n" -gt 0 ] || failed=1
exit $failed
