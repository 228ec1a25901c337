#!/bin/sh
# SPDX-License-Identifier: MIT
# Find the libraries and features of this machine and compiler; print them as make assignments.
# usage: detect.sh CC CUDA CXX GEMMI SANITIZER-FLAGS...
set -u
cc=$1
cuda=$2
cxx=$3
gemmi=$4
shift 4
optional=${OPTIONAL:-auto}
[ "$optional" != 0 ] || gemmi=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# package NAME PKG: print flags and version of a library, from pkg-config.
package() {
    [ "$optional$1" != 0XRAYLIB ] || return 0
    if pkg-config --exists "$2" 2>/dev/null; then
        echo "HAVE_$1 := 1"
        echo "$1_VERSION := $(pkg-config --modversion "$2")"
        echo "$1_CFLAGS := $(pkg-config --cflags "$2")"
        echo "$1_LIBS := $(pkg-config --libs "$2")"
    fi
}

echo "CC_VERSION := $($cc --version 2>/dev/null | head -n 1 | tr -d '#$')"
! $cc -dM -E -x c /dev/null 2>/dev/null | grep -q __clang__ || echo "IS_CLANG := 1"
machine=$($cc -dumpmachine 2>/dev/null)
echo "MACHINE := ${machine%%-*}"

package TIFF libtiff-4
package PNG libpng
package CJSON libcjson
package CMOCKA cmocka
package HDF5 'hdf5 >= 1.10.5' # has H5Dget_chunk_info_by_coord
package FFTW fftw3
package XRAYLIB "libxrl >= 4" # returns errors by pointers
# soname NAME PKG LIBRARY: print the soname in the library's file. The program loads these
# libraries by this name when it needs them (src/base/late_library.h).
soname() {
    file=$(for dir in $(pkg-config --libs-only-L "$2" 2>/dev/null | sed 's/-L//g') \
        "$(pkg-config --variable=libdir "$2" 2>/dev/null)" \
        "/usr/lib/$($cc -print-multiarch 2>/dev/null)"; do
        ls "$dir/$3.so" 2>/dev/null
    done | head -n 1)
    name=$(readelf -d "${file:-/dev/null}" 2>/dev/null | sed -n 's/.*SONAME.*\[\(.*\)\].*/\1/p')
    echo "$1_SONAME := ${name:-$3.so}"
}
soname TIFF libtiff-4 libtiff
soname HDF5 hdf5 libhdf5
soname FFTW fftw3 libfftw3
soname XRAYLIB libxrl libxrl
# In some distributions bzip2 has no pkg-config file.
printf '#include <bzlib.h>\nint main(void) { return !BZ2_bzlibVersion(); }\n' >"$work/bzip2.c"
if $cc "$work/bzip2.c" -lbz2 -o "$work/bzip2" 2>/dev/null; then
    header=$($cc -E "$work/bzip2.c" | sed -n 's/^# 1 "\(.*bzlib.h\)".*/\1/p' | head -n 1)
    echo "HAVE_BZIP2 := 1"
    echo "BZIP2_VERSION := $(sed -n 's/.*libbzip2 version \([0-9.]*\).*/\1/p' "$header" | head -n 1)"
    echo "BZIP2_LIBS := -lbz2"
fi
# The program loads MPI if mpirun started it (src/series/ranks.c).  MPICC=mpicc.openmpi chooses one of several.
for mpi in ${MPICC:+of-mpicc} mpich ompi-c ompi mpi; do
    if [ -n "${MPICC:-}" ] || pkg-config --exists $mpi 2>/dev/null; then break; fi
done
mpicc=${MPICC:-mpicc}
mpi_flags=$(pkg-config --cflags-only-I $mpi 2>/dev/null || $mpicc -show 2>/dev/null)
mpi_dirs=$(for word in $mpi_flags; do
    case $word in -I*) echo "$word" ;; esac
done | sed 's/^-I/-isystem /' | tr '\n' ' ')
if [ "$optional" != 0 ] && printf '#include <mpi.h>\n' | $cc $mpi_dirs -E -dM -x c - >"$work/mpi" 2>/dev/null; then
    mpi_libs=$(pkg-config --libs-only-L $mpi 2>/dev/null || $mpicc -show 2>/dev/null)
    number() { sed -n "s/^#define $1 \"*\([^\"]*\)\"*$/\1/p" "$work/mpi"; }
    if grep -q '#define OPEN_MPI ' "$work/mpi"; then
        mpi_file=libmpi.so
        mpi_version="Open MPI $(number OMPI_MAJOR_VERSION).$(number OMPI_MINOR_VERSION)"
    else
        mpi_file=libmpich.so
        mpi_version="MPICH $(number MPICH_VERSION)"
    fi
    mpi_name=$(for dir in $(for w in $mpi_libs; do
        case $w in -L*) echo "${w#-L}" ;; esac
    done) "$(pkg-config --variable=libdir $mpi 2>/dev/null)" \
        "/usr/lib/$($cc -print-multiarch 2>/dev/null)"; do
        readelf -d "$dir/$mpi_file" 2>/dev/null
    done | sed -n 's/.*SONAME.*\[\(.*\)\].*/\1/p' | head -n 1)
    if [ -n "$mpi_name" ]; then
        echo "HAVE_MPI := 1"
        echo "MPI_VERSION := $mpi_version"
        echo "MPI_CFLAGS := $mpi_dirs"
        echo "MPI_SONAME := $mpi_name"
    fi
