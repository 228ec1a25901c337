#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The noise of every golden configuration (but -compat's, one serial stream): `mixed` on each
# instruction set against the scalar renderer in double precision, every pixel, once as bright as it
# is and once with 60000 photons in the brightest pixel.
# usage: bash tests/golden/test_noise.sh        (NANOBRAGG: the program; NB_SOURCE: the source)
# Lines `ok NAME`, `not ok NAME ...`, `skip NAME # reason`; exit status 1 when one fails.
set -u
. "$(dirname "$0")/noise_files.sh" || exit 2
program=$(realpath "${NANOBRAGG:?the program}") || exit 2
data=$(realpath "${NB_SOURCE:-.}/golden_data") || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
ln -s "$data"/*.hkl "$data"/*.mat "$data"/*.txt . 2>/dev/null

# Noise of a case's flags to FILE: noise FILE FLAGS...
noise() {
    local file=$1
    shift
    "$program" -device cpu -seed 7 "$@" -noisefile "$file" -nofloat -noint -nopgm -quiet >log 2>&1
}

if ! noise probe.img -cell 50 -N 2 -default_F 1 -detpixels 8; then
    echo "skip golden-noise # $(grep -m 1 -i error log)"
    exit 0
fi

sets=
for isa in sse2 avx2 avx512 neon; do
    if noise probe.img -cell 50 -N 2 -default_F 1 -detpixels 8 -isa $isa; then
        sets="$sets $isa"
    else
        echo "skip golden-noise/$isa # not on this processor or in this build"
    fi
done

declare -A wrong=() pixels=()
broken=0 seen=0
while IFS=$'\t' read -r id fast slow _ max _ _ flags; do
    [ "$id" != id ] && [[ $flags != *-compat* ]] || continue
    n=$((fast * slow))
    for kind in own bright; do
        more=
        [ $kind = own ] || more=$(bright "$max" "$flags")
        [ $kind = own ] || [ "$more" ] || continue
        # shellcheck disable=SC2086
        if ! noise want.img $flags $more -isa scalar -precision double; then
            echo "# $id: $(grep -m 1 -i error log)"
            broken=$((broken + 1))
            continue
        fi
        for isa in $sets; do
            # shellcheck disable=SC2086
            noise got.img $flags $more -isa "$isa" || broken=$((broken + 1))
            d=$(differ got.img want.img $n)
            [ "$d" = 0 ] || echo "# $id, $kind, $isa: $d of $n pixels"
            wrong[$isa/$kind]=$((${wrong[$isa/$kind]:-0} + d))
            pixels[$isa/$kind]=$((${pixels[$isa/$kind]:-0} + n))
            rm -f got.img
        done
        # another seed: were its noise equal too, this test would see nothing
        # shellcheck disable=SC2086
        [ $kind = own ] || [ $n -gt 70000 ] || {
            noise got.img $flags $more -seed 4242
            seen=$((seen + $(differ got.img want.img $n)))
        }
    done
done <"$data/cases.tsv"

failed=0
for name in "${!pixels[@]}"; do
    word=ok
    [ "${wrong[$name]}" -eq 0 ] && [ "${pixels[$name]}" -gt 1000000 ] || word='not ok' failed=1
    echo "$word golden-noise/$name: ${wrong[$name]} of ${pixels[$name]} pixels differ"
done
[ $broken -eq 0 ] || echo "not ok golden-noise/runs: $broken failed"
[ $seen -gt 0 ] || echo "not ok golden-noise/sensitive: another seed gives the same noise"
[ $failed -eq 0 ] && [ $broken -eq 0 ] && [ $seen -gt 0 ] && [ -n "$sets" ]
