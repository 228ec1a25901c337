#!/bin/sh
# SPDX-License-Identifier: MIT
# On a bare Debian or Ubuntu machine: install the packages that a make target needs, then make it.
# usage: sh mk/bootstrap.sh [TARGET]      (demo, test, check, install, ...; default: all)
set -eu
cd "$(dirname "$0")/.."

target=${1:-all}
[ $# -eq 0 ] || shift
case $target in
all | demo | install) sh mk/packages.sh build ;;
lint | fuzz | tsan | valgrind | tidy) sh mk/packages.sh build test lint ;;
*) sh mk/packages.sh build test ;;
esac
exec make -j"$(nproc)" "$target" "$@"
