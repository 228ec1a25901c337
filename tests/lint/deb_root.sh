#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The Debian packages in a bare root of this machine's suite: installed by apt with what they depend on, a crystal
# and the Python package tried, removed, and nothing is left.  Needs root, network and debootstrap; not part of CI.
# usage: sudo tests/lint/deb_root.sh FOLDER       (make deb; KEEP=folder: a root that is there, or is to stay)
set -euo pipefail
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
root=${KEEP:-$(mktemp -d "${TMPDIR:-/tmp}/nanobragg-root.XXXXXX")}
finish() {
    umount "$root/proc" 2>/dev/null || true
    [ -n "${KEEP:-}" ] || grep -q " $root/" /proc/mounts || rm -rf --one-file-system "$root" "$root.log"
}
trap finish EXIT
# Mirrors, proxies and certificates are the host's; nothing about them is written down here.
list_repos() {
    # shellcheck disable=SC2016
    apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' | sort -u
}
mirror=$(list_repos | awk -v s="$suite" '$2 == s { print $1; exit }')
[ -e "$root/usr/bin/apt-get" ] ||
    debootstrap --variant=minbase --include=ca-certificates "$suite" "$root" "$mirror" >"$root.log" ||
    { tail -n 20 "$root.log" && exit 1; }
chmod 755 "$root"
list_repos | awk -v s="$suite" '$2 ~ "^" s { print "deb", $0 }' >"$root/etc/apt/sources.list"
grep -ls 'Acquire' /etc/apt/apt.conf.d/* /etc/apt/apt.conf 2>/dev/null | xargs -r -I {} cp {} "$root/etc/apt/apt.conf.d/" || true
mkdir -p "$root/usr/local/share/ca-certificates"
cp /usr/local/share/ca-certificates/*.crt "$root/usr/local/share/ca-certificates/" 2>/dev/null || true
cp /etc/resolv.conf /etc/hosts "$root/etc/"
mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
inside() {
    chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp DEBIAN_FRONTEND=noninteractive \
        ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} sh -c "$1" </dev/null
}
files() { (cd "$root" && find etc usr opt srv -xdev \( -path '*__pycache__*' -o -path usr/share/doc -o -path etc/apt \) -prune -o -print) | sort; }
rm -rf "$root/debs" && mkdir "$root/debs" && cp "$1"/*.deb golden_data/lysozyme_P1.hkl "$root/debs"
inside 'update-ca-certificates >/dev/null 2>&1; apt-get update -q >/dev/null'
# their dependencies first, so that what is there before and after can be compared
inside 'apt-get install -q -y --no-install-recommends /debs/*.deb >/dev/null && apt-get purge -q -y nanobragg libnanobragg1 libnanobragg-dev python3-nanobragg >/dev/null'
files >"$root.before"
inside 'apt-get install -q -y --no-install-recommends /debs/*.deb >/dev/null && dpkg -l "*nanobragg*" | grep ^ii'
inside 'cd /tmp && nanobragg -hkl /debs/lysozyme_P1.hkl -cell 79.1 79.1 37.9 90 90 90 -misset 10 20 30 -N 20 -lambda 1 -distance 100 -detpixels 256 -pixel 0.4 -fluence 5e25 -seed 1 -noisefile a.img -quiet && ls -l a.img'
inside 'cd /tmp && python3 -c "import nanobragg; print(nanobragg.Simulation(cell=80, N=5, default_F=100, detpixels=64).render().sum())"'
inside 'man -w nanobragg 2>/dev/null || ls /usr/share/man/man1/nanobragg.1.gz'
inside 'apt-get purge -q -y nanobragg libnanobragg1 libnanobragg-dev python3-nanobragg >/dev/null'
files >"$root.after"
if left=$(diff "$root.before" "$root.after" | grep '^>'); then
    echo "not ok deb-root: left after removal:" && echo "$left" && exit 1
fi
if find "$root/usr" "$root/etc" "$root/var/lib/dpkg/info" -name '*nanobragg*' | grep .; then
    echo "not ok deb-root: the files above are left after removal" && exit 1
fi
rm -f "$root.before" "$root.after"
echo "ok deb-root $suite"