fi
package LIBDEFLATE libdeflate
package ZLIB zlib
package LZ4 liblz4

# Random123 has only headers; in some distributions it has no pkg-config file.
if printf '#include <Random123/philox.h>\n#include <Random123/features/compilerfeatures.h>\n' |
    $cc -E -dM -x c - >"$work/r123" 2>/dev/null; then
    echo "HAVE_RANDOM123 := 1"
    version=$(sed -n 's/.*Version: *//p' /usr/share/doc/librandom123-dev/version 2>/dev/null)
    [ -n "$version" ] || version=$(dpkg-query -W -f '${Version}' librandom123-dev 2>/dev/null)
    echo "RANDOM123_VERSION := ${version:-headers}"
fi

# In some distributions gemmi has no pkg-config file.  Version 0.5 has only headers, and needs PEGTL;
# later versions have a library, which to_str needs.  The oldest version that was tried is 0.5.7.
cat >"$work/gemmi.cc" <<'CODE'
#include <gemmi/sprintf.hpp>
#if !__has_include(<gemmi/riding_h.hpp>) && !__has_include(<tao/pegtl.hpp>)
#error no PEGTL
#endif
int main(int n, char **) { return gemmi::to_str(n / 2.).size() > 9; }
CODE
[ "$gemmi" = 0 ] || for libs in '' '-lgemmi_cpp -lz'; do
    # shellcheck disable=SC2086
    $cxx "$@" -std=c++17 -DUSE_STD_SNPRINTF "$work/gemmi.cc" $libs -o "$work/gemmi" 2>/dev/null ||
        continue
    version=$(printf '#include <gemmi/version.hpp>\nGEMMI_VERSION\n' |
        $cxx -std=c++17 -E -P -x c++ - | tail -n 1 | tr -d '"')
    case $version in
    '' | 0.[0-4].* | 0.5.[0-6]*) break ;;
    esac
    echo "HAVE_GEMMI := 1"
    echo "GEMMI_VERSION := $version"
    echo "GEMMI_LIBS := $libs"
    # the program links the archive, because the shared library takes 0.5 ms at every start
    archive=$($cxx -print-file-name=libstdc++.a 2>/dev/null)
    [ ! -f "$archive" ] || echo "STDCXX_ARCHIVE := $archive"
    break
done

# OpenMP: a compiler may know the flag but not have omp.h or the run-time library.
printf '#include <omp.h>\nint main(int n, char **v)\n{\n#pragma omp parallel\n    n += !v;\n%s' \
    '    return omp_get_max_threads() < n; }' >"$work/omp.c"
if $cc "$@" -fopenmp "$work/omp.c" -o "$work/omp" >/dev/null 2>&1; then
    echo "HAVE_OPENMP := 1"
    date=$(printf '_OPENMP\n' | $cc -fopenmp -E -P -x c - | tail -n 1)
    echo "OPENMP_VERSION := $date"
    # the program links gcc's library as an archive, for the reason in src/cli/common.c
    archive=$($cc -print-file-name=libgomp.a 2>/dev/null)
    if [ -f "$archive" ] && $cc "$@" -fopenmp -c "$work/omp.c" -o "$work/omp.o" 2>/dev/null &&
        $cc "$@" "$work/omp.o" "$archive" -pthread -ldl -o "$work/omp" >/dev/null 2>&1; then
        echo "OPENMP_ARCHIVE := $archive"
    fi
fi

if [ "$cuda" != 0 ]; then
    nvcc=$(command -v nvcc || { [ -x /usr/local/cuda/bin/nvcc ] && echo /usr/local/cuda/bin/nvcc; })
    if [ -n "$nvcc" ]; then
        echo "NVCC := $nvcc"
        echo "NVCC_VERSION := $("$nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')"
        knows=$("$nvcc" --list-gpu-arch 2>/dev/null | sed 's/compute_//' | tr '\n' ' ')
        echo "NVCC_KNOWS := $knows"
        # for each card its architecture, or the newest that nvcc knows and the card can run
        echo "NVCC_CARDS := $(timeout 30 nvidia-smi --query-gpu=compute_cap --format=csv,noheader \
            2>/dev/null | tr -d '. ' | awk -v knows="$knows" '/^[0-9]+$/ {
                n = split(knows, k, " "); best = 0
                for (i = 1; i <= n; i++) if (k[i] <= $1 + 0 && k[i] + 0 > best) best = k[i]
                if (best && !seen[best]++) print best }' | sort -n | tr '\n' ' ')"
    fi
fi
exit 0
