#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The newest wheel in a bare root that has Python and pip and nothing else: installed, selftest, the program.
# Needs root, network and debootstrap; not part of CI.
# usage: sudo tests/python/wheel_root.sh FOLDER SUITE [MIRROR]     (bookworm, trixie, noble; KEEP=folder keeps the root)
# Ubuntu: MIRROR is needed, and its keyring or DEBOOTSTRAP_FLAGS=--no-check-gpg.
set -euo pipefail
suite=$2
wheel=$(find "$1" -name 'nanobragg-*.whl' -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d ' ' -f 2-)
[ -n "$wheel" ] || { echo "no wheel is in $1 (make wheel)" && exit 1; }
root=${KEEP:-$(mktemp -d "${TMPDIR:-/tmp}/nanobragg-root.XXXXXX")}
finish() {
    umount "$root/proc" 2>/dev/null || true
    [ -n "${KEEP:-}" ] || grep -q " $root/" /proc/mounts || rm -rf --one-file-system "$root" "$root.log"
}
trap finish EXIT
# shellcheck disable=SC2016
mirror=${3:-$(apt-get indextargets --format '$(REPO_URI) $(CODENAME)' 'Created-By: Packages' |
    awk '$2 ~ /^[a-z]+$/ { print $1; exit }')}
recipe=/usr/share/debootstrap/scripts/$suite
[ -e "$recipe" ] || recipe=/usr/share/debootstrap/scripts/sid
[ "$suite" != noble ] || recipe=/usr/share/debootstrap/scripts/gutsy
components=main
[ "$suite" != noble ] || components=main,universe
# shellcheck disable=SC2086
[ -e "$root/usr/bin/pip3" ] || debootstrap --variant=minbase --components=$components --include=python3,python3-pip \
    --exclude=gcc,g++,build-essential ${DEBOOTSTRAP_FLAGS:-} "$suite" "$root" "$mirror" "$recipe" >"$root.log" ||
    { tail -n 20 "$root.log" && exit 1; }
chmod 755 "$root"
inside() {
    chroot "$root" env -i PATH=/usr/local/bin:/usr/bin:/bin HOME=/tmp PIP_BREAK_SYSTEM_PACKAGES=1 "$@" </dev/null
}
mkdir -p "$root/wheels" "$root/proc"
mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
version=$(inside python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
python3 -m pip download --quiet --only-binary=:all: --python-version "$version" --dest "$root/wheels" numpy
cp "$wheel" "$root/wheels"
inside pip3 install --quiet --no-index --find-links /wheels --force-reinstall nanobragg
inside sh -c '. /etc/os-release; echo "$PRETTY_NAME, $(python3 --version), $(ldd --version | head -n 1)"'
inside sh -c '! command -v gcc cc clang' || { echo "not ok wheel-root: there is a compiler" && exit 1; }
inside sh -c 'cd /tmp && python3 -m nanobragg.selftest'
inside sh -c 'cd /tmp && nanobragg -default_F 100 -cell 80 -N 5 -detpixels 64 -quiet -noisefile n.img && ls n.img'
echo "ok wheel-root $suite $(basename "$wheel")"
