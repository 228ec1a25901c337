#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Tests that the files of `make install` are enough for another program: compiles and runs
# a program with the shared and the static library, checks the man page and the shell
# completion, then that uninstall leaves no file.
# usage: [LIB=lib64] install.sh STAGE PREFIX UNINSTALL-COMMAND...   (STAGE empty: installed where it will stay)
set -eu
stage=$1 prefix=$2 lib=${LIB:-lib}
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/user.c" <<'CODE'
#include <nanobragg.h>
#include <stdio.h>
int main(void)
{
    nb_config *config;
    nb_sim *sim;
    nb_error error;
    if (nb_config_create(&config, &error) || nb_config_set(config, "cell", "50", &error) ||
        nb_config_set(config, "N", "2", &error) || nb_config_set(config, "default_F", "1", &error) ||
        nb_config_set(config, "detpixels", "8", &error) || nb_sim_create(config, NULL, &sim, &error)) {
        puts(error.message);
        return 1;
    }
    float image[64];
    nb_status status = nb_sim_render(sim, image, NULL, &error);
    nb_sim_free(sim);
    nb_config_free(config);
    return status != NB_OK;
}
CODE
export PKG_CONFIG_PATH=$stage$prefix/$lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=
flags="-I$stage$prefix/include -L$stage$prefix/$lib"
pkg-config --exists nanobragg
# shellcheck disable=SC2046
if [ -z "$stage" ]; then # compile as in docs/library.md; the program must find the library
    ${CC:-gcc} "$work/user.c" $(pkg-config --cflags --libs nanobragg) -o "$work/shared"
    "$work/shared"
else
    ${CC:-gcc} "$work/user.c" $flags $(pkg-config --libs nanobragg) -o "$work/shared"
    LD_LIBRARY_PATH=$stage$prefix/$lib "$work/shared"
fi
# shellcheck disable=SC2046
${CC:-gcc} "$work/user.c" $flags -Wl,-Bstatic $(pkg-config --libs nanobragg) -Wl,-Bdynamic \
    $(pkg-config --static --libs nanobragg | sed 's/-lnanobragg//') -o "$work/static"
"$work/static"

if command -v cmake >/dev/null; then
    printf '%s\n' 'cmake_minimum_required(VERSION 3.13)' 'project(user C)' 'find_package(nanobragg 0.5 REQUIRED)' \
        'add_executable(user user.c)' 'target_link_libraries(user nanobragg::nanobragg)' >"$work/CMakeLists.txt"
    found=-DCMAKE_PREFIX_PATH=$stage$prefix
    [ "$lib" = lib ] || found=-Dnanobragg_DIR=$stage$prefix/$lib/cmake/nanobragg # some CMake do not search lib64
    cmake -S "$work" -B "$work/build" "$found" >/dev/null
    cmake --build "$work/build" >/dev/null
    "$work/build/user"
else
    echo 'skip installcheck cmake # not installed'
fi

for file in bin/nanobragg $lib/libnanobragg.so $lib/libnanobragg.a; do # must have no symbols for a debugger
    ! readelf -SW "$stage$prefix/$file" | grep -q ' \.debug_info' || { echo "not stripped: $file" >&2 && exit 1; }
done
"$stage$prefix/bin/nanobragg" -version >/dev/null
if [ -d "$stage$prefix/lib/python3" ]; then # test the Python package too
    (cd "$work" && "$stage$prefix/bin/nanobragg" run-compare -ref "$stage$prefix/bin/nanobragg" -- -default_F 1 -cell 50 -N 2 \
        -detpixels 8 -seed 1 | grep -q '^result *passed')
fi
bash -n "$stage$prefix/share/bash-completion/completions/nanobragg"
grep -q '^\.SH' "$stage$prefix/share/man/man1/nanobragg.1"
grep -q 'Beamline 8.3.1' "$stage$prefix/share/doc/nanobragg/NOTICE" # the notice of the tables

"$@" >/dev/null
left=$(find "$stage$prefix" -type f -o -type l)
[ -z "$left" ] || { echo "uninstall left: $left" >&2 && exit 1; }
echo "installcheck: passed"
