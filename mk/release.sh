#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes files to upload, from the last commit: source archive, wheel, Debian source and binary packages, recipes, list
# of parts with versions, checksums, and report.md (files, sizes, checks).  Does not upload or sign them.
# usage: mk/release.sh FOLDER     (made new; make release; CUDA and CUDA_ARCH as for make, every GPU by default)
# As root and with debootstrap, builds and tries all in bare roots (tests/lint/bare_root.sh), else in a separate folder
# of this system.  SUITES="bookworm trixie noble": where wheel and packages are tried.  CACHE=folder: a compiler's
# cache.  ARM64=1: a wheel for aarch64, too (without CUDA).
set -euo pipefail
unset MAKEFLAGS # flags of make release
cd "$(dirname "$0")/.."
rm -rf "$1" && mkdir -p "$1"
out=$(cd "$1" && pwd)
version=$(sed -n 's/^#define NB_VERSION "\([0-9.]*\)"/\1/p' src/nanobragg/build.h)
: "${version:?a development version is not released}"
name=nanobragg-$version
work=$PWD/build/release
rm -rf "$work"
mkdir -p "$work/log"
. tests/lint/bare_root.sh
failed=0

# check NAME COMMAND...: runs a command; adds a line to the report, with the last line that the command prints
check() {
    local what=$1 result=passed started=$SECONDS
    shift
    "$@" >"$work/log/$what" 2>&1 || { result=FAILED && failed=1; }
    echo "| $what | $result | $((SECONDS - started)) s | $(grep . "$work/log/$what" | tail -n 1 | tr '|' '/') |" | tee -a "$work/checks"
}

# --- the place where all is built -----------------------------------------------------------------
bind() { # FOLDER PLACE [OPTIONS]: mounts a folder of this system at a place in the root
    mkdir -p "$root/$2"
    mount --bind ${3:+-o "$3"} "$1" "$root/$2"
}
if [ "$(id -u)" = 0 ] && command -v debootstrap >/dev/null; then
    bare=1
    where="a bare root of $own_suite"
    KEEP=${KEEP:-} bare_root "$own_suite"
    place=$root
    nvcc=$(readlink -f "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")
    [ -z "${CACHE:-}" ] || bind "$CACHE" ccache
    if [ "${CUDA:-auto}" != 0 ] && [ -x "$nvcc" ]; then
        cuda=$(dirname "$(dirname "$nvcc")")
        bind "$cuda" usr/local/cuda ro
        if [ -n "${CACHE:-}" ]; then # replace nvcc by a script that calls it through ccache
            bind "$cuda" opt/cuda ro
            printf '#!/bin/sh\nexec ccache /opt/cuda/bin/nvcc "$@"\n' >"$root/opt/nvcc"
            chmod +x "$root/opt/nvcc"
            mount --bind "$root/opt/nvcc" "$root/usr/local/cuda/bin/nvcc"
        fi
    fi
    paths=${CACHE:+/usr/lib/ccache:}\$PATH:/usr/local/cuda/bin
    build() { inside "cd /release/$name && export PATH=$paths CCACHE_DIR=/ccache CCACHE_NOHASHDIR=1 && $1"; }
else
    bare=0
    where='a folder of its own on this system, since it takes root and debootstrap to make a bare root'
    place=$work
    build() { (cd "$place/release/$name" && sh -c "$1"); }
fi
at() { # FILE: prints the path on this system of a file in the place where all is built
    echo "$place/release/$1"
}
jobs=$(nproc)
words="-j$jobs CUDA=${CUDA:-auto} CUDA_ARCH='${CUDA_ARCH:-all}'"

# --- source archive -------------------------------------------------------------------------------
rm -rf "$(at .)" && mkdir -p "$(at products)"
make --no-print-directory dist PYTHON="${PYTHON:-python3}" DIST="$(at products)"
tar -xzf "$(at "products/$name.tar.gz")" -C "$(at .)"
[ $bare = 0 ] || build 'sh mk/packages.sh build deb release >/dev/null'
[ -z "${CACHE:-}" ] || [ $bare = 0 ] || inside 'apt-get install -q -y --no-install-recommends ccache >/dev/null'
cp "$(at "products/$name.tar.gz")" "$(at "nanobragg_$version.orig.tar.gz")"
build "sh mk/deb.sh . $version && cd .. && dpkg-source -b $name >/dev/null" # first, because a build adds files
check source-archive build "make $words demo"
sed -n 's/^NVCC_VERSION := /CUDA /p' "$(at "$name")"/build/gcc-release/config.mk | grep . >"$work/cuda" || echo 'no CUDA' >"$work/cuda"
check installed-files build "make $words installcheck"

