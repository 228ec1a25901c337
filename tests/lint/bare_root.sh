# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Bare roots by debootstrap, for checks that need a minimal system.  Needs root, network and debootstrap.
# usage: . tests/lint/bare_root.sh; bare_root SUITE; inside 'shell command'; leave_root
# bare_root sets $root.  KEEP=folder: an existing root, or one to keep.  A suite other than this machine's comes
# from APT_MIRROR, else from this machine's mirror if that has the suite (another Debian), else from debootstrap's
# (Ubuntu); APT_COMPONENTS and DEBOOTSTRAP_FLAGS (for example --no-check-gpg without its keyring) apply to the suite.

# Every verb once, in a folder with lysozyme_P1.hkl.
# shellcheck disable=SC2016,SC2034
verbs='flags="-hkl lysozyme_P1.hkl -cell 79.1,79.1,37.9,90,90,90 -N 20 -lambda 1 -distance 100 -detpixels 256 -pixel 0.4 -fluence 5e25"
nanobragg $flags -misset 10,20,30 -seed 1 -noisefile a.img -quiet && nanobragg view a.img a.html && nanobragg compare a.img a.img | tail -n 1 &&
nanobragg refine a.img $flags -misset 10.1,20,30 -refine rot -report fit.html | tail -n 1 && nanobragg bench -help | head -n 1 &&
nanobragg run-compare -help | head -n 1 && ls -l a.html fit.html'

own_suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
root=

# Mirrors, proxies and certificates are the host's; this file does not record them.
list_repos() {
    # shellcheck disable=SC2016
    apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' |
        sort -u | awk -v s="$1" '$2 == s || $2 == s "-updates" || $2 == s "-security"'
}

mirror_of() { # SUITE RECIPE: this machine's; of another Debian too; else that of debootstrap
    local suite=$1
    [ -z "${APT_MIRROR:-}" ] || { echo "$APT_MIRROR" && return; }
    [ -n "$(list_repos "$suite")" ] || ! grep -q 'debian-archive' "$2" || suite=$own_suite
    list_repos "$suite" | awk -v s="$suite" '$2 == s { print $1; exit }' | grep . ||
        sed -n 's/^[[:space:]]*default_mirror \(.*archive.*\)/\1/p' "$2"
}

bare_root() {
    local suite=$1 recipe mirror components=${APT_COMPONENTS:-main}
    root=${KEEP:-$(mktemp -d "${TMPDIR:-/tmp}/nanobragg-root.XXXXXX")}
    trap leave_root EXIT
    mkdir -p "$root" && chmod 755 "$root"
    recipe=/usr/share/debootstrap/scripts/$suite
    [ -e "$recipe" ] || { recipe=/usr/share/debootstrap/scripts/gutsy && components=main,universe; } # every later Ubuntu
    mirror=$(mirror_of "$suite" "$recipe" | head -n 1)
    if [ ! -e "$root/usr/bin/apt-get" ]; then
        echo "== debootstrap $suite"
        # shellcheck disable=SC2086
        debootstrap --variant=minbase --include=ca-certificates --components="$components" ${DEBOOTSTRAP_FLAGS:-} \
            "$suite" "$root" "$mirror" "$recipe" >"$root.log" || { tail -n 20 "$root.log" && return 1; }
        rm -f "$root.log"
    fi
    [ -z "$(list_repos "$suite")" ] || list_repos "$suite" | sed 's/^/deb /' >"$root/etc/apt/sources.list"
    grep -ls 'Acquire' /etc/apt/apt.conf.d/* /etc/apt/apt.conf 2>/dev/null | xargs -r -I {} cp {} "$root/etc/apt/apt.conf.d/" || true
    mkdir -p "$root/usr/local/share/ca-certificates"
    cp /usr/local/share/ca-certificates/*.crt "$root/usr/local/share/ca-certificates/" 2>/dev/null || true
    cp /etc/resolv.conf /etc/hosts "$root/etc/"
    mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
    mountpoint -q "$root/dev" || mount --bind /dev "$root/dev"
    [ ! -d /dev/pts ] || mountpoint -q "$root/dev/pts" || mount --bind /dev/pts "$root/dev/pts"
    inside 'update-ca-certificates >/dev/null 2>&1 || true
        apt-get update -q >/dev/null'
}

inside() { # in the root: a shell command, with nothing of this machine's environment but a proxy
    chroot "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
        sh -c "$1" </dev/null
}

leave_root() {
    local mount
    [ -n "$root" ] || return 0
    rm -f "$root.log"
    for mount in usr/local/cuda/bin/nvcc usr/local/cuda opt/cuda ccache dev/pts dev proc; do # release.sh adds four
        umount "$root/$mount" 2>/dev/null || true
    done
    if [ -n "${KEEP:-}" ]; then
        echo "kept: $root"
    elif ! grep -q " $root/" /proc/mounts; then
        rm -rf --one-file-system "$root"
    fi
    root=
}
