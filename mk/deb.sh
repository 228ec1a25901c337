#!/bin/sh
# SPDX-License-Identifier: MIT
# Debian packages of what was built: nanobragg, libnanobragg1, libnanobragg-dev, python3-nanobragg.
# usage: mk/deb.sh BUILD-FOLDER VERSION OUTPUT-FOLDER     (make deb; needs dpkg-dev)
set -eu
build=$1 version=$2 out=$3
arch=$(dpkg --print-architecture)
multiarch=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
maintainer=${DEB_MAINTAINER:-nanobragg packagers <packagers@nanobragg.invalid>}
work=$build/deb
rm -rf "$work"
mkdir -p "$work/all" "$work/debian" "$out"
work=$(cd "$work" && pwd) out=$(cd "$out" && pwd)
printf 'Source: nanobragg\nMaintainer: %s\n\nPackage: any\nArchitecture: any\n' "$maintainer" \
    >"$work/debian/control" # dpkg-shlibdeps wants one
make --no-print-directory install DESTDIR="$work/all" PREFIX=/usr >/dev/null
sed -i "s|^libdir=.*|libdir=\${prefix}/lib/$multiarch|" "$work/all/usr/lib/pkgconfig/nanobragg.pc"

# take PACKAGE FOLDER FILE...: into the package
take() {
    mkdir -p "$work/$1/$2"
    folder=$work/$1/$2
    shift 2
    cp -a "$@" "$folder"
}
all=$work/all/usr
take nanobragg usr/bin "$all/bin/nanobragg"
take nanobragg usr/share/man/man1 "$all/share/man/man1/nanobragg.1"
gzip -9n "$work/nanobragg/usr/share/man/man1/nanobragg.1"
take nanobragg usr/share/bash-completion/completions "$all/share/bash-completion/completions/nanobragg"
take libnanobragg1 "usr/lib/$multiarch" "$all"/lib/libnanobragg.so.1
chmod 644 "$work/libnanobragg1/usr/lib/$multiarch/libnanobragg.so.1"
take libnanobragg-dev "usr/lib/$multiarch" "$all/lib/libnanobragg.so" "$all/lib/libnanobragg.a"
take libnanobragg-dev "usr/lib/$multiarch/pkgconfig" "$all/lib/pkgconfig/nanobragg.pc"
take libnanobragg-dev "usr/lib/$multiarch/cmake" "$all/lib/cmake/nanobragg"
take libnanobragg-dev usr/include "$all/include/nanobragg" "$all/include/nanobragg.h"
if [ -e "$build/python/nanobragg/_nanobragg.abi3.so" ]; then
    take python3-nanobragg usr/lib/python3/dist-packages "$build/python/nanobragg"
    take python3-nanobragg usr/lib/python3/dist-packages "$build/python/nanobragg_program.py"
    rm -rf "$work/python3-nanobragg/usr/lib/python3/dist-packages/nanobragg/__pycache__"
fi
[ ! -d "$work/python3-nanobragg" ] || find "$work/python3-nanobragg" -name '*.so' -exec strip --strip-unneeded {} +

# Packages of the libraries that are loaded when they are needed.
late=$(sed -nE 's/^(TIFF|PNG|HDF5|FFTW|XRAYLIB|CMINPACK|BZIP2)_SONAME := //p' "$build/config.mk" |
    while read -r soname; do
        file=$(/sbin/ldconfig -p | awk -v s="$soname" '$1 == s { print $NF; exit }')
        [ -z "$file" ] || dpkg -S "$(readlink -f "$file")" 2>/dev/null | cut -d: -f1
    done | sort -u | paste -s -d, | sed 's/,/, /g')

# linked FILE...: what dpkg-shlibdeps says
linked() {
    (cd "$work" && dpkg-shlibdeps --ignore-missing-info -O "$@" 2>/dev/null) | sed 's/^shlibs:Depends=//'
}

# control PACKAGE SECTION DEPENDS MORE-FIELDS DESCRIPTION
control() {
    root=$work/$1
    mkdir -p "$root/DEBIAN" "$root/usr/share/doc/$1"
    { echo 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/'
      printf '\nFiles: *\n'
      sed -n 's/^Copyright (c) /Copyright: /p' LICENSE
      echo 'License: Expat'
      sed -e '1,/^Permission/{/^Permission/!d}' -e 's/^$/./' -e 's/^/ /' LICENSE
      printf '\nFiles: golden_data/detectors/tables/*\n'
      sed -n 's/^Copyright (c) /Copyright: /p' golden_data/detectors/tables/NOTICE
      printf 'License: Expat\nComment: tables of water and air of the nanoBragg suite, compiled in\n'
    } >"$root/usr/share/doc/$1/copyright"
    printf 'nanobragg (%s) unstable; urgency=low\n\n  * See docs/changes.md of the source.\n\n -- %s  %s\n' \
        "$version" "$maintainer" "$(date -R)" | gzip -9n >"$root/usr/share/doc/$1/changelog.gz"
    { printf 'Package: %s\nSource: nanobragg\nVersion: %s\nArchitecture: %s\n' "$1" "$version" "$arch"
      printf 'Maintainer: %s\nSection: %s\nPriority: optional\n' "$maintainer" "$2"
      printf 'Installed-Size: %s\n' "$(du -sk --exclude=DEBIAN "$root" | cut -f1)"
      printf 'Depends: %s\n' "$3"
      [ -z "$4" ] || printf '%s\n' "$4"
      printf 'Description: %s\n' "$5"
      printf ' Images of X-ray diffraction by nanocrystals, in photons,\n with the noise of real detectors.\n'
    } >"$root/DEBIAN/control"
    if [ "$1" = libnanobragg1 ]; then
        echo "activate-noawait ldconfig" >"$root/DEBIAN/triggers"
        echo "libnanobragg 1 libnanobragg1 (>= $version)" >"$root/DEBIAN/shlibs"
    fi
    if [ "$1" = python3-nanobragg ]; then # byte code belongs to nobody else
        # shellcheck disable=SC2016
        printf '#!/bin/sh\nset -e\n[ "$1" != configure ] || py3compile -p %s\n' "$1" >"$root/DEBIAN/postinst"
        printf '#!/bin/sh\nset -e\npy3clean -p %s\n' "$1" >"$root/DEBIAN/prerm"
        chmod 755 "$root/DEBIAN/postinst" "$root/DEBIAN/prerm"
    fi
    (cd "$root" && find usr -type f -exec md5sum {} +) >"$root/DEBIAN/md5sums"
    chmod -R u+w,go+rX,go-w "$root"
    dpkg-deb --root-owner-group --build "$root" "$out/$1_${version}_$arch.deb"
}
about='X-ray diffraction of nanocrystals'
control nanobragg science "$(linked "$work/nanobragg/usr/bin/nanobragg")" \
    "Recommends: ${late:+$late, }python3
Suggests: python3-matplotlib" "$about"
control libnanobragg1 libs "$(linked "$work/libnanobragg1/usr/lib/$multiarch/libnanobragg.so.1")" \
    "${late:+Suggests: $late}" "$about: the library"
control libnanobragg-dev libdevel "libnanobragg1 (= $version)" '' "$about: headers and archive"
if [ -d "$work/python3-nanobragg" ]; then
    module=$work/python3-nanobragg/usr/lib/python3/dist-packages/nanobragg/_nanobragg.abi3.so
    control python3-nanobragg python "python3 (>= 3.11), python3-numpy, $(linked "$module")" \
        "${late:+Suggests: $late}" "$about: the Python package"
fi