# --- wheel ----------------------------------------------------------------------------------------
small() { # true if the wheel has not more than 60 MB, which package indexes allow
    local wheel
    wheel=$(ls "$(at products)"/nanobragg-*.whl)
    echo "$(stat -c %s "$wheel") bytes, at most 60000000"
    [ "$(stat -c %s "$wheel")" -le 60000000 ]
}
audit() {
    build 'export PIP_CERT=/etc/ssl/certs/ca-certificates.crt && python3 -m venv ../audit && ../audit/bin/pip install -q --disable-pip-version-check auditwheel twine &&
        ../audit/bin/twine check --strict ../products/nanobragg-* &&
        ../audit/bin/auditwheel show ../products/nanobragg-*.whl >../audit/text && cat ../audit/text &&
        tag=$(ls ../products | sed -n "s/.*-\(manylinux_[0-9_]*x86_64\).whl/\1/p") &&
        tr "\n" " " <../audit/text | grep -q "is consistent with the following platform tag: *\"$tag\"" && echo "consistent with $tag"'
}
check wheel-built build "make $words wheel WHEEL_DIR=../products"
check wheel-size small
check wheel-audit audit
check wheel-tests build 'bash tests/python/wheel.sh ../products python3'

# --- Debian packages ------------------------------------------------------------------------------
check debian-packages build "make $words deb DIST=../products/debian"
mv "$(at .)/nanobragg_$version"* "$(at products/debian)"
lint='lintian --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs ../products/debian/*.dsc ../products/debian/*.deb'
check lintian build "$lint && echo 'no error, no warning'" # suppressed: the uploader adds the number of the request
cp -r "$(at products/.)" "$out"
wheel=$(ls "$out"/nanobragg-*.whl)
"${PYTHON:-python3}" -m zipfile -e "$wheel" "$work/wheel"
cp "$work"/wheel/*.dist-info/sboms/nanobragg.cdx.json "$out/$name.cdx.json"
leave_root

# --- recipes --------------------------------------------------------------------------------------
digest=$(sha256sum "$out/$name.tar.gz" | cut -d' ' -f1)
for recipe in Dockerfile nanobragg.def conda/meta.yaml spack/package.py; do
    mkdir -p "$(dirname "$out/$recipe")"
    sed -e "s|@VERSION@|$version|" -e "s|@SHA256@|$digest|" "mk/packaging/$recipe" >"$out/$recipe"
done
check recipes "${PYTHON:-python3}" tests/lint/recipes.py "$out"

# --- bare roots -----------------------------------------------------------------------------------
if [ $bare = 1 ]; then
    unset KEEP # do not use the root of the build: it is not bare
    check debian-packages-alone bash tests/lint/deb_root.sh "$out/debian"
    check containers bash tests/lint/recipe_root.sh "$out/debian"
    [ -z "${ARM64:-}" ] || check wheel-arm64 bash tests/lint/arm64_root.sh "$out/$name.tar.gz" "$out"
    for suite in ${SUITES:-bookworm trixie noble}; do
        check "wheel-in-$suite" bash tests/lint/wheel_root.sh "$suite" "$wheel"
    done
fi

(cd "$out" && find . -type f ! -name SHA256SUMS ! -name report.md -printf '%P\n' | sort | xargs sha256sum >SHA256SUMS)
{
    echo '# A release' && echo
    echo "Written by \`make release\` of nanobragg $version ($(git describe --always --dirty)), built in $where, with $(cat "$work/cuda")."
    echo && echo '| file | bytes | sha256 begins with |' && echo '| --- | --- | --- |'
    (cd "$out" && while read -r sum file; do echo "| $file | $(stat -c %s "$file") | ${sum:0:16} |"; done <SHA256SUMS)
    echo && echo '| check | result | time | last line |' && echo '| --- | --- | --- | --- |'
    cat "$work/checks"
} >"$out/report.md"
exit $failed
