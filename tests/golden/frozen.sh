#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Compares the bytes that this tree and another commit write: 1300 command lines over
# every flag, format, instruction set and precision (frozen.py).
# usage: bash tests/golden/frozen.sh COMMIT [--only ROOM,...] [--device cuda]
# The commit is checked out and built in build/frozen (kept, so that the next call is
# quick).
set -u
cd "$(dirname "$0")/../.." || exit 1
[ $# -ge 1 ] || { grep '^# usage' "$0" && exit 2; }
commit=$(git rev-parse --verify "$1^{commit}") || exit 2
shift
tree=build/frozen/$commit
cuda=0
case " $* " in *" cuda "*) cuda=auto ;; esac
if [ ! -d "$tree" ]; then
    rm -rf build/frozen && mkdir -p "$tree" && git archive "$commit" | tar -x -C "$tree" || exit 1
fi
for where in "$tree" .; do
    make -C "$where" --no-print-directory -j"$(nproc)" CUDA=$cuda all >build/frozen/make.log 2>&1 ||
        { tail -n 20 build/frozen/make.log && exit 1; }
done
python3 tests/golden/frozen.py hash "$tree/build/nanobragg" build/frozen/before.tsv "$@" &&
    python3 tests/golden/frozen.py hash build/nanobragg build/frozen/after.tsv "$@" &&
    python3 tests/golden/frozen.py compare build/frozen/before.tsv build/frozen/after.tsv
