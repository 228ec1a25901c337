#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs the README's two commands on a bare system: a minimal root made by debootstrap, with git
# and a clone of the last commit.  Needs root, network and debootstrap; not part of CI.
# usage: sudo tests/lint/chroot.sh [SUITE]      (bookworm by default; bare_root.sh has the settings)
set -euo pipefail
repo=$(cd "$(dirname "$0")/../.." && pwd)
. "$repo/tests/lint/bare_root.sh"
bare_root "${1:-bookworm}"
inside 'apt-get install -q -y git >/dev/null'
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
