#!/bin/sh
# SPDX-License-Identifier: MIT
# Install the Debian or Ubuntu packages of the named groups, if any is missing.
# usage: packages.sh [--list] [build] [test] [lint] [torch] [docs] [deb] [release]     (--list: print them as build-depends of Debian)
set -eu

build="gcc g++ libc6-dev make pkg-config libtiff-dev libpng-dev libcjson-dev librandom123-dev \
    libhdf5-dev libfftw3-dev tao-pegtl-dev libgemmi-dev|gemmi-dev libxrl-dev libdeflate-dev \
    zlib1g-dev libbz2-dev liblz4-dev libmpich-dev python3-dev python3-numpy"
test="libcmocka-dev groff-base python3 python3-pytest python3-scipy \
    python3-fabio python3-h5py \
    bitshuffle mpich chromium|chromium-headless-shell fonts-dejavu-core"
lint="clang libomp-dev clang-format cppcheck valgrind git python3-yaml"
torch="python3-torch|python3-torch-cuda" # half a gigabyte; without it tests of PyTorch are skipped
docs="python3-sphinx python3-myst-parser furo python3-dev python3-numpy" # for make site

deb="debhelper dh-python"                           # for make deb
release="lintian cmake python3-venv python3-pip"    # for mk/release.sh, with `build` and `deb`

list=0
[ "${1:-}" != --list ] || { list=1 && shift; }
wanted=
for group; do
    case $group in
    build) wanted="$wanted $build" ;;
    test) wanted="$wanted $test" ;;
    lint) wanted="$wanted $lint" ;;
    torch) wanted="$wanted $torch" ;;
    docs) wanted="$wanted $docs" ;;
    deb) wanted="$wanted $deb" ;;
    release) wanted="$wanted $release" ;;
    *) echo "packages.sh: no group $group" >&2 && exit 2 ;;
    esac
done

if [ $list = 1 ]; then # leave out packages that every build of Debian has
    # shellcheck disable=SC2086
    printf '%s\n' $wanted | grep -vxE 'gcc|g\+\+|libc6-dev|make' | sed 's/|/ | /g' | paste -s -d, | sed 's/,/, /g'
    exit 0
fi

native=$(dpkg --print-architecture)
# installed A|B: true if one of these packages is installed.
installed() {
    for name in $(echo "$1" | tr '|' ' '); do
        # for this machine's architecture: that of another one may be installed, too
        ! dpkg-query -W -f '${db:Status-Status} ${Architecture}\n' "$name" 2>/dev/null |
            grep -qxE "installed (all|$native)" || return 0
    done
    return 1
}

missing=
for package in $wanted; do
    installed "$package" || missing="$missing $package"
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
echo "Installing (a minute or two):$missing"
$root DEBIAN_FRONTEND=noninteractive apt-get update -q </dev/null ||
    echo "packages.sh: apt-get update failed; trying with the lists at hand" >&2
# known A|B: prints the first of these packages that the distribution has.
known() {
    for name in $(echo "$1" | tr '|' ' '); do
        ! apt-cache show "$name" 2>/dev/null | grep -q '^Package:' || { echo "$name" && return; }
    done
    echo "packages.sh: this distribution has no $1; its part will be off" >&2
}
packages=
for package in $missing; do
    case $package in
    *'|'*) package=$(known "$package") ;;
    esac
    packages="$packages $package"
done
$root DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
    $packages </dev/null
