#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every header compiles alone as C11, public headers and src/physics also as C++17, and
# src/physics also as CUDA C++ if nvcc is installed.
set -u
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
warn="-Wall -Wextra -Wpedantic -Werror"
failed=0

alone() {
    local how=$1 header=$2
    shift 2
    if ! "$@" >"$work/log" 2>&1; then
        echo "    $header does not compile alone as $how:"
        sed 's/^/        /' "$work/log" | head -n 20
        failed=1
    fi
}

# Headers that use CUDA's types, or include such a header, are compiled as CUDA C++ only.
device=$(grep -lsE '"([^"]*/)?vendor\.h"' cuda/*/*.h)
for _ in 1 2 3; do
    for header in $device; do
        device=$(printf '%s\n' $device $(grep -lsE "\"([^\"]*/)?${header##*/}\"" cuda/*/*.h) | sort -u)
    done
done

for header in $(find src cuda tests -name '*.h' ! -path 'src/python/*' | sort); do
    case " ${device//$'\n'/ } " in *" $header "*) continue ;; esac
    case $header in *_rows.h) continue ;; esac # a list of macro calls; the including file defines the macros
    printf '#include "%s"\ntypedef int nb_alone;\n' "$header" >"$work/one.c"
    flags=${NB_CFLAGS:-} cc=${CC:-gcc} # a header named after an instruction set is compiled for it
    case $header in
    *_sse2.h) flags=-msse2 ;;
    *_avx2.h) flags='-mavx2 -mfma' ;;
    *_avx512.h) flags='-mavx512f -mavx512dq -mavx512bw' ;;
    *_neon.h) flags='' cc=${NEON_CC:-aarch64-linux-gnu-gcc} ;;
    esac
    if ! command -v ${cc##* } >/dev/null; then
        echo "    skip $header # no $cc"
        continue
    fi
    case $header in
    tests/*) dialect=gnu11 ;; # headers of tests need the headers that come before cmocka's
    *) dialect=c11 ;;
    esac
    alone C11 "$header" $cc -std=$dialect -D_DEFAULT_SOURCE $warn \
        -fsyntax-only -I. -Isrc $flags "$work/one.c"
done
if command -v "${CXX:-g++}" >/dev/null; then
    for header in src/nanobragg.h src/nanobragg/*.h src/physics/*.h; do
        printf '#include "%s"\n' "$header" >"$work/one.cc"
        alone C++17 "$header" "${CXX:-g++}" -std=c++17 $warn -fsyntax-only -I. "$work/one.cc"
    done
else
    echo "    no C++ compiler: headers not tried as C++"
fi
if [ -n "${NVCC:-}" ]; then
    for header in src/physics/*.h; do
        printf '#include "%s"\n' "$header"
    done >"$work/all.cu"
    alone "CUDA C++ (all of src/physics)" src/physics "$NVCC" -std=c++17 -DNB_GPU=1 -cuda -I. \
        -o "$work/all.ii" "$work/all.cu"
    for header in $device; do
        printf '#include "%s"\n' "$header" >"$work/one.cu"
        alone "CUDA C++" "$header" "$NVCC" -std=c++17 -DNB_GPU=1 -cuda -I. -o "$work/one.ii" "$work/one.cu"
    done
fi
exit $failed
