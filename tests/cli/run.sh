#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Run the program: refusals and the effect of every flag (tables.py), signals.
# NB_REDUCED=1: refusals only. tests/run.sh runs the other checks of this folder.
# usage: NANOBRAGG=program tests/cli/run.sh
set -u
export LC_ALL=C
: "${NANOBRAGG:?the program to test}"
case $NANOBRAGG in /*) ;; *) NANOBRAGG=$PWD/$NANOBRAGG ;; esac
export NANOBRAGG
cd "$(dirname "$0")" || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

pass() { echo "ok $1"; }
miss() {
    echo "# $1: $2"
    echo "not ok $1"
    failed=1
}

. ./fixtures.sh

make_fixtures "$work/fixtures" || { echo "not ok fixtures" && exit 1; }
"${PYTHON:-python3}" tables.py "$work/fixtures" || failed=1

# Without arguments the program prints a short usage on standard error.
(cd "$work" && "$NANOBRAGG" >stdout 2>stderr)
[ $? -eq 2 ] && grep -q '^usage: nanobragg' "$work/stderr" && [ ! -s "$work/stdout" ] &&
    pass usage-without-arguments || miss usage-without-arguments "$(head -n 2 "$work/stderr")"

# If the program cannot write its text, it fails.
if [ -w /dev/full ]; then
    "$NANOBRAGG" -help >/dev/full 2>"$work/stderr"
    [ $? -eq 1 ] && grep -q 'standard output' "$work/stderr" &&
        pass full-disk || miss full-disk "$(cat "$work/stderr")"
else
    echo "skip full-disk # no /dev/full"
fi
[ -n "${NB_REDUCED:-}" ] && exit $failed

. ./signals.sh
. ./threads.sh
exit $failed
