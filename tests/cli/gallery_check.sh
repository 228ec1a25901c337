#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# docs/gallery.md: the program accepts the command of each picture, and docs/pictures has
# exactly these pictures. `make gallery` makes them.
# usage: NANOBRAGG=program tests/cli/gallery_check.sh
set -u
: "${NANOBRAGG:?the program to test}"
case $NANOBRAGG in /*) ;; *) export NANOBRAGG=$PWD/$NANOBRAGG ;; esac
cd "$(dirname "$0")/../.." || exit 1
absent=$("$NANOBRAGG" -version | awk '($1 == "libpng" || $1 == "gemmi" || $1 == "cJSON") && $2 != "yes" { print $1 }')
if [ -n "$absent" ]; then
    echo "skip gallery # this build has no" $absent
    exit 0
fi
exec "${PYTHON:-python3}" mk/gallery.py --check
