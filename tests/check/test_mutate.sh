#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Break the vector kernel on purpose, one way at a time, and see the check program fail.
# NB_BUILD (the build folder, with the check program's objects) and NB_SOURCE come from
# tests/run.sh; by hand: NB_BUILD=build/gcc-release bash tests/check/test_mutate.sh
set -u
cd "${NB_SOURCE:-$(dirname "$0")/../..}" || exit 1
build=${NB_BUILD:?} cc=${CC:-gcc}
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

objects=
for name in check common bench cases cruel print_case; do
    objects="$objects $build/tests/check/$name.o"
done

# compile the kernel of $work/src and link the check program with it instead of the library's
link() {
    "$cc" -std=gnu11 -O1 -ffp-contract=off -fno-math-errno $flags \
        -c "$work/src/render/kernel_$isa.c" -o "$work/kernel.o" &&
        "$cc" -fopenmp $objects "$work/kernel.o" "$build/libnanobragg.a" \
            $(cat "$build/libs") -o "$work/check"
}

fresh() {
    rm -rf "$work/src"
    mkdir -p "$work/src" && cp -r src/render src/physics src/base src/nanobragg src/nanobragg.h \
        "$work/src/"
}

failed=0
# mutate NAME FILE FROM TO: fixed strings; the change must be there to be made
mutate() {
    local name=$1 file=$work/src/render/$2 from=$3 to=$4 status
    fresh
    if ! grep -qF -- "$from" "$file"; then
        echo "not ok mutation-$name # $2 no longer holds: $from"
        failed=1
        return
    fi
    FROM=$from TO=$to awk '{ while ((at = index($0, ENVIRON["FROM"])) > 0 && !done[NR]++)
        $0 = substr($0, 1, at - 1) ENVIRON["TO"] substr($0, at + length(ENVIRON["FROM"])) } 1' \
        "$file" >"$work/changed" && mv "$work/changed" "$file"
    if ! link >"$work/log" 2>&1; then
        echo "not ok mutation-$name # does not compile"
        sed 's/^/# /' "$work/log" | head -n 10
        failed=1
        return
    fi
    timeout 120 "$work/check" --isa $isa --count 30 >"$work/out" 2>&1
    status=$?
    if [ $status -ne 0 ] && [ $status -ne 2 ] && [ $status -ne 124 ]; then
        echo "ok mutation-$name"
    else
        echo "not ok mutation-$name # the check passed (status $status)"
        failed=1
    fi
}

fresh
if link >"$work/log" 2>&1 && "$work/check" --isa $isa --count 30 >"$work/out" 2>&1; then
    echo "ok unbroken-kernel-passes"
else
    echo "not ok unbroken-kernel-passes"
    cat "$work/log" "$work/out" | grep -v '^ok' | sed 's/^/# /' | head -n 20
    exit 1
fi

mutate polynomial-coefficient kernel_fixed.h '-5.16771057357f' '-5.16781057357f'
mutate double-coefficient kernel_math.h '-0.59926452932034302' '-0.59936452932034302'
mutate shifted-index kernel_fixed.h 'start -= (uint32_t)(NB_FIXED_HIGH + t->low[axis])' \
    'start -= (uint32_t)(NB_FIXED_HIGH + 1 + t->low[axis])'
mutate clamped-too-early kernel_fixed.h 't->n[axis] - 1)' 't->n[axis] - 2)'
mutate last-column-skipped kernel_rays.h 'f0 + i < out->end' 'f0 + i < out->end - 1'
mutate fringe-sign kernel_fixed.h '(vf_from_int(fringe) + u)' '(vf_from_int(fringe) - u)'
mutate beam-sign kernel_fixed.h 'pair_scale_add(r->x, -k' 'pair_scale_add(r->x, k'
mutate no-guard-at-zero kernel_fixed.h '#define NB_TINY 9.094947017729282e-13f' '#define NB_TINY 0.0f'
mutate sum-counted-twice kernel_fixed.h '*run = vf_set(0.0f);' ''
mutate cubic-weight kernel_double.h '(t - 2.0) / 6.0' '(t - 2.0) / 6.01'
mutate layer-capture kernel_rays.h 'vd_exp(-(layer + 1) * depth)' 'vd_exp(-(layer + 1.001) * depth)'
mutate mean-depth kernel_rays.h 'inverse + (1.0 - 1.0 / stopped)' 'inverse + (0.9999 - 1.0 / stopped)'
mutate mean-depth-thin kernel_rays.h 'vd_set(0.5)), depth)' 'vd_set(0.49)), depth)'
mutate row-solid-angle kernel_simple.h 'factor = pair_mul(factor, inv_r);' ''
mutate row-background kernel_simple.h '(term + vf_set(row->background))' 'term'
mutate row-polarization kernel_simple.h 'sqrt(r.crystal)' 'r.crystal'
mutate factors-of-last-ray kernel_rows.h 'if (at + subf == 0)' 'if (subf == 0)'
exit $failed
