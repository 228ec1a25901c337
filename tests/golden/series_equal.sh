#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Frame k of a series has the same bytes as the single image of its flags on one device:
# float, noise, mini-CBF; any number of threads. Several ROUNDS, because races are rare.
# usage: bash tests/golden/series_equal.sh PROGRAM DEVICE [ROUNDS]
# Lines `ok NAME` and `not ok NAME ...`; exit status 1 when one fails.
set -u
[ $# -ge 2 ] || { grep '^# usage' "$0" && exit 2; }
program=$(realpath "$1") || exit 2
device=$2 rounds=${3:-3} frames=6 failed=0
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2

# Every allocated byte is 0xfe, so that memory that was not written shows.
export MALLOC_PERTURB_=1
simple='-cell 100 100 100 90 90 90 -default_F 100 -N 5 -lambda 6.2 -distance 100 -oversample 1'
heavy='-cell 70 80 90 75 85 95 -default_F 100 -N 20 -distance 100 -oversample 1 -mosaic 0.5 -mosaic_domains 50'

series() {
    "$program" "$@" -device "$device" -quiet -seed 5 -osc 0.1 -phisteps 1 -phi 0 -frames $frames
}

# Test one scene: scene NAME FLAGS...
scene() {
    local name=$1 k round threads kind bad seed
    shift
    series "$@" -output 'seed_%d.img' || {
        echo "not ok series-equal/$name: a series failed"
        failed=1
        return
    }
    for k in $(seq $frames); do
        seed=$(head -c 4096 "seed_$k.img" | sed -n 's/^NANOBRAGG_SEED=\(.*\);$/\1/p')
        "$program" "$@" -device "$device" -quiet -seed "$seed" -osc 0.1 -phisteps 1 \
            -phi "$(awk -v k="$k" 'BEGIN { printf "%.12g", (k - 1) * 0.1 }')" -noint -nopgm \
            -floatfile "one_$k.bin" -noisefile "one_$k.img" || {
            echo "not ok series-equal/$name: a single image failed"
            failed=1
            return
        }
    done
    for threads in 1 2 16; do
        for kind in bin img cbf; do
            bad=
            for round in $(seq "$rounds"); do
                rm -f f_*
                series "$@" -threads $threads -output "f_%d.$kind" || bad="$bad exit-status"
                for k in $(seq $frames); do
                    if [ $kind = cbf ]; then # the program writes no CBF of a single image, so compare with round 1
                        [ -f "one_$k.cbf" ] || cp "f_$k.cbf" "one_$k.cbf"
                    fi
                    # compare header and pixels; the header of an SMV file does not
                    # contain the name of the file
                    cmp -s "one_$k.$kind" "f_$k.$kind" || bad="$bad $round:$k"
                done
            done
            if [ -z "$bad" ]; then
                echo "ok series-equal/$name/$kind, $threads threads"
            else
                echo "not ok series-equal/$name/$kind, $threads threads: round:frame$bad"
                failed=1
            fi
        done
    done
    rm -f one_* seed_*
}

for n in 256 1024; do
    # shellcheck disable=SC2086
    scene "simple-$n" $simple -detpixels $n
done
# shellcheck disable=SC2086
scene heavy-256 $heavy -detpixels 256
exit $failed
