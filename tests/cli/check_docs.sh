#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The examples of the documents work as typed: every ```sh block of docs/guide.md,
# series.md, physics.md, refine.md and reality.md runs in one temporary folder, in the
# order of the text, with `nanobragg` on the PATH and with golden_data, which stays
# unchanged; the C program of docs/library.md compiles against the build folder and runs.
# usage: NANOBRAGG=program [NB_BUILD=folder] tests/cli/check_docs.sh
set -u
export LC_ALL=C
: "${NANOBRAGG:?the program to test}"
case $NANOBRAGG in /*) ;; *) NANOBRAGG=$PWD/$NANOBRAGG ;; esac
source=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
build=$(cd "${NB_BUILD:-$(dirname "$(readlink -f "$NANOBRAGG")")}" && pwd) || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

# blocks LANGUAGE FILE FOLDER: writes the N-th block in LANGUAGE of FILE to FOLDER/N.
blocks() {
    awk -v start="\`\`\`$1" -v folder="$3" '
        $0 == start { n++; inside = 1; next }
        /^```/ { inside = 0 }
        inside { print > (folder "/" n) }
    ' "$2"
}

# leave_out_absent NAME FILE: removes lines that call a missing program of DIALS.
leave_out_absent() {
    local program
    for program in $(grep -oE '^dials\.[a-z_]+' "$2" | sort -u); do
        command -v "$program" >/dev/null && continue
        sed -i "/^$program /d" "$2"
        echo "skip $1, $program # DIALS is not installed"
    done
}

# examples NAME FILE: links docs/examples to the path that the page names.
examples() {
    grep -q 'docs/examples' "$2" || return 0
    if "${PYTHON:-python3}" -c 'import numpy, h5py' 2>/dev/null; then
        sed -i "s#\.\./\.\./docs/examples#$source/docs/examples#" "$2"
    else
        sed -i '/docs\/examples/d' "$2"
        echo "skip $1, docs/examples # python3-numpy or python3-h5py is not installed"
    fi
}

# shorten FILE: reduces a long series to three frames.
shorten() { sed -i -E 's/-frames [0-9]{2,} /-frames 3 /' "$1"; }

# leave_out_long FILE: removes the fit of the measured still, which refine_real_check.py makes.
leave_out_long() {
    [ -n "${NB_BIG:-}" ] || sed -i '/^nanobragg refine frame.cbf/,/[^\\]$/d' "$1"
}

# List the files of golden_data: no page may add or remove one.
reference() { (cd "$source/golden_data" && find . | sort); }

# links_twice NAME: runs all `ln` lines of a page twice in one folder: no new file may
# appear in golden_data.
links_twice() {
    local tree=$work/tree made
    rm -rf "$tree" && mkdir -p "$tree/build/guide"
    (cd "$source" && find golden_data -type d) | (cd "$tree" && xargs mkdir -p)
    grep -E '^ln ' "$source/docs/$1" >"$work/links"
    (cd "$tree/build/guide" && bash -e "$work/links" && bash -e "$work/links") >"$work/out" 2>&1 ||
        echo "the links cannot be typed twice" >>"$work/out"
    made=$(find "$tree/golden_data" ! -type d)
    if [ ! -s "$work/out" ] && [ -z "$made" ] && [ -s "$work/links" ]; then
        echo "ok docs/$1 links typed twice"
    else
        sed 's/^/# /' "$work/out" <(echo "$made")
        echo "not ok docs/$1 links typed twice"
        failed=1
    fi
}

# run_page NAME LIBRARY...: runs the blocks of one page if this build has these libraries.
run_page() {
    local page=$1 n=0 file absent
    shift
    absent=$("$NANOBRAGG" -version | awk -v needs=" $* " 'index(needs, " " $1 " ") && $2 != "yes" { print $1 }')
    if [ -n "$absent" ]; then
        echo "skip docs/$page # this build has no" $absent
        return
    fi
    rm -rf "$work/blocks" "$work/run" "$work/bin"
    mkdir -p "$work/bin" "$work/blocks" "$work/run"
    ln -s "$NANOBRAGG" "$work/bin/nanobragg"
    ln -s "$(command -v "${PYTHON:-python3}")" "$work/bin/python3"
    ln -s "$source/golden_data" "$work/run/golden_data"
    blocks sh "$source/docs/$page" "$work/blocks"
    while [ -f "$work/blocks/$((n + 1))" ]; do
        n=$((n + 1)) file=$work/blocks/$n
        leave_out_absent "docs/$page block $n" "$file"
        examples "docs/$page block $n" "$file"
        shorten "$file"
        leave_out_long "$file"
        if (cd "$work/run" && PATH=$work/bin:$PATH bash -e "$file") \
            >"$work/out" 2>&1 </dev/null; then
            echo "ok docs/$page block $n"
        else
            sed 's/^/# /' "$file" "$work/out"
            echo "not ok docs/$page block $n"
            failed=1
        fi
    done
    [ "$n" -gt 0 ] || { echo "not ok docs/$page # no sh block found" && failed=1; }
}

run_library() {
    mkdir -p "$work/c" "$work/library"
    blocks c "$source/docs/library.md" "$work/c"
    if [ ! -f "$build/libnanobragg.so" ]; then
        echo "skip docs/library.md # $(basename "$build") has no libnanobragg.so"
        return
    fi
    [ -f "$work/c/1" ] && mv "$work/c/1" "$work/library/example.c"
    if (cd "$work/library" && "${CC:-cc}" -std=c11 -Wall -Wextra -Werror example.c \
        -I"$source/src" -L"$build" -lnanobragg -Wl,-rpath,"$build" -o example &&
        ./example && [ "$(wc -c <floatimage.bin)" -eq 262144 ]) \
        >"$work/out" 2>&1; then
        echo "ok docs/library.md"
    else
        sed 's/^/# /' "$work/out"
        echo "not ok docs/library.md"
        failed=1
    fi
    run_factors
    run_arrays
}

# The second program; without gemmi it must report the missing library.
run_factors() {
    cp "$work/c/2" "$work/library/factors.c"
    (cd "$work/library" && "${CC:-cc}" -std=c11 -Wall -Wextra -Werror factors.c \
        -I"$source/src" -L"$build" -lnanobragg -Wl,-rpath,"$build" -o factors &&
        ./factors "$source/golden_data/structure_factors/models/1aki.pdb") \
        >"$work/out" 2>&1
    if grep -q '^64664 reflections' "$work/out"; then
        echo "ok docs/library.md factors"
    elif grep -q gemmi "$work/out"; then
        echo "skip docs/library.md factors # built without gemmi"
    else
        sed 's/^/# /' "$work/out"
        echo "not ok docs/library.md factors"
        failed=1
    fi
}

# The third program: arrays in place of files.
run_arrays() {
    cp "$work/c/3" "$work/library/arrays.c"
    if (cd "$work/library" && "${CC:-cc}" -std=c11 -Wall -Wextra -Werror arrays.c \
        -I"$source/src" -L"$build" -lnanobragg -Wl,-rpath,"$build" -o arrays &&
        ./arrays) >"$work/out" 2>&1 &&
        grep -q "$(sed -n 's/^It prints `\(16256 pixels[^`]*\)`.*/\1/p' "$source/docs/library.md")" "$work/out"; then
        echo "ok docs/library.md arrays"
    else
        sed 's/^/# /' "$work/out"
        echo "not ok docs/library.md arrays"
        failed=1
    fi
}

reference >"$work/reference"
run_page guide.md libpng cJSON HDF5 gemmi
links_twice guide.md
run_page series.md HDF5 libpng
run_page physics.md
run_page refine.md libpng cJSON
if "${PYTHON:-python3}" -c 'import numpy, h5py' 2>/dev/null; then
    run_page reality.md libpng HDF5 gemmi
else
    echo "skip docs/reality.md # python3-numpy or python3-h5py is not installed"
fi
run_library
if reference | cmp -s - "$work/reference"; then
    echo "ok docs leave golden_data as it was"
else
    reference | diff "$work/reference" - | sed 's/^/# /'
    echo "not ok docs leave golden_data as it was"
    failed=1
fi
exit $failed
