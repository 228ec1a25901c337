#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A series has the same bytes if one GPU, all GPUs of the host, or processes of mpirun
# with a GPU each make its frames; on a CPU, one process or several. Tested for HDF5 data
# files and numbered files.
# usage: bash tests/golden/series_shared.sh PROGRAM [FRAMES [FRAMES_OF_1024]]
# Lines `ok NAME`, `not ok NAME ...`, `skip NAME # reason`; exit status 1 when one fails.
set -u
[ $# -ge 1 ] || { grep '^# usage' "$0" && exit 2; }
program=$(realpath "$1") || exit 2
small=${2:-60} large=${3:-24} failed=0
work=$(mktemp -d "${SCRATCH:-${TMPDIR:-/tmp}}/nb-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
masters=$(realpath "$(dirname "$0")/../support/master.py")
cd "$work" || exit 2
gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')
kind=mpich
! "$program" -version | grep -q '^ *MPI .*Open MPI' || kind=openmpi
mpirun=$(command -v "mpirun.$kind" || command -v mpirun || command -v mpiexec)
# let Open MPI run as root, with more processes than cores
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1

simple='-cell 100 100 100 90 90 90 -default_F 100 -N 5 -lambda 6.2 -distance 100 -oversample 1 -fluence 1e30'
heavy='-cell 70 80 90 75 85 95 -default_F 100 -N 20 -distance 100 -oversample 1 -mosaic 0.5
    -mosaic_domains 50 -dispersion 1 -dispsteps 4 -fluence 1e30'

# Write a series to a folder: series FOLDER PROCESSES WORDS...
# PROCESSES: number for mpirun, or 0 without mpirun.
series() {
    local folder=$1 processes=$2
    shift 2
    mkdir "$folder"
    if [ "$processes" -gt 0 ]; then
        set -- "$mpirun" -n "$processes" "$program" "$@"
    else
        set -- "$program" "$@"
    fi
    (cd "$folder" && "$@" -quiet -seed 5 -osc 0.1 -phisteps 1 -phi 0 </dev/null) >"$folder.log" 2>&1
}

# Print the files of folder $1 that differ from those of the first run (folder one), and
# differences of the master, except in the command line.
differences() {
    local file name
    [ "$(ls one)" = "$(ls "$1")" ] || echo "other files"
    for file in one/*; do
        name=${file#one/}
        [ "$name" = f_master.h5 ] || cmp -s "$file" "$1/$name" || echo "$name"
    done
    [ ! -e one/f_master.h5 ] || python3 "$masters" one/f_master.h5 "$1/f_master.h5" 2>&1
}

# Print the flags that write files of a kind: files KIND FRAMES.
files() {
    local each=$((($2 + 3) / 4)) # two data files for each of two processes
    case $1 in
        uint16) echo "-hdf5 f_master.h5 -compress bslz4 -frames_per_file $each" ;;
        float32) echo "-hdf5 f_master.h5 -hdf5type float32 -frames_per_file $each" ;;
        both) echo "-hdf5 f_master.h5 -frames_per_file $each -output f_%03d.cbf" ;;
        *) echo "-output f_%03d.$1" ;;
    esac
}

# Make a series in several ways, and compare each with the first way:
# ways NAME FLAGS -- "PROCESSES DEVICE"...
ways() {
    local name=$1 flags=() way bad
    shift
    while [ "$1" != -- ]; do
        flags+=("$1")
        shift
    done
    shift
    # shellcheck disable=SC2086
    series one ${1% *} "${flags[@]}" -device "${1#* }" || {
        echo "not ok series-shared/$name, $1: $(tail -n 1 one.log)"
        failed=1
    }
    # frames must exist and differ, or the comparison would show nothing
    if cmp -s "$(find one -name 'f_*' ! -name f_master.h5 | sort | head -n 1)" \
        "$(find one -name 'f_*' ! -name f_master.h5 | sort | sed -n 2p)"; then
        echo "not ok series-shared/$name: two files are equal, or there are none"
        failed=1
    fi
    for way in "${@:2}"; do
        bad=
        series other "${way% *}" "${flags[@]}" -device "${way#* }" || bad=$(tail -n 1 other.log)
        bad=${bad:-$(differences other)}
        if [ -z "$bad" ]; then
            echo "ok series-shared/$name: $way as $1"
        else
            echo "not ok series-shared/$name: $way as $1: ${bad//$'\n'/ }"
            failed=1
        fi
        rm -rf other
    done
    rm -rf one
}

# Test a scene with each kind of file: scene NAME FRAMES FLAGS -- WAYS
scene() {
    local name=$1 frames=$2 kind
    shift 2
    for kind in uint16 float32 cbf img both; do
        # shellcheck disable=SC2046
        ways "$name/$kind" $(files $kind "$frames") -frames "$frames" "$@"
    done
}

cpu=()
if [ -n "$mpirun" ]; then
    cpu=("2 cpu" "3 cpu")
else
    echo "skip series-shared/mpirun # no mpirun here"
fi
# shellcheck disable=SC2086
if [ ${#cpu[@]} -gt 0 ]; then
    scene cpu-simple-256 "$small" $simple -detpixels 256 -- "0 cpu" "${cpu[@]}"
    scene cpu-heavy-128 "$small" $heavy -detpixels 128 -- "0 cpu" "${cpu[0]}"
fi
if [ "$gpus" -lt 2 ]; then
    echo "skip series-shared/cuda # $gpus GPUs here, two are needed"
    exit $failed
fi
cuda=("0 cuda:all")
[ -z "$mpirun" ] || cuda+=("2 cuda:all" "2 cuda")
# shellcheck disable=SC2086
{
    scene simple-256 "$small" $simple -detpixels 256 -- "0 cuda:0" "${cuda[@]}"
    scene heavy-256 "$small" $heavy -detpixels 256 -- "0 cuda:0" "${cuda[@]}"
    scene simple-1024 "$large" $simple -detpixels 1024 -- "0 cuda:0" "${cuda[@]}"
    scene heavy-1024 "$large" $heavy -detpixels 1024 -- "0 cuda:0" "${cuda[@]}"
    # in double precision a GPU makes the same noise as a CPU
    [ -z "$mpirun" ] || ways cpu-and-cuda-256/cbf $heavy -detpixels 256 -precision double \
        -frames "$small" -output 'f_%03d.cbf' -- "2 cpu" "2 cuda:all" "0 cuda:all"
}
exit $failed
