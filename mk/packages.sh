#!/bin/sh
# SPDX-License-Identifier: MIT
# Install the Debian or Ubuntu packages of the named groups, if any is missing.
# usage: packages.sh [build] [test] [lint]
set -eu

build="gcc libc6-dev make pkg-config libtiff-dev libpng-dev libcjson-dev librandom123-dev \
    libhdf5-dev libfftw3-dev libxrl-dev libdeflate-dev zlib1g-dev liblz4-dev libmpich-dev"
test="libcmocka-dev groff-base python3 python3-dev python3-pytest python3-numpy python3-scipy \
    python3-fabio python3-h5py \
    bitshuffle mpich gnuplot-nox"
lint="clang libomp-dev clang-format cppcheck valgrind g++ git"

wanted=
for group; do
    case $group in
    build) wanted="$wanted $build" ;;
    test) wanted="$wanted $test" ;;
    lint) wanted="$wanted $lint" ;;
    *) echo "packages.sh: no group $group" >&2 && exit 2 ;;
    esac
done

missing=
for package in $wanted; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -eq 0 ]; then
    root="env"
elif command -v sudo >/dev/null 2>&1; then
    root="sudo"
else
    echo "packages.sh: not root and no sudo; install these first:$missing" >&2
    exit 1
fi
echo "Installing:$missing"
$root DEBIAN_FRONTEND=noninteractive apt-get update -q </dev/null ||
    echo "packages.sh: apt-get update failed; trying with the lists at hand" >&2
$root DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
    $missing </dev/null
