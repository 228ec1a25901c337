# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Makes bare roots (folders with a minimal system) by debootstrap, for checks.  Needs root, network and debootstrap.
# usage: . tests/lint/bare_root.sh; bare_root SUITE; inside 'shell command'; leave_root
# bare_root sets $root.  KEEP=folder: uses an existing root, or keeps a new one.  A suite other than this machine's comes
# from APT_MIRROR, else from this machine's mirror if this has the suite (another Debian), else from the mirror that
# debootstrap knows (Ubuntu).  APT_COMPONENTS and DEBOOTSTRAP_FLAGS (--no-check-gpg without its keyring) apply to it.

# Shell commands that call every subcommand once, in a folder with lysozyme_P1.hkl.
# shellcheck disable=SC2016,SC2034
verbs='flags="-hkl lysozyme_P1.hkl -cell 79.1,79.1,37.9,90,90,90 -N 20 -lambda 1 -distance 100 -detpixels 256 -pixel 0.4 -fluence 5e25"
nanobragg $flags -misset 10,20,30 -seed 1 -noisefile a.img -quiet && nanobragg view a.img a.html && nanobragg compare a.img a.img | tail -n 1 &&
nanobragg refine a.img $flags -misset 10.1,20,30 -refine rot -report fit.html | tail -n 1 && nanobragg bench -help | head -n 1 &&
nanobragg run-compare -help | head -n 1 && ls -l a.html fit.html'

own_suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
root=

# list_repos SUITE: prints the host's mirrors that have the suite.  Mirrors, proxies and certificates come from the host.
list_repos() {
    # shellcheck disable=SC2016
    apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' |
        sort -u | awk -v s="$1" '$2 == s || $2 == s "-updates" || $2 == s "-security"'
}

mirror_of() { # SUITE RECIPE: prints this machine's mirror, for another Debian too; else debootstrap's
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
    [ -e "$recipe" ] || { recipe=/usr/share/debootstrap/scripts/gutsy && components=main,universe; } # this script of debootstrap is for every later Ubuntu
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

inside() { # COMMAND: runs a shell command in the root; of this machine's environment it has only the proxy
    chroot "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
        sh -c "$1" </dev/null
}

leave_root() {
    local mount
    [ -n "$root" ] || return 0
    rm -f "$root.log"
    for mount in usr/local/cuda/bin/nvcc usr/local/cuda opt/cuda ccache dev/pts dev proc; do # the first four are release.sh's
        umount "$root/$mount" 2>/dev/null || true
    done
    if [ -n "${KEEP:-}" ]; then
        echo "kept: $root"
    elif ! grep -q " $root/" /proc/mounts; then
        rm -rf --one-file-system "$root"
    fi
    root=
}
