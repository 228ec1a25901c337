#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The check program fails if the vector kernel is broken on purpose, one mutant at a time
# (tests/check/mutants.tsv).  NB_BIG=1: every mutant; else every third.  tests/run.sh sets NB_BUILD (the build folder, with the check
# program's objects) and NB_SOURCE; by hand:
# NB_BUILD=build/gcc-release bash tests/check/test_mutate.sh
set -u
cd "${NB_SOURCE:-$(dirname "$0")/../..}" || exit 1
build=${NB_BUILD:?} cc=${CC:-gcc} python=${PYTHON:-python3}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

if [ -n "${NB_REDUCED:-}" ]; then
    echo "skip mutations # a reduced run"
    exit 0
fi
case $(uname -m) in
x86_64) ;;
*) echo "skip mutations # written for x86-64" && exit 0 ;;
esac
if grep -qw avx512dq /proc/cpuinfo; then
    isa=avx512 flags="-mavx512f -mavx512dq -mavx512bw -mavx512vl -mprefer-vector-width=512"
elif grep -qw avx2 /proc/cpuinfo; then
    isa=avx2 flags="-mavx2 -mfma"
else
    isa=sse2 flags="-msse2"
fi

objects="$build/tests/support/scenes.o $build/tests/support/picture.o"
for name in check common cases cruel print_case; do
    objects="$objects $build/tests/check/$name.o"
done

# compile SET FILE OBJECT: compiles with every mutant inside; choose() picks one
compile() {
    [ -d "$work/$1" ] || "$python" tests/check/mutants.py "$1" . "$work/$1" || return 1
    "$cc" -std=gnu11 -O1 -ffp-contract=off -fno-math-errno $flags -include "$work/$1/chosen.h" \
        -I"$work/$1/src" -c "$work/$1/$2" -o "$3"
}

# choose SET NAME: makes $work/chosen.o for this mutant; NONE: no mutant
choose() {
    local number=0
    [ "$2" = NONE ] || number=NB_MUTANT_$2
    printf '#include "%s/chosen.h"\nconst int nb_chosen_mutant = %s;\n' "$work/$1" "$number" >"$work/chosen.c" &&
        "$cc" -c "$work/chosen.c" -o "$work/chosen.o"
}

# link NAME: links the check program with this mutant of the kernel
link() {
    choose kernel "$1" && "$cc" -fopenmp $objects "$work/kernel.o" "$work/chosen.o" \
        "$build/libnanobragg.a" $(cat "$build/libs") -o "$work/check"
}

failed=0
# mutate NAME: tests a mutant of the kernel
mutate() {
    local name status
    name=$(tr A-Z_ a-z- <<<"$1")
    if ! link "$1" >"$work/log" 2>&1; then
        echo "not ok mutation-$name # does not link"
        sed 's/^/# /' "$work/log" | head -n 10
        failed=1
        return
    fi
    prlimit --cpu=120:130 "$work/check" --isa $isa --count 30 >"$work/out" 2>&1
    status=$?
    if [ $status -ne 0 ] && [ $status -ne 2 ] && [ $status -ne 152 ]; then
        echo "ok mutation-$name"
    else
        echo "not ok mutation-$name # the check passed (status $status)"
        failed=1
    fi
}

# bounds NAME: runs the unit test of the bounds of blocks with broken bounds
bounds() {
    local name status
    name=bounds-$(tr A-Z_ a-z- <<<"$1")
    choose bounds "$1" && "$cc" -fopenmp "$work/tiles.o" "$work/chosen.o" "$build/tests/support/picture.o" \
        "$build/tests/support/scenes.o" "$build/tests/unit/unit.o" "$build/libnanobragg.a" $(cat "$build/libs") -lcmocka -o "$work/tiles" ||
        { echo "not ok mutation-$name # does not link" && return 1; }
    "$work/tiles" >"$work/out" 2>&1
    status=$?
    case $1-$status in
    NONE-0 | [!N]*-[1-9]) echo "ok mutation-$name" ;;
    *) echo "not ok mutation-$name # status $status" && return 1 ;;
    esac
}

compile kernel "src/render/kernel_$isa.c" "$work/kernel.o" || exit 1
if link NONE >"$work/log" 2>&1 && "$work/check" --isa $isa --count 30 >"$work/out" 2>&1; then
    echo "ok unbroken-kernel-passes"
else
    echo "not ok unbroken-kernel-passes"
    cat "$work/log" "$work/out" | grep -v '^ok' | sed 's/^/# /' | head -n 20
    exit 1
fi

some() { if [ -n "${NB_BIG:-}" ]; then cat; else sed -n '1~3p'; fi; }
for mutant in $("$python" tests/check/mutants.py kernel | some); do
    mutate "$mutant"
done
if [ -e "$build/tests/unit/unit" ]; then
    compile bounds tests/unit/test_tiles.c "$work/tiles.o" || failed=1
    for mutant in NONE $("$python" tests/check/mutants.py bounds | some); do
        bounds "$mutant" || failed=1
    done
fi
exit $failed
