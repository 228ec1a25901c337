#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goals of the makefile that compile nothing leave the stamps (files that hold the flags
# of a build) unchanged; nvcc gets the right architectures. Nothing is compiled here.
set -u
source=${NB_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
unset MAKEFLAGS MFLAGS MAKELEVEL SET CFLAGS CXXFLAGS CUDA_ARCH CC CXX FLAVOR CUDA
command -v make >/dev/null || { echo 'skip make # no make' && exit 0; }
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
ln -s "$source"/{Makefile,mk,cuda,src,tests,golden_data,docs} . || exit 1
failed=0
judge() { # NAME WRONG: ok if the text WRONG is empty
    [ -z "$2" ] && echo "ok $1" && return
    echo "# $1: $2"
    echo "not ok $1"
    failed=1
}

stamps=$(echo build/gcc-release/{flags,cxx-flags,cuda-flags,objects,libs})
make -s $stamps >make.log 2>&1 || judge make-stamps "$(tail -n 3 make.log)"
touch -d '1 hour ago' $stamps
for goal in list help; do
    make CFLAGS=-O1 $goal >/dev/null 2>&1
done
make clean -n >/dev/null
CLANG_FORMAT=true make -s format >/dev/null 2>&1
judge make-list-leaves-stamps "$(find $stamps -mmin -30)$(make -q $stamps 2>&1 || echo 'to be made again')"
make -q CFLAGS=-O1 build/gcc-release/flags && judge make-knows-other-flags 'other flags are the same'

said=$(PKG_CONFIG_LIBDIR=/nonexistent make -s config 2>&1) && judge make-needs-libraries 'no error'
judge make-names-packages "$(grep -q 'Debian packages libpng-dev libcjson-dev zlib1g-dev libtiff-dev libhdf5-dev libfftw3-dev libdeflate-dev liblz4-dev' <<<"$said" || echo "$said")"
make -s OPTIONAL=0 config | grep -E 'XRAYLIB +no' >/dev/null || judge make-optional 'xraylib is there'

# arches WANTED ARGS...: `make ARGS config` must name the GPU architectures WANTED on a
# machine whose cards have the compute capabilities $cards
mkdir bin && cat >bin/nvcc <<'CODE'
#!/bin/sh
[ "$1" = --list-gpu-arch ] && exec printf 'compute_%s\n' 75 80 86 89 90 100 103 120
echo 'release 13.0,'
CODE
printf '#!/bin/sh\n[ -n "$cards" ] && printf "%%s\\n" $cards\n' >bin/nvidia-smi
chmod +x bin/*
arches() {
    local wanted=$1 found
    shift
    found=$(PATH=$work/bin:$PATH cards=${cards-} make -s OPTIONAL=0 "$@" config | grep -o '13.0,[0-9 ;PTXfor]*')
    judge "make-arches-$(echo "${cards-}:$*" | tr -c 'a-z0-9.A-Z_=\n' -)" \
        "$([ "$found" = "13.0, $wanted" ] || echo "$found instead of $wanted")"
}
arches 'PTX 80'
arches 'for 80 90; PTX 90' 'CUDA_ARCH=80 90'
arches 'for 75' CUDA_ARCH=75
arches 'for 75 80 86 89 90 100 120; PTX 120' CUDA_ARCH=all
arches 'for 75 80 86 89 90 100 120; PTX 120' -n wheel
cards='9.0 8.6 9.0' arches 'for 86 90; PTX 90'
cards='15.1' arches 'for 120; PTX 120'
cards='6.1' arches 'PTX 80'
exit $failed
