#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The README's two commands on a bare system: a minimal root made by debootstrap, git, and a
# clone of the last commit.  Needs root, network and debootstrap; not part of CI.
# usage: sudo tests/lint/chroot.sh [SUITE]      (bookworm by default; KEEP=1 leaves the root)
# For a suite that is not this machine's own: APT_MIRROR=url, for Ubuntu also
# APT_COMPONENTS=main,universe, and
# DEBOOTSTRAP_FLAGS (say --no-check-gpg where its keyring is missing).
set -eu
suite=${1:-bookworm}
repo=$(cd "$(dirname "$0")/../.." && pwd)
root=$(mktemp -d "${TMPDIR:-/tmp}/nanobragg-chroot.XXXXXX")

finish() {
    for mount in dev/pts dev proc; do
        umount "$root/$mount" 2>/dev/null || true
    done
    if [ "${KEEP:-0}" = 1 ]; then
        echo "kept: $root"
    elif ! grep -q " $root/" /proc/mounts; then
        rm -rf --one-file-system "$root"
    fi
}
trap finish EXIT
chmod 755 "$root"

# Mirrors, proxies and certificates are the host's; nothing about them is written down here.
list_repos() {
    # shellcheck disable=SC2016
    apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' |
        sort -u | awk -v s="$suite" '$2 == s || $2 == s "-updates" || $2 == s "-security"'
}
mirror=$(list_repos | awk -v s="$suite" '$2 == s { print $1; exit }')
[ -n "$mirror" ] || mirror=${APT_MIRROR:?this machine has no $suite source: set APT_MIRROR}

echo "== debootstrap $suite"
components=${APT_COMPONENTS:-main}
recipe=/usr/share/debootstrap/scripts/$suite
[ -e "$recipe" ] || recipe=/usr/share/debootstrap/scripts/gutsy # every later Ubuntu
# shellcheck disable=SC2086
debootstrap --variant=minbase --include=ca-certificates \
    ${DEBOOTSTRAP_FLAGS:-} "$suite" "$root" "$mirror" "$recipe" >"$root.log" ||
    { tail -n 20 "$root.log" && exit 1; }
rm -f "$root.log"
list_repos | sed 's/^/deb /' >"$root/etc/apt/sources.list"
[ -s "$root/etc/apt/sources.list" ] ||
    echo "deb $mirror $suite ${components//,/ }" >"$root/etc/apt/sources.list"
grep -ls 'Acquire' /etc/apt/apt.conf.d/* /etc/apt/apt.conf 2>/dev/null |
    xargs -r -I {} cp {} "$root/etc/apt/apt.conf.d/" || true
cp /usr/local/share/ca-certificates/*.crt "$root/usr/local/share/ca-certificates/" \
    2>/dev/null || true
cp /etc/resolv.conf /etc/hosts "$root/etc/"
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
[ ! -d /dev/pts ] || mount --bind /dev/pts "$root/dev/pts"

inside() {
    chroot "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        HOME=/tmp DEBIAN_FRONTEND=noninteractive \
        ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
        sh -c "$1" </dev/null
}
inside 'update-ca-certificates >/dev/null 2>&1 || true
    apt-get update -q >/dev/null && apt-get install -q -y git >/dev/null'
git -C "$repo" bundle create -q "$root/tmp/repo.bundle" HEAD
inside 'git clone -q /tmp/repo.bundle /tmp/nanobragg'

status=0
for target in demo test; do
    echo "== README: sh mk/bootstrap.sh $target"
    started=$SECONDS
    if inside "cd /tmp/nanobragg && sh mk/bootstrap.sh $target"; then
        echo "== $target: passed in $((SECONDS - started)) s"
    else
        echo "== $target: FAILED in $((SECONDS - started)) s"
        status=1
    fi
done
exit $status
