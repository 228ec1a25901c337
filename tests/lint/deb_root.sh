#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Tests the Debian packages in a bare root of this machine's suite: installs them by apt with their dependencies, runs a
# crystal and the Python package, removes them; no file may be left.  Needs root, network and debootstrap; not part of CI.
# usage: sudo tests/lint/deb_root.sh FOLDER       (that of make deb; bare_root.sh has the settings)
set -euo pipefail
. "$(dirname "$0")/bare_root.sh"
bare_root "$own_suite"
files() { (cd "$root" && find etc usr opt srv -xdev \( -path '*__pycache__*' -o -path usr/share/doc -o -path etc/apt \) -prune -o -print) | sort; }
rm -rf "$root/debs" && mkdir "$root/debs" && cp "$1"/*.deb golden_data/lysozyme_P1.hkl "$root/debs"
# install dependencies first, to compare the lists of files without and with the packages
inside 'apt-get install -q -y --no-install-recommends /debs/*.deb >/dev/null && apt-get purge -q -y nanobragg libnanobragg2 libnanobragg-dev python3-nanobragg >/dev/null'
files >"$root.before"
inside 'apt-get install -q -y --no-install-recommends /debs/*.deb >/dev/null && dpkg -l "*nanobragg*" | grep ^ii'
inside "cd /debs && $verbs"
inside 'cd /tmp && python3 -c "import nanobragg; print(nanobragg.Simulation(cell=80, N=5, default_F=100, detpixels=64).render().sum())"'
inside 'apt-get purge -q -y python3-nanobragg >/dev/null; cd /debs && nanobragg view a.img b.html && ! nanobragg refine a.img -refine rot 2>said && grep "needs the Python package" said'
inside 'man -w nanobragg 2>/dev/null || ls /usr/share/man/man1/nanobragg.1.gz'
inside 'apt-get purge -q -y nanobragg libnanobragg2 libnanobragg-dev python3-nanobragg >/dev/null'
files >"$root.after"
if left=$(diff "$root.before" "$root.after" | grep '^>'); then
    echo "not ok deb-root: left after removal:" && echo "$left" && exit 1
fi
if find "$root/usr" "$root/etc" "$root/var/lib/dpkg/info" -name '*nanobragg*' | grep .; then
    echo "not ok deb-root: the files above are left after removal" && exit 1
fi
rm -f "$root.before" "$root.after"
echo "ok deb-root $own_suite"
